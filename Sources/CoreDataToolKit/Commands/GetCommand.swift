import CoreData

/// `coredata get`: shows one object with its relationships.
struct GetCommand: Command {
    static let syntax = CommandSyntax(
        name: "get", summary: "Shows one object: its values, and what its relationships lead to.",
        operands: [
            .store,
            .init(name: "URI", help: "The object: Item/p12, as the command shows it, or x-coredata://…/Item/p12."),
        ],
        options: [
            .init(name: "follow", value: "KEY,…", help: "Show the objects behind these relationships, too."),
            .init(name: "depth", value: "N", help: "Show the objects behind all relationships for N levels."),
            .format("text", "json"), .model,
        ],
        notes: """
            The first 20 objects of a to-many relationship are named, each with the text by which people
            know it.

              coredata get Store.sqlite Item/p12 --follow maker
            """)

    private let path: String
    private let identity: String
    private let modelPath: String?
    private let followed: [String]?
    private let levels: Int
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        identity = arguments.operands[1]
        modelPath = arguments.values["model"]
        followed = try arguments.names("follow", of: "relationship")
        let depth = try arguments.count("depth")
        if followed != nil, depth != nil { throw UsageError(message: "--follow and --depth exclude each other.") }
        levels = depth ?? (followed == nil ? 0 : 1)
        isJSON = arguments.isJSON
    }

    func run(_ console: Console) throws -> ExitStatus {
        let opened = try OpenedStore(path: path, modelPath: modelPath, isSampled: true)
        let id = try ObjectIdentities(opened).identity(ofArgument: identity)
        do {
            let found = try ObjectInspector(opened).objects(from: id, following: followed, levels: levels)
            let report = ObjectReport(objects: found.objects)
            if isJSON {
                try console.write(json: report.json)
            } else {
                try console.output.write(report.text(width: console.columns, style: console.style))
            }
            for problem in opened.store.problems + found.problems { try console.warn(problem) }
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, opened.store.file)
        }
        return .success
    }
}
