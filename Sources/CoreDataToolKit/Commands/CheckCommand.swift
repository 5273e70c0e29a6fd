/// `coredata check`: finds what is wrong with a store.
struct CheckCommand: Command {
    static let syntax = CommandSyntax(
        name: "check", summary: "Finds what is wrong with a store: file, keys, values, files beside it.",
        operands: [.storeFile],
        options: [.format("text", "json"), .model],
        notes: """
            Every row is read; the store is never changed. Each line begins with the kind of fault, which
            'coredata repair --only' takes. The status is 0 if there is no fault, and 3 otherwise.

              coredata check Store.sqlite
            """)

    private let path: String
    private let modelPath: String?
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        isJSON = arguments.isJSON
    }

    func run(_ console: Console) throws -> ExitStatus {
        let check = try StoreCheck(path: path, modelPath: modelPath, on: console)
        if isJSON { try console.write(json: check.json) } else { try console.write(lines: check.lines) }
        return check.findings.isEmpty ? .success : .findings
    }
}

extension StoreCheck {
    /// Checks a store, and shows the progress.
    init(path: String, modelPath: String?, on console: Console) throws {
        var bar: ProgressBar?
        try self.init(path: path, modelPath: modelPath) { total in
            var progress = bar ?? ProgressBar("Checking", total: Int64(total), on: console)
            try progress.advance()
            bar = progress
        }
        try bar?.finish()
    }
}
