import CoreData
import TestSupport

/// A gallery's store that is migrated while something is lacking: how it is made, and what is wrong
/// with it afterwards.
struct StarvedStore {
    /// How it is migrated.
    enum Kind: String, CaseIterable {
        /// By an inferred mapping that adds columns.
        case altered
        /// By an inferred mapping that copies rows and drops external values.
        case copied
        /// By a mapping model with a policy, when it is added.
        case mapped
        /// By a mapping model with a policy, into another store.
        case managed
        /// By a custom stage with a handler and one without.
        case staged
        /// As `altered`, after a copy of the former store.
        case backedUp
    }

    let kind: Kind
    let type: String
    let folder: URL

    var url: URL { folder.appendingPathComponent("gallery.store") }
    var backup: URL { folder.appendingPathComponent("backup.store") }
    /// Where the new version is.
    var result: URL { kind == .managed ? folder.appendingPathComponent("new.store") : url }
    private var isDatabase: Bool { type == NSSQLiteStoreType }

    // MARK: Versions

    static var old: NSManagedObjectModel { GalleryVersion.first.model }

    /// The version between the two stages.
    static var between: NSManagedObjectModel {
        adding(NSAttributeDescription("mark", .integer64AttributeType, optional: false, default: 7))
    }

    private static func adding(_ attribute: NSAttributeDescription) -> NSManagedObjectModel {
        let model = old
        model.entitiesByName["Person"]?.properties.append(attribute)
        return model
    }

    var new: NSManagedObjectModel {
        switch kind {
        case .copied: return GalleryVersion.second.model
        case .mapped, .managed: return Self.adding(NSAttributeDescription("origin", .stringAttributeType))
        case .altered, .staged, .backedUp:
            let model = Self.between
            model.entitiesByName["Note"]?.properties.append(NSAttributeDescription("stars", .integer16AttributeType))
            return model
        }
    }

    // MARK: Content

    static let origin = "from elsewhere"
    /// The mark that the handler of a stage sets.
    static let stageMark = 70

    /// Makes the store, in the old version.
    func fill() throws {
        try use(url, Self.old, [NSPersistentHistoryTrackingKey: isDatabase]) { context in
            insert(into: context)
            try context.save()
        }
        if isDatabase { return }
        // The store does not contain its model.
        try FileManager.default.createDirectory(at: versions, withIntermediateDirectories: true)
        for (name, model) in [("Old", Self.old), ("New", new)] {
            try model.archivedModel().write(to: versions.appendingPathComponent("\(name).mom"))
        }
    }

    private var versions: URL { folder.appendingPathComponent("Versions.momd") }

    /// The new version, with which the old one is found.
    func destination() throws -> NSManagedObjectModel {
        isDatabase ? new : try NSManagedObjectModel(reading: versions, version: "New")
    }

    /// In a database two of three photos, covers and sketches, and one scan of two persons are
    /// large enough for files; the other notes are rows alone. In a file, which is read as a whole,
    /// one cover is large.
    private func insert(into context: NSManagedObjectContext) {
        func add(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            object.setValuesForKeys(values)
            return object
        }
        let titles = isDatabase ? ["first", "second"] : ["first"]
        let albums = titles.map { add("Album", ["title": $0, "cover": Gallery.photo($0, 1)]) }
        for (index, name) in Gallery.names.enumerated() {
            let number = isDatabase ? index + 1 : 3 * index
            let photo = Gallery.photo(name, Int64(number))
            let album = albums[index % albums.count]
            let person = add("Person", ["name": name, "number": number, "photo": photo, "album": album])
            if index % 4 == 0 { person.setValue(Gallery.photo("sketch of " + name, Int64(number)), forKey: "sketch") }
            let notes = (0..<30).map { place in
                let note = isDatabase && place == 0 && index < 2 ? 1 : 3 * place
                let text = "note \(name) \(note)"
                return add("Note", ["text": text, "scan": Gallery.photo(text, Int64(note))])
            }
            person.setValue(NSOrderedSet(array: notes), forKey: "notes")
        }
    }

    private typealias Lines = (common: [String], sketches: [String])

    private static func lines(_ context: NSManagedObjectContext) throws -> Lines {
        let person = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Person"]
        let version = person?.attributesByName["sketch"] == nil ? GalleryVersion.second : .first
        return try version.lines(context)
    }

    /// What the store has to say: what an in-memory store says that was filled alike.
    private func expectedLines() throws -> Lines {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.old)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = coordinator.newContext()
        insert(into: context)
        return try Self.lines(context)
    }

    private func use<Value>(
        _ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any],
        _ body: (NSManagedObjectContext) throws -> Value
    ) throws -> Value {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url, options: options)
        let value = try body(coordinator.newContext())
        try coordinator.remove(store)
        return value
    }

    // MARK: Checks

    /// Whether the migration was made: the store at the place of the result has the new version.
    func isNew() throws -> Bool {
        if !FileManager.default.fileExists(atPath: result.path) { return false }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: result)
        return new.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    /// What is wrong with the store, which is of the old or of the new version.
    func problems(isNew: Bool) -> [String] {
        var problems: [String] = []
        func check(_ what: String, _ work: () throws -> [String]) {
            do {
                problems += try work().map { "\(what): \($0)" }
            } catch {
                problems.append("\(what): \(error.localizedDescription)")
            }
        }
        if isNew { check("new store") { try self.problems(result, new) } }
        if !isNew || kind == .managed { check("old store") { try self.problems(url, Self.old) } }
        if kind == .backedUp, isNew || FileManager.default.fileExists(atPath: backup.path) {
            check("backup") { try self.problems(backup, Self.old) }
        }
        return problems
    }

    /// Opens a store as a program would.
    private func problems(_ url: URL, _ model: NSManagedObjectModel) throws -> [String] {
        var problems = isDatabase ? try Gallery.problems(url, model: model) : []
        let options: [AnyHashable: Any] = isDatabase ? [HistoryTracking.continuingOption: true] : [:]
        problems += try use(url, model, options) { context in
            try Gallery.wrongPhotos(context) + self.problems(context)
        }
        if isDatabase, kind != .managed || url == self.url {
            let transactions = SQLiteFile(url).integer("SELECT count(*) FROM ATRANSACTION") ?? 0
            // The handler of a stage saves once.
            let isStaged = kind == .staged && model.entitiesByName["Person"]?.attributesByName["mark"] != nil
            if transactions != (isStaged ? 2 : 1) { problems.append("\(transactions) transactions of the history") }
        }
        for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: url.path + suffix) {
            problems.append("a closed store has a file \(suffix)")
        }
        return problems
    }

    private func problems(_ context: NSManagedObjectContext) throws -> [String] {
        let found = try Self.lines(context)
        let expected = try expectedLines()
        var problems: [String] = []
        if found.common != expected.common {
            problems.append("\(found.common.filter { !expected.common.contains($0) }), \(found.common.count) objects")
        }
        if !found.sketches.isEmpty, found.sketches != expected.sketches { problems.append("\(found.sketches)") }
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
            let names = person.entity.attributesByName
            let mark = kind == .staged ? Self.stageMark : 7
            if names["mark"] != nil, person.value(forKey: "mark") as? Int != mark { problems.append("wrong mark") }
            if names["origin"] != nil, person.value(forKey: "origin") as? String != Self.origin {
                problems.append("wrong origin")
            }
        }
        return problems
    }

    /// The files that no store names.
    var leftovers: [String] {
        var known: Set = [versions.lastPathComponent]
        for store in [url, result, backup] {
            let name = store.lastPathComponent
            known.formUnion([name, name + "-wal", name + "-shm"])
            known.insert(".\(store.deletingPathExtension().lastPathComponent)_SUPPORT")
        }
        let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return found.filter { !known.contains($0) }.sorted()
    }
}
