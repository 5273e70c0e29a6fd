import CoreData

/// `coredata info`: shows the properties and contents of a store.
struct InfoCommand {
    static let syntax = CommandSyntax(
        name: "info", summary: "Shows what a store is: versions, model, entities with their rows, journal, history.",
        operands: [.init(name: "STORE", help: "A Core Data store, a SQLite file.")],
        options: [
            .init(name: "model", value: "FILE", help: "Read it with this model (.momd, .mom, .xcdatamodeld)."),
            .init(name: "json", value: nil, help: "Write JSON."),
        ],
        notes: "The store is never changed. Rows that are still in its WAL count.")

    private let path: String
    private let modelPath: String?
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        isJSON = arguments.flags.contains("json")
    }

    func run(_ output: OutputWriter) throws {
        let report = try StoreReport(path: path, modelPath: modelPath)
        try output.write(isJSON ? report.json.indented() + "\n" : report.text)
    }
}
