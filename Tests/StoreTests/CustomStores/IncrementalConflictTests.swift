import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Records with versions, which several coordinators share.
private final class SharedRecords: Sendable {
    struct Record {
        var values: [String: String]
        var version: UInt64
    }

    static let all = Mutex<[String: SharedRecords]>([:])

    let countsVersions: Bool
    let records = Mutex<[String: Record]>([:])
    let serial = Mutex(0)

    init(countsVersions: Bool) { self.countsVersions = countsVersions }

    func write(_ reference: String, _ values: [String: String]) {
        records.withLock { records in
            let version = records[reference].map { countsVersions ? $0.version + 1 : $0.version } ?? 1
            records[reference] = Record(values: values, version: version)
        }
    }
}

/// The store of one coordinator over shared records. It writes whole objects, as most such stores
/// do.
private final class SharedRecordStore: NSIncrementalStore, @unchecked Sendable {
    // Sendable: the records are guarded by locks.
    static let storeType = NSPersistentStore.StoreType(rawValue: "SharedRecords")

    private var shared: SharedRecords {
        SharedRecords.all.withLock { $0[url?.path ?? ""] } ?? SharedRecords(countsVersions: true)
    }

    override var type: String { Self.storeType.rawValue }

    override func loadMetadata() throws {
        metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: url?.lastPathComponent ?? ""]
    }

    private func reference(_ objectID: NSManagedObjectID) -> String { referenceObject(for: objectID) as? String ?? "" }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        if let save = request as? NSSaveChangesRequest {
            for object in (save.insertedObjects ?? []).union(save.updatedObjects ?? []) {
                let values = ["name", "note"].compactMap { key in
                    (object.value(forKey: key) as? String).map { (key, $0) }
                }
                shared.write(reference(object.objectID), Dictionary(uniqueKeysWithValues: values))
            }
            for object in save.deletedObjects ?? [] {
                let reference = reference(object.objectID)
                shared.records.withLock { $0[reference] = nil }
            }
            return [Any]()
        }
        guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult>, let entity = fetch.entity, let context
        else {
            return [Any]()
        }
        let references = shared.records.withLock { $0.keys.sorted() }
        return references.map { context.object(with: newObjectID(for: entity, referenceObject: $0)) }
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let reference = reference(objectID)
        guard let record = shared.records.withLock({ $0[reference] }) else {
            throw CocoaError(.managedObjectReferentialIntegrity)
        }
        return NSIncrementalStoreNode(objectID: objectID, withValues: record.values, version: record.version)
    }

    override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        array.map { object in
            let number = shared.serial.withLock { serial in
                serial += 1
                return serial
            }
            return newObjectID(for: object.entity, referenceObject: "r\(number)")
        }
    }
}

/// Conflicts in stores of a program's own: what others have written is not written over in silence.
struct IncrementalConflictTests {
    struct Place: CustomStringConvertible, Sendable {
        /// Whether the store gives each state of a record a version of its own.
        let countsVersions: Bool
        /// Whether the two contexts share a coordinator.
        let isShared: Bool

        var description: String {
            "\(countsVersions ? "counted" : "constant") versions, \(isShared ? "one coordinator" : "two coordinators") "
        }

        static let all = [true, false].flatMap { counts in
            [true, false].map { Place(countsVersions: counts, isShared: $0) }
        }
    }

    private struct Desk {
        let first: NSManagedObjectContext
        let second: NSManagedObjectContext

        init(_ place: Place) throws {
            NSPersistentStoreCoordinator.registerStoreClass(SharedRecordStore.self, type: SharedRecordStore.storeType)
            let url = URL(fileURLWithPath: "/records/\(UUID().uuidString)")
            SharedRecords.all.withLock { $0[url.path] = SharedRecords(countsVersions: place.countsVersions) }
            let entity = NSEntityDescription(
                "Item", class: "NSManagedObject",
                [.init("name", .stringAttributeType), .init("note", .stringAttributeType)])
            let model = NSManagedObjectModel([entity])
            func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
                let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                return context
            }
            func coordinator() throws -> NSPersistentStoreCoordinator {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                _ = try coordinator.addPersistentStore(type: SharedRecordStore.storeType, at: url)
                return coordinator
            }
            let one = try coordinator()
            first = context(one)
            second = context(place.isShared ? one : try coordinator())
        }

        func item(_ context: NSManagedObjectContext) throws -> NSManagedObject {
            let item = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
            _ = item.value(forKey: "name")
            return item
        }

        func values() throws -> [String] {
            let url = first.persistentStoreCoordinator?.persistentStores.first?.url?.path ?? ""
            let records = SharedRecords.all.withLock { $0[url] }?.records.withLock { $0.values.map(\.values) } ?? []
            return records.map { "\($0["name"] ?? "-") \($0["note"] ?? "-")" }.sorted()
        }
    }

    @Test("208: a row that another context has changed is a conflict", arguments: Place.all, [false, true])
    func aChangedRowIsAConflict(place: Place, merges: Bool) throws {
        let desk = try Desk(place)
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: desk.first)
        new.setValue("a", forKey: "name")
        try desk.first.save()
        let theirs = try desk.item(desk.second)
        new.setValue("b", forKey: "name")
        try desk.first.save()
        theirs.setValue("mine", forKey: "note")
        if merges { desk.second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        let error = errorThrown { try desk.second.save() }
        // A store that gives all states one version knows no conflicts but those that the
        // coordinator has seen.
        let isKnown = place.isShared || place.countsVersions
        if merges || !isKnown {
            #expect(error == nil)
            #expect(try desk.values() == [isKnown ? "b mine" : "a mine"])
        } else {
            #expect(error?.code == NSManagedObjectMergeError)
            #expect(try desk.values() == ["b -"])
            desk.second.refresh(theirs, mergeChanges: true)
            try desk.second.save()
            #expect(try desk.values() == ["b mine"])
        }
    }

    @Test("208: so is one that another has deleted", arguments: Place.all, [false, true])
    func aDeletedRowIsAConflict(place: Place, deletes: Bool) throws {
        let desk = try Desk(place)
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: desk.first)
        new.setValue("a", forKey: "name")
        try desk.first.save()
        let theirs = try desk.item(desk.second)
        desk.first.delete(new)
        try desk.first.save()
        if deletes { desk.second.delete(theirs) } else { theirs.setValue("mine", forKey: "note") }
        let error = errorThrown { try desk.second.save() }
        #expect(error?.code == NSManagedObjectMergeError)
        #expect(try desk.values().isEmpty)
        desk.second.rollback()
    }

    @Test("208: one's own saves are none", arguments: Place.all) func onesOwnSavesAreNoConflicts(place: Place) throws {
        let desk = try Desk(place)
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: desk.first)
        for name in ["a", "b", "c"] {
            new.setValue(name, forKey: "name")
            try desk.first.save()
        }
        desk.first.refresh(new, mergeChanges: false)
        for name in ["d", "e"] {
            new.setValue(name, forKey: "name")
            try desk.first.save()
        }
        let theirs = try desk.item(desk.second)
        for name in ["f", "g"] {
            theirs.setValue(name, forKey: "name")
            try desk.second.save()
        }
        #expect(try desk.values() == ["g -"])
        desk.second.delete(theirs)
        try desk.second.save()
        #expect(try desk.values().isEmpty)
    }

    @Test("208: a row that one has saved oneself is none of one's own for ever", arguments: [false, true])
    func aRowOfOnesOwnThatOthersHaveChangedIsAConflict(wasUpdated: Bool) throws {
        let desk = try Desk(Place(countsVersions: true, isShared: false))
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: desk.first)
        new.setValue("a", forKey: "name")
        try desk.first.save()
        if wasUpdated {
            new.setValue("b", forKey: "name")
            try desk.first.save()
        }
        let theirs = try desk.item(desk.second)
        theirs.setValue("theirs", forKey: "name")
        try desk.second.save()
        new.setValue("mine", forKey: "note")
        #expect(errorThrown { try desk.first.save() }?.code == NSManagedObjectMergeError)
        #expect(try desk.values() == ["theirs -"])
        desk.first.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try desk.first.save()
        #expect(try desk.values() == ["theirs mine"])
    }

    @Test("208: a conflict that its coordinator knows of does not hide a later one of others")
    func aConflictWithinACoordinatorHidesNoOther() throws {
        let desk = try Desk(Place(countsVersions: true, isShared: true))
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: desk.first)
        new.setValue("a", forKey: "name")
        try desk.first.save()
        let theirs = try desk.item(desk.second)
        new.setValue("b", forKey: "name")
        try desk.first.save()
        // Another program.
        let url = desk.first.persistentStoreCoordinator?.persistentStores.first?.url?.path ?? ""
        try #require(SharedRecords.all.withLock { $0[url] }).write("r1", ["name": "c"])
        theirs.setValue("mine", forKey: "note")
        desk.second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try desk.second.save()
        #expect(try desk.values() == ["c mine"])
    }

    @Test("others' saves are seen, whatever versions the store gives", arguments: [false, true])
    func mergedRowsAreTheNewestOnes(countsVersions: Bool) throws {
        let desk = try Desk(Place(countsVersions: countsVersions, isShared: true))
        let first = desk.first
        let token = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.didSaveObjectsNotification, object: desk.second, queue: nil
        ) { first.mergeChanges(fromContextDidSave: $0) }
        defer { NotificationCenter.default.removeObserver(token) }
        let new = NSEntityDescription.insertNewObject(forEntityName: "Item", into: desk.first)
        for name in ["a", "b", "c"] {
            new.setValue(name, forKey: "name")
            try desk.first.save()
        }
        let theirs = try desk.item(desk.second)
        desk.second.refresh(theirs, mergeChanges: true)
        theirs.setValue("d", forKey: "name")
        try desk.second.save()
        #expect(new.value(forKey: "name") as? String == "d")
        new.setValue("mine", forKey: "note")
        try desk.first.save()
        #expect(try desk.values() == ["d mine"])
    }

    @Test("a conflict in a store of a program's own leaves a file alone") func aConflictLeavesOtherStoresAlone() throws
    {
        let folder = try TemporaryFolder()
        NSPersistentStoreCoordinator.registerStoreClass(SharedRecordStore.self, type: SharedRecordStore.storeType)
        let url = URL(fileURLWithPath: "/records/\(UUID().uuidString)")
        let shared = SharedRecords(countsVersions: true)
        SharedRecords.all.withLock { $0[url.path] = shared }
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject",
            [.init("name", .stringAttributeType), .init("note", .stringAttributeType)])
        let page = NSEntityDescription(
            "Page", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType)])
        let model = NSManagedObjectModel([item, page])
        model.setEntities([item], forConfigurationName: "Records")
        model.setEntities([page], forConfigurationName: "File")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(type: SharedRecordStore.storeType, configuration: "Records", at: url)
        let file = folder.file("pages.sqlite")
        _ = try coordinator.addPersistentStore(type: .sqlite, configuration: "File", at: file)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let record = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        record.setValue("a", forKey: "name")
        let text = NSEntityDescription.insertNewObject(forEntityName: "Page", into: context)
        text.setValue("first", forKey: "text")
        try context.save()
        shared.write("r1", ["name": "theirs"])
        record.setValue("mine", forKey: "note")
        text.setValue("second", forKey: "text")
        #expect(errorThrown { try context.save() }?.code == NSManagedObjectMergeError)
        #expect(SQLiteFile(file).value("SELECT ZTEXT FROM ZPAGE") == "first")
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.save()
        #expect(SQLiteFile(file).value("SELECT ZTEXT FROM ZPAGE") == "second")
        #expect(shared.records.withLock { $0["r1"]?.values } == ["name": "theirs", "note": "mine"])
    }
}
