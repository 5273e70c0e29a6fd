import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Objects of fetches in batches, in contexts that have other objects too, are let go of, saved to
/// and fetched again: each reads as its row.
struct RandomBatchedFetchTests {
    private static func model() -> NSManagedObjectModel {
        let thing = NSEntityDescription(
            "Thing", class: "NSManagedObject",
            [
                NSAttributeDescription("number", .integer64AttributeType),
                NSAttributeDescription("shuffled", .integer64AttributeType),
            ])
        thing.subentities = [NSEntityDescription("Special", class: "NSManagedObject", [])]
        return NSManagedObjectModel([thing] + thing.subentities)
    }

    private static func values(of object: NSManagedObject) -> [Int?] {
        ["number", "shuffled"].map { object.value(forKey: $0) as? Int }
    }

    @Test(arguments: StoreKind.allCases, 0..<(LongTests.areEnabled ? 60 : 6)) func objectsReadAsTheirRows(
        kind: StoreKind, seed: Int
    ) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        _ = try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("things.sqlite")))
        let count = 300
        let writer = coordinator.newContext()
        var next = 0
        func insert(_ number: Int) throws {
            try writer.performAndWait {
                for _ in 0..<number {
                    let entity = Bool.random(using: &generator) ? "Thing" : "Special"
                    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: writer)
                    object.setValue(next, forKey: "number")
                    object.setValue(Int.random(in: 0..<1_000, using: &generator), forKey: "shuffled")
                    next += 1
                }
                try writer.save()
            }
        }
        try insert(count)
        let context = coordinator.newContext()
        context.retainsRegisteredObjects = seed % 5 == 4
        try context.performAndWait {
            var kept: [NSManagedObject] = []
            for round in 0..<12 {
                let entity = Int.random(in: 0..<4, using: &generator) == 0 ? "Special" : "Thing"
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.fetchBatchSize = [1, 2, 7, 50, 1_000].randomElement(using: &generator) ?? 1
                if Bool.random(using: &generator) {
                    request.sortDescriptors = [
                        NSSortDescriptor(key: "shuffled", ascending: Bool.random(using: &generator)),
                        NSSortDescriptor(key: "number", ascending: true),
                    ]
                }
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    request.predicate = NSPredicate(format: "shuffled < 500")
                }
                var objects = try context.fetch(request)
                // The same by a context that knows nothing, as rows.
                let plain = NSFetchRequest<NSManagedObject>(entityName: entity)
                (plain.predicate, plain.sortDescriptors) = (request.predicate, request.sortDescriptors)
                let other = coordinator.newContext()
                let found = try other.performAndWait {
                    try other.fetch(plain).map { (id: $0.objectID, values: Self.values(of: $0)) }
                }
                let truth = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.values) })
                #expect(Set(objects.map(\.objectID)) == Set(truth.keys))
                if request.sortDescriptors != nil { #expect(objects.map(\.objectID) == found.map(\.id)) }
                if round % 3 == 1 { objects.shuffle(using: &generator) }
                // Some of those that were not read yet go, the places of which nobody may take for
                // those of others.
                if round % 3 == 2 { objects.removeAll { _ in Int.random(in: 0..<3, using: &generator) == 0 } }
                for object in objects {
                    #expect(
                        Self.values(of: object) == truth[object.objectID],
                        "round \(round), \(object.objectID), batches of \(request.fetchBatchSize)")
                    if Int.random(in: 0..<40, using: &generator) == 0 { kept.append(object) }
                    if Int.random(in: 0..<60, using: &generator) == 0 { context.refresh(object, mergeChanges: false) }
                }
                if Bool.random(using: &generator) { kept.removeAll() }
                if Int.random(in: 0..<3, using: &generator) == 0 { try insert(5) }
                #expect(Set(kept.map(\.objectID)).count == Set(kept.map(ObjectIdentifier.init)).count)
            }
        }
    }
}
