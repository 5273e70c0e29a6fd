import CoreData
import TestSupport
import Testing

/// Continents with their countries in an order, rivers that flow through countries, and notes: a
/// root, a child and a grandchild over them, of which none has read anything and one may have an
/// undo manager.
final class Atlas {
    enum Level: Int, CaseIterable { case root, child, grandchild }

    static let entities = ["Continent", "Country", "River", "Note"]

    let coordinator: NSPersistentStoreCoordinator
    /// The root, its child and its grandchild.
    let levels: [NSManagedObjectContext]
    /// The level that has the undo manager; the root where none has.
    let context: NSManagedObjectContext
    let manager = UndoManager()
    private let folder: TemporaryFolder
    private let kind = StoreKind.current
    private let isSplit: Bool
    private var others: [NSManagedObjectContext] = []

    var root: NSManagedObjectContext { levels[0] }
    var child: NSManagedObjectContext { levels[1] }
    var grandchild: NSManagedObjectContext { levels[2] }

    /// - Parameters:
    ///   - level: the level that has the undo manager; nil where none is to have it.
    ///   - isSplit: whether notes are in a store of their own.
    init(_ level: Level?, isSplit: Bool = false) throws {
        self.isSplit = isSplit
        folder = try TemporaryFolder()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        for name in isSplit ? ["Places", "Notes"] : ["Atlas"] {
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: isSplit ? name : nil, at: kind.url(folder.file("\(name).sqlite")))
        }
        let root = coordinator.newContext()
        let child = root.newChild()
        levels = [root, child, child.newChild()]
        context = levels[(level ?? .root).rawValue]
        let writer = coordinator.newContext()
        others.append(writer)
        try Self.fill(writer)
        manager.groupsByEvent = false
        if level != nil { context.undoManager = manager }
    }

    private static func model() -> NSManagedObjectModel {
        let continent = NSEntityDescription(
            "Continent", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let country = NSEntityDescription(
            "Country", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("people", .integer32AttributeType),
            ])
        let river = NSEntityDescription(
            "River", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let note = NSEntityDescription(
            "Note", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(
            continent, "countries", toMany: true, ordered: true, deleteRule: .cascadeDeleteRule, country,
            inverse: "continent")
        relate(country, "rivers", toMany: true, river, inverse: "countries", inverseToMany: true)
        let model = NSManagedObjectModel([continent, country, river, note])
        model.setEntities([continent, country, river], forConfigurationName: "Places")
        model.setEntities([note], forConfigurationName: "Notes")
        return model
    }

    private static func fill(_ writer: NSManagedObjectContext) throws {
        let (europe, asia) = (new("Continent", "Europe", in: writer), new("Continent", "Asia", in: writer))
        let (rhine, ebro, indus) = (
            new("River", "Rhine", in: writer), new("River", "Ebro", in: writer), new("River", "Indus", in: writer)
        )
        let entries: [(String, Int, NSManagedObject, [NSManagedObject])] = [
            ("France", 60, europe, [rhine]), ("Spain", 40, europe, [ebro]), ("Italy", 50, europe, [rhine]),
            ("India", 1000, asia, [indus]),
            ("Japan", 100, asia, []),
        ]
        for (name, people, continent, rivers) in entries {
            let country = new("Country", name, in: writer)
            country.setValue(people, forKey: "people")
            country.setValue(NSSet(array: rivers), forKey: "rivers")
            continent.mutableOrderedSetValue(forKey: "countries").add(country)
        }
        for name in ["key", "map"] { new("Note", name, in: writer) }
        try writer.save()
    }

    // MARK: Contexts and objects

    /// A context that knows nothing, on the stores or below another one; it lives as long as the
    /// atlas.
    func newContext(below parent: NSManagedObjectContext? = nil) -> NSManagedObjectContext {
        let context = parent.map { $0.newChild() } ?? coordinator.newContext()
        others.append(context)
        return context
    }

    @discardableResult
    static func new(_ entity: String, _ name: String, in context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
    }

    /// All objects of an entity, by name.
    static func all(_ entity: String, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
        return found.sorted { name($0) < name($1) }
    }

    /// The object of a name, of whatever entity.
    static func find(_ name: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        let found = try entities.flatMap { try all($0, in: context) }.filter { self.name($0) == name }
        #expect(found.count == 1, "\(name)")
        return try #require(found.first)
    }

    /// As `find(_:in:)`, at the level that has the undo manager.
    func find(_ name: String) throws -> NSManagedObject { try Self.find(name, in: context) }

    static func name(_ object: NSManagedObject) -> String { object.value(forKey: "name") as? String ?? "-" }

    static func people(_ object: NSManagedObject) -> Int { object.value(forKey: "people") as? Int ?? 0 }

    /// The countries of a continent, in their order, or of a river.
    static func countries(of object: NSManagedObject) -> [NSManagedObject] {
        let value = object.value(forKey: "countries")
        if let ordered = value as? NSOrderedSet { return ordered.array.compactMap { $0 as? NSManagedObject } }
        return Array(value as? Set<NSManagedObject> ?? [])
    }

    static func rivers(of country: NSManagedObject) -> Set<NSManagedObject> {
        country.value(forKey: "rivers") as? Set<NSManagedObject> ?? []
    }

    static func home(of country: NSManagedObject) -> NSManagedObject? {
        country.value(forKey: "continent") as? NSManagedObject
    }

    /// Has all levels hold everything, relationships included, for as long as the result lives.
    func hold() throws -> [NSManagedObject] {
        try levels.flatMap { level in
            _ = try Self.lines(level)
            return try Self.entities.flatMap { try Self.all($0, in: level) }
        }
    }

    // MARK: What is shown

    /// Everything that a context shows: a line for each continent, for each country without one,
    /// and for rivers and notes.
    static func lines(_ context: NSManagedObjectContext) throws -> [String] {
        func text(_ country: NSManagedObject) -> String {
            "\(name(country)) \(people(country)) (\(rivers(of: country).map(name).sorted().joined(separator: "+")))"
        }
        let continents = try all("Continent", in: context).map { continent in
            "\(name(continent)): \(countries(of: continent).map(text).joined(separator: ", "))"
        }
        let free = try all("Country", in: context).filter { home(of: $0) == nil }.map(text)
        let rest = try ["River", "Note"].map { entity in
            let names = try all(entity, in: context).map(name)
            return "\(entity): \(names.joined(separator: ", "))"
        }
        return continents + free + rest
    }

    /// Expects that relationships are the same from both sides and lead nowhere else, and that
    /// nothing is there twice.
    static func expectConsistent(_ context: NSManagedObjectContext, _ location: SourceLocation = #_sourceLocation)
        throws
    {
        for entity in entities {
            let found = try all(entity, in: context)
            #expect(
                Set(found.map(\.objectID)).count == found.count, "a \(entity) is there twice", sourceLocation: location)
            let isDeleted = found.contains { $0.isDeleted || $0.managedObjectContext !== context }
            #expect(!isDeleted, "a \(entity) is there that is deleted", sourceLocation: location)
        }
        let known = try all("Country", in: context)
        let continents = try all("Continent", in: context)
        let lost = known.filter { country in home(of: country).map { !continents.contains($0) } ?? false }
        #expect(lost.map(name) == [], "a continent is gone", sourceLocation: location)
        for continent in continents {
            let members = countries(of: continent)
            let others = known.filter { home(of: $0) === continent }
            #expect(
                Set(members).count == members.count, "\(name(continent)) has a member twice", sourceLocation: location)
            #expect(
                members.map(name).sorted() == others.map(name).sorted(), "\(name(continent))", sourceLocation: location)
            #expect(Set(members) == Set(others), "\(name(continent))", sourceLocation: location)
        }
        for river in try all("River", in: context) {
            let members = countries(of: river).map(name).sorted()
            let others = known.filter { rivers(of: $0).contains(river) }.map(name).sorted()
            #expect(members == others, "\(name(river))", sourceLocation: location)
        }
    }

    /// Expects that a context, by default the one that has the undo manager, shows some lines.
    func expect(
        _ lines: [String], in context: NSManagedObjectContext? = nil, _ comment: String = "",
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let context = context ?? self.context
        let shown = try Self.lines(context)
        #expect(shown == lines, "\(comment)", sourceLocation: location)
        try Self.expectConsistent(context, location)
    }

    /// Expects that the stores have some lines, as a context that knows nothing reads them, and as
    /// the databases' own libraries do.
    func expectStored(_ lines: [String], _ comment: String = "", _ location: SourceLocation = #_sourceLocation) throws {
        let fresh = newContext()
        try expect(lines, in: fresh, "stored \(comment)", location)
        if !kind.isDatabase { return }
        for entity in Self.entities {
            let file = isSplit ? (entity == "Note" ? "Notes" : "Places") : "Atlas"
            let column = StoreTables(kind, folder.file("\(file).sqlite")).column(
                "SELECT {name} FROM {\(entity.lowercased())}")
            let names = try Self.all(entity, in: fresh).map(Self.name)
            #expect(column.map { $0 ?? "-" }.sorted() == names, "stored \(comment)", sourceLocation: location)
        }
    }

    // MARK: Undo

    /// Makes changes at the level that has the undo manager.
    func group(_ body: () throws -> Void) rethrows { try context.group(body) }

    /// Makes changes that are not to be undone.
    func unregistered(_ body: () throws -> Void) rethrows {
        manager.disableUndoRegistration()
        defer {
            context.processPendingChanges()
            manager.enableUndoRegistration()
        }
        try body()
    }

    func undoAll() { context.undoAll() }

    func redoAll() { context.redoAll() }

    // MARK: Saving and merging

    /// Saves the level that has the undo manager, and those above it.
    func saveUp() throws {
        var level: NSManagedObjectContext? = context
        while let saved = level {
            try saved.save()
            level = saved.parent
        }
        wait()
    }

    /// Waits until all levels have merged what they have been told of so far, and know the IDs of
    /// what was saved.
    func wait() { for level in levels { level.performAndWait {} } }

    /// Has another context of the stores change something and save it.
    ///
    /// - Returns: the notification of its save.
    func changeElsewhere(_ change: (NSManagedObjectContext) throws -> Void) throws -> Notification {
        let other = newContext()
        try change(other)
        let log = NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: other)
        try other.save()
        return try #require(log.all.last)
    }

    /// Merges a save into the level that has the undo manager, and into those above it first.
    func merge(_ save: Notification) {
        for level in levels {
            if level === context {
                group { level.mergeChanges(fromContextDidSave: save) }
                return
            }
            level.mergeChanges(fromContextDidSave: save)
        }
    }
}
