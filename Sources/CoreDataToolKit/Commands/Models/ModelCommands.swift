import CoreData

/// `coredata model diff`: shows what differs between two versions of a model.
struct ModelDiffCommand: Command {
    static let syntax = CommandSyntax(
        name: "model diff", summary: "Shows what differs between two versions of a model, and how to migrate.",
        operands: [
            .init(name: "OLD", help: "A model or a store of the old version.", server: .model),
            .init(name: "NEW", help: "A model or a store of the new version.", server: .model),
        ],
        options: [.format("text", "json")],
        notes: """
            Entities and properties with a renaming identifier are paired as in a migration. The last lines
            say whether a store of the old version can be migrated lightly, what that does to each entity,
            and if it cannot, why. The exit status is 0 if the models are equal and 3 if they differ.

              coredata model diff Shop.xcdatamodeld/Shop.xcdatamodel "Shop.xcdatamodeld/Shop 2.xcdatamodel"
            """)

    private let paths: [String]
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) {
        paths = arguments.operands
        isJSON = arguments.isJSON
    }

    func run(_ console: Console) throws -> ExitStatus {
        let models = try paths.map { try NamedModel(describedBy: $0) }
        for (path, model) in zip(paths, models) {
            for warning in model.warnings { try console.warn("\(path): \(warning)") }
            if model.origin == .tables { try console.warn("\(path): the model was \(StoreModel.Origin.tables.text).") }
        }
        let differences = try ModelDifferences(from: models[0], to: models[1])
        if isJSON {
            try console.write(json: differences.json)
        } else {
            for line in differences.lines(console.style) { try console.output.write(line + "\n") }
        }
        return differences.isEmpty ? .success : .findings
    }
}

/// `coredata model validate`: shows the problems of a model.
struct ModelValidateCommand: Command {
    static let syntax = CommandSyntax(
        name: "model validate", summary: "Shows the problems of a model: contradictions, and what Xcode warns about.",
        operands: [.storeOrModel], options: [.model, .version, .format("text", "json")],
        notes: """
            An error keeps every store from opening with the model. A warning is a rule by which a deletion,
            a value or a migration will fail. A note is something that may not be meant. The exit status is
            3 if there are errors or warnings.

              coredata model validate Shop.xcdatamodeld
            """)

    private let path: String
    private let modelPath: String?
    private let version: String?
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        version = arguments.values["version"]
        isJSON = arguments.isJSON
    }

    func run(_ console: Console) throws -> ExitStatus {
        let validation = try ModelValidation(path: path, modelPath: modelPath, version: version)
        if isJSON {
            try console.write(json: .object([.init("findings", .array(validation.findings.map(\.json)))]))
        } else {
            try console.write(lines: validation.findings.map(\.line))
            if validation.findings.isEmpty { try console.output.write("No problems were found.\n") }
        }
        return validation.hasProblems ? .findings : .success
    }
}

/// `coredata model hash`: shows the version hashes of a model or a store.
struct ModelHashCommand: Command {
    static let syntax = CommandSyntax(
        name: "model hash", summary: "Shows the version hash of each entity, by which a store knows its model.",
        operands: [.storeOrModel], options: [.version, .format("text", "json")],
        notes: """
            The hashes of a model are those that a store of it has; those of a store are in its metadata. A
            store opens with a model if they are the same.

              coredata model hash Shop.momd
            """)

    private let path: String
    private let version: String?
    private let isJSON: Bool

    init(_ arguments: CommandSyntax.Arguments) {
        path = arguments.operands[0]
        version = arguments.values["version"]
        isJSON = arguments.isJSON
    }

    func run(_ console: Console) throws -> ExitStatus {
        let hashes = try ModelHashes(path: path, version: version)
        if isJSON { try console.write(json: hashes.json) } else { try console.write(lines: hashes.lines) }
        return .success
    }
}

/// `coredata model convert`: writes a model in another form.
struct ModelConvertCommand: Command {
    static let syntax = CommandSyntax(
        name: "model convert", summary: "Writes a model in another form, which the ending of the output says.",
        operands: [.model],
        options: [
            .init(
                name: "output", value: "X",
                help: "X.xcdatamodel, X.momd, X.mom, X.swift, or a folder for a Swift file of each class."), .version,
        ],
        notes: """
            A .xcdatamodeld or .xcdatamodel becomes a .momd with all its versions; other models have one.
            'model export', 'model compile' and 'generate' do the same with further options.

              coredata model convert default.store --output Shop.mom
            """)

    private let path: String
    private let output: String
    private let version: String?

    private static let endings = ["xcdatamodel", "momd", "mom", "swift", ""]

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        version = arguments.values["version"]
        guard let output = arguments.values["output"] else {
            throw UsageError(message: "convert needs --output X, whose ending says the form.")
        }
        self.output = output
        guard Self.endings.contains(URL(fileURLWithPath: output).pathExtension) else {
            throw UsageError(
                message: "'\(output)' ends in no form of a model: .xcdatamodel, .momd, .mom, .swift, or a folder.")
        }
    }

    func run(_ console: Console) throws -> ExitStatus {
        switch URL(fileURLWithPath: output).pathExtension {
        case "xcdatamodel": return try ModelExportCommand(arguments("output")).run(console)
        case "swift": return try GenerateCommand(arguments("file")).run(console)
        case "": return try GenerateCommand(arguments("output")).run(console)
        case "momd" where isSource && version == nil: return try ModelCompileCommand(arguments("output")).run(console)
        default: try compile(console)
        }
        return .success
    }

    private var isSource: Bool {
        ["xcdatamodeld", "xcdatamodel"].contains(URL(fileURLWithPath: path).pathExtension)
    }

    /// The arguments of the command that writes the form.
    private func arguments(_ option: String) -> CommandSyntax.Arguments {
        var arguments = CommandSyntax.Arguments()
        arguments.operands = [path]
        arguments.values[option] = output
        arguments.values["version"] = version
        return arguments
    }

    private func compile(_ console: Console) throws {
        let named = try NamedModel(path: path, version: version)
        let url = URL(fileURLWithPath: output)
        do {
            if url.pathExtension == "momd" {
                let name = version ?? url.deletingPathExtension().lastPathComponent
                let folder = try CompiledModelFolder(named.model, version: name)
                return try ModelOutput.write(to: output, console) { try folder.write(to: $0) }
            }
            let data = try named.model.archivedModel()
            try ModelOutput.write(to: output, console) { try ModelOutput.write(data, to: $0) }
        } catch let error as ModelReadingError {
            throw ToolError("The model '\(path)' cannot be written: \(ErrorText.line(error))")
        }
    }
}
