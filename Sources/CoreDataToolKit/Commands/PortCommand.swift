import Foundation

/// `coredata port`: changes Swift sources of a Mac so that they compile on Linux.
struct PortCommand: Command {
    static let syntax = CommandSyntax(
        name: "port", summary: "Changes Swift sources of a Mac as this package needs them, and lists what is left.",
        operands: [
            .init(name: "FOLDER", help: "A folder with Swift files; links and hidden folders are not followed.")
        ],
        options: [
            .init(name: "write", value: nil, help: "Change the files; without it the changes are only listed."),
            .format("text", "json"),
        ],
        notes: """
            What it changes is what Documentation/Porting.md calls mechanical: @NSManaged, @objc in managed
            object classes, #keyPath, initializers, imports and the like. Texts, comments and code that only
            other systems compile stay as they are. Running it again changes nothing more. What a person has
            to change is listed as 'left', with the rule.

              coredata port Sources/Model --write
            """)

    private let path: String
    private let writes: Bool
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) {
        path = arguments.operands[0]
        writes = arguments.flags.contains("write")
        isJSON = arguments.isJSON
    }

    func run(_ console: Console) throws -> ExitStatus {
        let folder = try PortingFolder(path: path)
        for reason in folder.skipped { try console.errors.write(line: "skipped: \(reason)") }
        if writes { try folder.write() }
        if isJSON {
            try console.write(json: json(folder))
            return .success
        }
        for file in folder.files {
            let changes = file.ported.edits.map { (line: $0.line, text: $0.summary) }
            let left = file.ported.remainders.map { (line: $0.line, text: "left: " + $0.rule) }
            for (line, text) in (changes + left).sorted(by: { $0.line < $1.line }) {
                try console.output.write(line: "\(file.name):\(line): \(text)")
            }
        }
        try console.output.write(summary(folder))
        return .success
    }

    private func summary(_ folder: PortingFolder) -> String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String {
            count == 1 ? "1 \(one)" : "\(count) \(many)"
        }
        let changed = folder.files.filter { !$0.ported.edits.isEmpty }
        let changes = changed.map(\.ported.edits.count).reduce(0, +)
        let left = folder.files.map(\.ported.remainders.count).reduce(0, +)
        var text =
            "\(counted(changes, "change", "changes")) in \(counted(changed.count, "file", "files")) of "
            + "\(folder.files.count), "
            + "\(counted(left, "place", "places")) left for a person.\n"
        if !writes, changes > 0 { text += "Nothing was written: --write does.\n" }
        return text
    }

    private func json(_ folder: PortingFolder) -> JSONValue {
        .array(
            folder.files.filter { !$0.ported.edits.isEmpty || !$0.ported.remainders.isEmpty }.map { file in
                .object([
                    .init("file", .string(file.name)),
                    .init("changes", .array(file.ported.edits.map { Self.entry($0.line, $0.summary) })),
                    .init("left", .array(file.ported.remainders.map { Self.entry($0.line, $0.rule) })),
                ])
            })
    }

    private static func entry(_ line: Int, _ text: String) -> JSONValue {
        .object([.init("line", .integer(line)), .init("text", .string(text))])
    }
}
