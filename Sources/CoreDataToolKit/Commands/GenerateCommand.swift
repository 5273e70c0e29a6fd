import CoreData

/// `coredata generate`: Swift classes from a model.
struct GenerateCommand: Command {
    static let syntax = CommandSyntax(
        name: "generate", summary: "Writes a Swift class for each entity of a model, with @Entity or @Managed.",
        operands: [.model],
        options: [
            .init(
                name: "output", value: "FOLDER",
                help: "Where the files go, one for each entity; the current folder by default."),
            .init(
                name: "file", value: "FILE",
                help: "Write all classes to this one file instead; - is the standard output."),
            .init(
                name: "managed", value: nil,
                help: "Write the classes that Xcode makes of the model, with @Managed properties."),
            .init(
                name: "access", value: "LEVEL",
                help: "public or internal; by default public with --managed, else internal."),
            .entities, .version,
            .init(
                name: "allow-refusals", value: nil,
                help: "Entities without a class are warnings: a person writes their classes."),
        ],
        notes: """
            Files whose text is the same already are left alone, and so is every file that the command did
            not make. What a class cannot say is named on the standard error. An entity whose class would
            have another version hash gets none.

            With --managed an entity whose code in the model is "Class Definition" gets its class and its
            properties, one with "Category/Extension" its properties; --entity asks for others. Compiled
            models and stores do not say so: all get both.

              coredata generate Shop.xcdatamodeld --output Sources/Shop/Model --access public
              coredata generate Shop.xcdatamodeld --output Sources/Shop/Model --managed
            """)

    private let path: String
    private let folder: String
    private let file: String?
    private let isManaged: Bool
    private let isPublic: Bool
    private let entities: [String]?
    private let version: String?
    private let allowsRefusals: Bool

    /// - Throws: `UsageError` for values that are invalid for any model.
    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        version = arguments.values["version"]
        allowsRefusals = arguments.flags.contains("allow-refusals")
        file = arguments.values["file"]
        if file != nil, arguments.values["output"] != nil {
            throw UsageError(message: "Give --output or --file, not both.")
        }
        folder = arguments.values["output"] ?? "."
        isManaged = arguments.flags.contains("managed")
        switch arguments.values["access"] {
        case nil: isPublic = isManaged
        case "internal": isPublic = false
        case "public": isPublic = true
        case let level?: throw UsageError(message: "There is no access level '\(level)'. Use public or internal.")
        }
        entities = try arguments.names("entity", of: "entity")
    }

    func run(_ console: Console) throws -> ExitStatus {
        let (output, errors) = (console.output, console.errors)
        let named = try NamedModel(path: path, version: version)
        let sources =
            isManaged
            ? try EntitySources(
                managed: named.model, named.codeGeneration(), from: named.name, entities: entities, isPublic: isPublic)
            : try EntitySources(named.model, from: named.name, entities: entities, isPublic: isPublic)
        for warning in sources.warnings { try errors.write(line: "warning: \(warning)") }
        if file == "-" {
            try output.write(sources.joined(named: "-").text)
        } else if let file {
            let url = URL(fileURLWithPath: file)
            try write([sources.joined(named: url.lastPathComponent)], to: url.deletingLastPathComponent().path, output)
        } else {
            try writeFolder(sources, output, errors)
        }
        guard !sources.refusals.isEmpty else { return .success }
        if allowsRefusals {
            for refusal in sources.refusals {
                try errors.write(line: "warning: An entity without a class: \(refusal).")
            }
            return .success
        }
        throw ToolError(
            "Entities without a class: it would have another version hash than the model, and could not open stores "
                + "of the model. "
                + "Rename what is named here, or write the class with @Managed.",
            details: sources.refusals.map { "  " + DisplayWidth.printable($0) }.joined(separator: "\n"))
    }

    private func writeFolder(_ sources: EntitySources, _ output: OutputWriter, _ errors: OutputWriter) throws {
        try write(sources.files, to: folder, output)
        guard entities == nil else { return }
        let current = sources.files.map(\.name) + sources.refusedFiles
        for name in GeneratedFolder(path: folder).leftOver(besides: current, firstLine: sources.firstLine) {
            try errors.write(line: "warning: \(name) is of an entity that the model no longer has.")
        }
    }

    private func write(_ files: [EntitySources.File], to folder: String, _ output: OutputWriter) throws {
        let outcomes = try GeneratedFolder(path: folder).write(files)
        for (file, outcome) in zip(files, outcomes) { try output.write(line: "\(outcome.rawValue) \(file.name)") }
    }
}
