import CoreData
import TestSupport
import Testing

/// An order by a whole composite attribute is refused, whoever would have to sort.
struct CompositeOrderTests {
    private static func model() -> NSManagedObjectModel {
        let part = NSEntityDescription(
            "Part", class: "NSManagedObject",
            [
                NSAttributeDescription("serial", .integer64AttributeType),
                NSCompositeAttributeDescription(
                    "size", .init("width", .integer32AttributeType),
                    NSCompositeAttributeDescription("unit", .init("symbol", .stringAttributeType))),
            ])
        let special = NSEntityDescription(
            "Special", class: "NSManagedObject",
            [NSCompositeAttributeDescription("extra", .init("note", .stringAttributeType))])
        part.subentities = [special]
        let owner = NSEntityDescription(
            "Owner", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(owner, "parts", toMany: true, part, inverse: "owner")
        let bag = NSRelationshipDescription("favourite", to: part)
        owner.properties += [bag]
        return NSManagedObjectModel([part, special, owner])
    }

    /// The kinds of stores a fetch asks.
    enum Arena: CaseIterable { case sqlite, inMemory, sqliteAndMemory, incremental }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func context(_ arena: Arena) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        if arena == .sqlite || arena == .sqliteAndMemory {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("store.sqlite"))
        }
        if arena == .inMemory || arena == .sqliteAndMemory {
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        if arena == .incremental {
            NSPersistentStoreCoordinator.registerStoreClass(ShelfService.self, type: ShelfService.storeType)
            try coordinator.addPersistentStore(type: ShelfService.storeType, at: folder.file("shelf"))
        }
        return coordinator.newContext()
    }

    private func refusal(_ entity: String, _ key: String, _ context: NSManagedObjectContext, dictionaries: Bool = false)
        -> NSError?
    {
        errorThrown {
            if dictionaries {
                let request = NSFetchRequest<NSDictionary>(entityName: entity)
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["size", "serial"]
                request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
                _ = try context.fetch(request)
            } else {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.sortDescriptors = [
                    NSSortDescriptor(key: "serial", ascending: true), NSSortDescriptor(key: key, ascending: false),
                ]
                if entity == "Owner" { request.sortDescriptors?.removeFirst() }
                _ = try context.fetch(request)
            }
        }
    }

    @Test(arguments: Arena.allCases, [false, true]) func everyStoreRefusesItWithTheSameError(
        arena: Arena, unsaved: Bool
    ) throws {
        let context = try context(arena)
        for serial in 0..<3 {
            let part = NSEntityDescription.insertNewObject(
                forEntityName: serial == 2 ? "Special" : "Part", into: context)
            part.setValue(serial, forKey: "serial")
            part.setValue(["width": serial, "unit": ["symbol": "m"]], forKey: "size")
        }
        if !unsaved { try context.save() }
        let elements = "size.width, size.unit.symbol"
        let cases = [
            ("Part", "size", elements), ("Part", "size.unit", "size.unit.symbol"), ("Special", "size", elements),
            ("Part", "extra", "extra.note"), ("Owner", "favourite.size", elements), ("Part", "SELF.size", elements),
        ]
        for (entity, key, elements) in cases {
            let error = try #require(refusal(entity, key, context), "\(entity) by \(key)")
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == NSCoreDataError)
            let message = "'\(entity)' cannot be fetched in the order of '\(key)': a composite attribute has no order."
            #expect(error.localizedDescription == message)
            #expect(error.localizedRecoverySuggestion == "Sort by its elements: \(elements).")
        }
        let error = try #require(refusal("Part", "size", context, dictionaries: true))
        #expect(error.localizedDescription.contains("a composite attribute has no order"))
    }

    @Test(arguments: Arena.allCases, [false, true]) func anOrderByElementsIsNotRefused(arena: Arena, unsaved: Bool)
        throws
    {
        let context = try context(arena)
        for serial in 0..<3 {
            let part = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
            part.setValue(serial, forKey: "serial")
            part.setValue(["width": 10 - serial], forKey: "size")
        }
        if !unsaved { try context.save() }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
        request.sortDescriptors = [NSSortDescriptor(key: "size.width", ascending: true)]
        #expect(try context.fetch(request).map { $0.value(forKey: "serial") as? Int } == [2, 1, 0])
    }

    /// A relationship on the way may have the name of the composite attribute that it leads to.
    @Test(arguments: StoreKind.allCases, [false, true]) func aRelationshipMayBeNamedAsTheAttribute(
        kind: StoreKind, unsaved: Bool
    ) throws {
        let spot = NSEntityDescription(
            "Spot", class: "NSManagedObject",
            [NSCompositeAttributeDescription("place", .init("city", .stringAttributeType))])
        let visit = NSEntityDescription(
            "Visit", class: "NSManagedObject", [NSAttributeDescription("day", .integer64AttributeType)])
        relate(visit, "place", spot, inverse: "visits", inverseToMany: true)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([spot, visit]))
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("visits.sqlite")))
        let context = coordinator.newContext()
        for (day, city) in ["Rome", "Athens", "Paris"].enumerated() {
            let place = NSEntityDescription.insertNewObject(forEntityName: "Spot", into: context)
            place.setValue(["city": city], forKey: "place")
            let visit = NSEntityDescription.insertNewObject(forEntityName: "Visit", into: context)
            visit.setValue(day, forKey: "day")
            visit.setValue(place, forKey: "place")
        }
        if !unsaved { try context.save() }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Visit")
        request.predicate = NSPredicate(format: "place.place.city != 'Rome' AND place.place.city.length > 2")
        request.sortDescriptors = [NSSortDescriptor(key: "place.place.city", ascending: false)]
        #expect(try context.fetch(request).map { $0.value(forKey: "day") as? Int } == [2, 1])
    }
}
