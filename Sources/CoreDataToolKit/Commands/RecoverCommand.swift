/// `coredata recover`: saves what can be read of a damaged store into a new one.
struct RecoverCommand: Command {
    static let syntax = CommandSyntax(
        name: "recover", summary: "Saves what can be read of a damaged store into a new one.",
        operands: [.storeFile],
        options: [
            .init(name: "output", value: "FILE", help: "The new store; nothing may be there yet."),
            .format("text", "json"), .model,
        ],
        notes: """
            Each table is read up to the damage, from its end back to it, and key by key between. Tables,
            indexes, metadata, model and external files come along; what is lost of Core Data's own tables is
            made from the model. The damaged store is never changed. The status is 0 if nothing was lost, and
            3 otherwise.

              coredata recover Damaged.sqlite --output Saved.sqlite
            """)

    private let path: String
    private let output: String
    private let modelPath: String?
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        isJSON = arguments.isJSON
        guard let output = arguments.values["output"] else {
            throw UsageError(message: "--output FILE is missing: the new store.")
        }
        self.output = output
    }

    func run(_ console: Console) throws -> ExitStatus {
        var bar: ProgressBar?
        let recovery = try StoreRecovery(path: path, modelPath: modelPath, output: output) { total in
            var progress = bar ?? ProgressBar("Recovering", total: Int64(total), on: console)
            try progress.advance()
            bar = progress
        }
        try bar?.finish()
        if isJSON {
            try console.write(json: recovery.json(output: output))
        } else {
            try console.write(lines: recovery.lines(output: output))
        }
        return recovery.isComplete ? .success : .findings
    }
}
