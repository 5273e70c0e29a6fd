import CoreData

/// `coredata diff`: compares the objects of two stores.
struct DiffCommand: Command {
    static let syntax = CommandSyntax(
        name: "diff", summary: "Compares two stores: objects added, removed and changed.",
        operands: [
            .init(name: "OLD", help: "A Core Data store: a SQLite file, or a postgresql:// URL.", server: .rows),
            .init(name: "NEW", help: "The store that it is compared with.", server: .rows),
        ],
        options: [
            .init(
                name: "key", value: "ATTRIBUTE,…",
                help: "Objects with the same value are the same: an attribute, or ENTITY.ATTRIBUTE."),
            .init(name: "entity", value: "NAME,…", help: "Only objects of these entities and their subentities."),
            .init(name: "details", value: nil, help: "Show each object that differs, and how."),
            .init(name: "limit", value: "N", help: "At most N objects of each entity in the details."),
            .format("text", "json", "ndjson"), .model,
        ],
        notes: """
            Without --key two objects are the same if they have the same identity (Item/p12), as in copies of
            one store. Relationships are compared, too; with --key as the keys of their objects. NDJSON has
            a line for each difference. The exit status is 0 if the stores are equal, 3 if they differ.

              coredata diff before.sqlite after.sqlite --details
              coredata diff phone.sqlite server.sqlite --key Item.sku,Maker.name
            """)

    private let paths: [String]
    private let modelPath: String?
    private let keys: [String]
    private let entities: [String]?
    private let limit: Int?
    private let format: String

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        paths = arguments.operands
        modelPath = arguments.values["model"]
        keys = try arguments.names("key", of: "attribute") ?? []
        entities = try arguments.names("entity", of: "entity")
        format = arguments.format
        let showsDetails = arguments.flags.contains("details") || format == "ndjson"
        limit = try arguments.count("limit") ?? (showsDetails ? nil : 0)
    }

    func run(_ console: Console) throws -> ExitStatus {
        let stores = try paths.map { try ReadableStore(path: $0, modelPath: modelPath) }
        defer { stores.forEach { $0.file.close() } }
        for (store, path) in zip(stores, paths) {
            for problem in store.problems { try console.warn("\(path): \(problem)") }
        }
        let naming = ObjectNaming(attributes: keys)
        if let unknown = naming.unknown(in: stores.flatMap(\.model.entities)).first {
            throw ToolError("--key \(unknown): no entity has this attribute. 'coredata schema' lists them.")
        }
        let diff = StoreDiff(first: stores[0], second: stores[1], naming: naming)
        var writer = DiffWriter(console, format: format, limit: limit)
        for entity in try diff.entities(named: entities) {
            do {
                let summary = try diff.compare(entity) { try writer.write($0, of: entity) }
                try writer.finish(summary)
            } catch let failure as SQLiteReader.Failure {
                throw StoreCatalog.error(failure, stores[0].file)
            }
        }
        return try writer.finish() ? .success : .findings
    }
}
