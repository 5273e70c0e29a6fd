import CoreData

/// An edit of a store: it is planned on a read-only store, and then made by the engine with the
/// store's own model.
final class EditSession {
    let problems: [String]
    /// The store's file itself, not a link to it.
    let url: URL
    private let coordinator: NSPersistentStoreCoordinator
    private let configuration: String?
    private let model: StoreModel
    private let operation: EditOperation.Resolved
    let changes: ObjectChanges

    /// Plans an edit.
    ///
    /// - Throws: `ToolError` for a store that cannot be edited, names and values that do not fit
    ///   it, and changes that its model forbids.
    init(_ operation: EditOperation, path: String, modelPath: String?) throws {
        let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        try Self.requireUnused(url)
        let opened = try OpenedStore(path: path, modelPath: modelPath)
        try Self.requireSound(opened.store)
        self.url = url
        problems = opened.store.problems
        (coordinator, configuration) = try Self.writingCoordinator(for: opened.store, modelPath)
        model = opened.model
        let resolved = try operation.resolved(in: opened)
        self.operation = resolved
        let model = opened.model
        changes = try opened.context.performAndWait {
            try resolved.apply(in: opened.context)
            try Self.validate(opened.context)
            return ObjectChanges(in: opened.context, model, requested: Self.requested(resolved))
        }
        opened.close()
    }

    private static func requested(_ operation: EditOperation.Resolved) -> Set<URL> {
        if case .delete(let uris) = operation { Set(uris) } else { [] }
    }

    // MARK: Conditions

    /// - Throws: `ToolError` if another program has the store open: it would not see the change,
    ///   and might write its own former values over it.
    static func requireUnused(_ url: URL) throws(ToolError) {
        if FileLocks.isInUse(storePath: url.path) {
            throw ToolError(
                "Another program has the store '\(url.path)' open. Close it first: it would not notice the change.")
        }
    }

    private static func requireSound(_ store: ReadableStore) throws(ToolError) {
        let path = store.file.originalURL.path
        if store.model.origin == .tables {
            throw ToolError(
                "The store '\(path)' carries no model that can be used, and tables alone do not say what values are "
                    + "allowed. Name its model with --model.")
        }
        if !store.survey.mends.isEmpty || !store.survey.damagedTables.isEmpty {
            let reason = store.survey.problems.first.map { " " + $0 } ?? ""
            throw ToolError("The store '\(path)' is damaged, and is not edited before it is mended.\(reason)")
        }
        if !FileManager.default.isWritableFile(atPath: path) {
            throw ToolError("The store '\(path)' may not be written. Check its permissions.")
        }
    }

    /// - Throws: `ToolError` if the store's metadata do not name the versions of its model.
    private static func writingCoordinator(
        for store: ReadableStore, _ modelPath: String?
    ) throws -> (NSPersistentStoreCoordinator, String?) {
        let (coordinator, configuration) = try StoreModel.writingCoordinator(
            for: store.contents, modelPath: modelPath)
        let metadata = store.contents.metadata
        guard metadata[NSStoreModelVersionHashesKey] != nil,
            coordinator.managedObjectModel.isConfiguration(
                withName: configuration, compatibleWithStoreMetadata: metadata)
        else {
            throw ToolError(
                "The metadata of the store '\(store.file.originalURL.path)' do not fit its model, so its program would "
                    + "refuse it. It is not edited.")
        }
        return (coordinator, configuration)
    }

    private static func validate(_ context: NSManagedObjectContext) throws {
        var errors: [any Error] = []
        func check(_ objects: Set<NSManagedObject>, _ validate: (NSManagedObject) throws -> Void) {
            for object in objects {
                do { try validate(object) } catch { errors.append(error) }
            }
        }
        check(context.insertedObjects) { try $0.validateForInsert() }
        check(context.updatedObjects) { try $0.validateForUpdate() }
        check(context.deletedObjects) { try $0.validateForDelete() }
        if !errors.isEmpty { throw EditRefusal.error(errors) }
    }

    // MARK: Writing

    /// The journal mode that the store has and keeps.
    static func journalMode(of url: URL) -> String {
        let header = FileKind.beginning(of: url, count: 20).map(Array.init) ?? []
        return header.count == 20 && header[18] != 2 ? "DELETE" : "WAL"
    }

    /// Copies the store and makes the change.
    ///
    /// - Returns: the identities of inserted objects.
    /// - Throws: `ToolError`; the store is then unchanged.
    func perform() throws -> [ObjectName] {
        try Self.requireUnused(url)
        let backup = StoreBackup(of: url)
        let journalMode = Self.journalMode(of: url)
        try backup.begin()
        let inserted: [ObjectName]
        do {
            inserted = try write(journalMode: journalMode)
        } catch {
            backup.discard()
            throw error
        }
        try backup.commit()
        return inserted
    }

    private func write(journalMode: String) throws -> [ObjectName] {
        // With the versions of the model checked, the engine leaves the metadata as they are.
        let options: [AnyHashable: Any] = [
            HistoryTracking.continuingOption: true, NSPersistentStoreTimeoutOption: SQLiteReader.timeout,
            NSSQLitePragmasOption: ["journal_mode": journalMode],
        ]
        let store = try coordinator.addPersistentStore(
            type: .sqlite, configuration: configuration, at: url, options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = "coredata"
        return try context.performAndWait {
            try operation.apply(in: context)
            guard ObjectChanges(in: context, model, requested: Self.requested(operation)).outline == changes.outline
            else {
                throw ToolError("Another program has changed the store '\(url.path)' meanwhile. Try again.")
            }
            let inserted = Array(context.insertedObjects)
            do { try context.save() } catch { throw EditRefusal.error([error]) }
            return inserted.map { ObjectName($0.objectID) }.sorted { ($0.key ?? 0) < ($1.key ?? 0) }
        }
    }
}

/// The reasons for which a model or a store forbids changes.
enum EditRefusal {
    /// Returns the errors as one: each with the object and the property that it is about.
    static func error(_ errors: [any Error]) -> ToolError {
        let reasons = Set(errors.flatMap(reasons)).sorted()
        if reasons.count == 1 { return ToolError("The change is refused: \(reasons[0])") }
        return ToolError(
            "The change is refused for \(reasons.count) reasons:",
            details: reasons.map { "  " + DisplayWidth.printable($0) }.joined(separator: "\n"))
    }

    private static func reasons(_ error: any Error) -> [String] {
        let error = error as NSError
        if let all = error.userInfo[NSDetailedErrorsKey] as? [any Error], !all.isEmpty { return all.flatMap(reasons) }
        guard let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject else {
            return [ErrorText.line(error)]
        }
        let name =
            object.objectID.isTemporaryID ? "\(object.entity.name ?? "") (new)" : ObjectName(object.objectID).text
        let key = (error.userInfo[NSValidationKeyErrorKey] as? String).map { "." + $0 } ?? ""
        return ["\(name)\(key): \(ErrorText.line(error))"]
    }
}
