import CoreData

/// `coredata info`: shows the properties and contents of a store.
struct InfoCommand: Command {
    static let syntax = CommandSyntax(
        name: "info", summary: "Shows what a store is: versions, model, entities with their rows, journal, history.",
        operands: [.store],
        options: [.model, .format("text", "json")],
        notes: """
            The store is never changed. Rows that are still in its WAL count.

              coredata info Store.sqlite
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
        let report = try StoreReport(path: path, modelPath: modelPath)
        if isJSON { try console.write(json: report.json) } else { try console.output.write(report.text) }
        return .success
    }
}
