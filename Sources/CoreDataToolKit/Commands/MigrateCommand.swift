import CoreData

/// `coredata migrate`: brings a store to a version of its model.
struct MigrateCommand: Command {
    static let syntax = CommandSyntax(
        name: "migrate", summary: "Brings a store to another version of its model.",
        operands: [.storeFile],
        options: [
            .init(name: "to", value: "MODEL", help: "The model (.xcdatamodeld, .xcdatamodel, .momd, .mom)."), .version,
            .init(
                name: "mapping", value: "FILE", help: "A mapping model (.xcmappingmodel, .cdm) for one of the steps."),
            .init(name: "configuration", value: "NAME", help: "The configuration of the model that the store holds."),
            .init(name: "keep-old", value: "FILE", help: "Copy the store to this file first."),
            .init(name: "dry-run", value: nil, help: "Show the steps, and change nothing."), .yes,
        ],
        notes: """
            Shows the steps and what they do to each entity, and asks. The mapping is inferred unless a mapping
            model fits. If no mapping leads to the model directly, the way goes over other versions in its
            bundle. Several steps are made in a copy, which then takes the place of the store: an error
            leaves it as it was. Stages and policies are code of a program, which this command does not have.

              coredata migrate Store.sqlite --to Shop.xcdatamodeld --dry-run
              coredata migrate Store.sqlite --to Shop.momd --keep-old Before.sqlite --yes
            """)

    private let path: String
    private let modelPath: String
    private let version: String?
    private let mappingPath: String?
    private let configuration: String?
    private let oldPath: String?
    private let isDry: Bool
    private let asksNothing: Bool

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        guard let modelPath = arguments.values["to"] else {
            throw UsageError(message: "migrate needs --to MODEL, the version that the store is brought to.")
        }
        self.modelPath = modelPath
        version = arguments.values["version"]
        mappingPath = arguments.values["mapping"]
        configuration = arguments.values["configuration"]
        oldPath = arguments.values["keep-old"]
        isDry = arguments.flags.contains("dry-run")
        asksNothing = arguments.flags.contains("yes")
    }

    func run(_ console: Console) throws -> ExitStatus {
        // Reports a file that is missing or no store.
        let url = try StoreFile(path: path).originalURL
        let description = try description(of: url)
        let coordinator = try coordinator()
        guard let plan = try explaining({ try coordinator.migrationPlan(for: description) }) else {
            try console.output.write("The store fits the model: there is nothing to do.\n")
            return .success
        }
        for line in plan.description.split(separator: "\n") {
            try console.output.write(DisplayWidth.printable(String(line)) + "\n")
        }
        if isDry { return .success }
        guard try asksNothing || console.confirm("Migrate '\(path)'?") else {
            try console.warn("Nothing was changed.")
            return .failure
        }
        try EditSession.requireUnused(url)
        try keepOld(description)
        try migrate(description, coordinator, console)
        try console.output.write("The store was migrated to '\(plan.steps.last?.destination.name ?? "")'.\n")
        return .success
    }

    private func coordinator() throws -> NSPersistentStoreCoordinator {
        if NamedModel.isStore(modelPath) {
            throw ToolError("'\(modelPath)' is a store. Name the model that '\(path)' is to be brought to.")
        }
        let model = try NamedModel(path: modelPath, version: version).model
        return try explaining { try NSPersistentStoreCoordinator(validating: model) }
    }

    private func description(of url: URL) throws -> NSPersistentStoreDescription {
        let description = NSPersistentStoreDescription(url: url)
        description.configuration = configuration
        description.timeout = Double(SQLiteReader.timeout)
        description.setOption(true as NSNumber, forKey: HistoryTracking.continuingOption)
        if let mappingPath {
            let mapping: NSMappingModel
            do {
                mapping = try NSMappingModel(reading: URL(fileURLWithPath: mappingPath))
            } catch {
                throw ToolError("The mapping model '\(mappingPath)' cannot be read: \(ErrorText.line(error))")
            }
            description.setOption([mapping] as NSArray, forKey: StoreMigration.mappingModelsOption)
        }
        return description
    }

    private func keepOld(_ description: NSPersistentStoreDescription) throws {
        guard let oldPath else { return }
        if FileManager.default.fileExists(atPath: oldPath) {
            throw ToolError("'\(oldPath)' exists. Name a new file with --keep-old.")
        }
        description.setOption(
            URL(fileURLWithPath: oldPath) as NSURL, forKey: NSPersistentStoreMigrationBackupURLOption)
    }

    private func migrate(
        _ description: NSPersistentStoreDescription, _ coordinator: NSPersistentStoreCoordinator, _ console: Console
    ) throws {
        // The handler is called on this thread, before the store is added, and never later.
        nonisolated(unsafe) var bar = ProgressBar("migrating", total: 100, on: console)
        nonisolated(unsafe) var shown = 0
        description.migrationProgressHandler = { fraction in
            let percent = Int(fraction * 100)
            // A terminal that is gone does not end the migration.
            try? bar.advance(by: Int64(percent - shown))
            shown = percent
        }
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        try bar.finish()
        try explaining {
            if let failure { throw failure }
            for store in coordinator.persistentStores { try coordinator.remove(store) }
        }
    }

    private func explaining<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as ToolError { throw error } catch {
            throw ToolError("The store '\(path)' is not migrated: \(ErrorText.line(error))")
        }
    }
}
