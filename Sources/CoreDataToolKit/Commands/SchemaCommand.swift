import CoreData

/// `coredata schema`: shows what the model of a store or a file says.
struct SchemaCommand: Command {
    static let syntax = CommandSyntax(
        name: "schema", summary: "Shows a model: entities, attributes, relationships, indexes, constraints.",
        operands: [.storeOrModel],
        options: [.entities, .model, .version, .format("text", "json", "swift")],
        notes: """
            A store is read with the model of --model, else with its own copy of its model, else with what
            its tables show, and the output says which. Inherited properties stand with the superentity.
            In JSON, facts that are absent or false are left out; 'isOptional' and 'isToMany' are always
            there. As Swift it writes the classes that 'coredata generate' writes.

              coredata schema Store.sqlite --entity Article,Author
            """)

    private let path: String
    private let entities: [String]?
    private let modelPath: String?
    private let version: String?
    private let format: String

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        entities = try arguments.names("entity", of: "entity")
        modelPath = arguments.values["model"]
        version = arguments.values["version"]
        format = arguments.format
    }

    func run(_ console: Console) throws -> ExitStatus {
        let named = try NamedModel(describedBy: path, modelPath: modelPath, version: version)
        for warning in named.warnings { try console.warn(warning) }
        switch format {
        case "json": try console.write(json: ModelSchema(named, entities: entities).json)
        case "swift": try writeClasses(of: named, console)
        default:
            for line in try ModelSchema(named, entities: entities).lines(console.style) {
                try console.output.write(line + "\n")
            }
        }
        return .success
    }

    private func writeClasses(of named: NamedModel, _ console: Console) throws {
        let sources = try EntitySources(named.model, from: named.name, entities: entities, isPublic: false)
        for warning in sources.warnings { try console.errors.write(line: "warning: \(warning)") }
        for refusal in sources.refusals {
            try console.errors.write(line: "warning: An entity without a class: \(refusal).")
        }
        try console.output.write(sources.joined(named: "-").text)
    }
}
