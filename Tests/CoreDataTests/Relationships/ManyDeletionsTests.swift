import CoreData
import TestSupport
import Testing

/// Many objects that are deleted at once leave what they leave when they are deleted one after
/// another.
struct ManyDeletionsTests {
    /// Owners have parts and these have pieces, which go with them; parts carry tags and have one
    /// stand-in each.
    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String) -> NSEntityDescription {
            NSEntityDescription(
                name, class: "NSManagedObject", [NSAttributeDescription("number", .integer64AttributeType)])
        }
        let (owner, part, piece, tag) = (entity("Owner"), entity("Part"), entity("Piece"), entity("Tag"))
        let special = NSEntityDescription(
            "SpecialPart", class: "NSManagedObject", [NSAttributeDescription("note", .stringAttributeType)])
        part.subentities = [special]
        relate(owner, "parts", toMany: true, deleteRule: .cascadeDeleteRule, part, inverse: "owner")
        relate(part, "pieces", toMany: true, ordered: true, deleteRule: .cascadeDeleteRule, piece, inverse: "part")
        relate(part, "tags", toMany: true, tag, inverse: "parts", inverseToMany: true)
        relate(part, "standIn", part, inverse: "standsInFor")
        return NSManagedObjectModel([owner, part, special, piece, tag])
    }

    /// A store with random objects, always the same for a seed.
    private struct Stock {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator

        init(_ kind: StoreKind, seed: UInt64) throws {
            folder = try TemporaryFolder()
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: ManyDeletionsTests.model())
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("stock.sqlite")))
            var generator = SeededGenerator(seed: seed)
            let context = coordinator.newContext()
            var serial = 0
            func make(_ name: String, _ count: Int) -> [NSManagedObject] {
                (0..<count).map { _ in
                    let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                    object.setValue(serial, forKey: "number")
                    serial += 1
                    return object
                }
            }
            let owners = make("Owner", 8)
            let tags = make("Tag", 5)
            let parts = make("Part", 20) + make("SpecialPart", 10)
            for piece in make("Piece", 40) { piece.setValue(parts.randomElement(using: &generator), forKey: "part") }
            for part in parts {
                if Bool.random(using: &generator) {
                    part.setValue(owners.randomElement(using: &generator), forKey: "owner")
                }
                part.setValue(
                    Set(tags.shuffled(using: &generator).prefix(Int.random(in: 0...3, using: &generator))),
                    forKey: "tags")
                if Bool.random(using: &generator) {
                    part.setValue(parts.randomElement(using: &generator), forKey: "standIn")
                }
            }
            try context.save()
        }

        /// The objects and their destinations as another program reads them.
        func content() throws -> [String] {
            let context = coordinator.newContext()
            func name(_ object: NSManagedObject) -> String {
                "\(object.entity.name ?? "") \(object.value(forKey: "number") ?? "")"
            }
            return try ["Owner", "Part", "Piece", "Tag"].flatMap { entity in
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                    let related = object.entity.relationshipsByName.keys.sorted().map { key in
                        switch object.value(forKey: key) {
                        case let members as Set<NSManagedObject>: "\(key) \(members.map(name).sorted())"
                        case let members as NSOrderedSet:
                            "\(key) \(members.compactMap { $0 as? NSManagedObject }.map(name))"
                        case let member as NSManagedObject: "\(key) \(name(member))"
                        default: "\(key) -"
                        }
                    }
                    return "\(name(object)): \(related.joined(separator: ", "))"
                }
            }.sorted()
        }

        /// Some of the objects of all entities, as they come or as faults, always the same for a
        /// seed.
        func some(in context: NSManagedObjectContext, seed: UInt64, asFaults: Bool) throws -> [NSManagedObject] {
            var generator = SeededGenerator(seed: seed)
            return try ["Owner", "Part", "Piece", "Tag"].flatMap { entity in
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
                request.includesPropertyValues = !asFaults
                return try context.fetch(request).filter { _ in Int.random(in: 0..<5, using: &generator) < 2 }
            }.shuffled(using: &generator)
        }
    }

    @Test(arguments: StoreKind.allCases, 0..<(LongTests.areEnabled ? 60 : 3))
    func whatIsDeletedAtOnceLeavesTheSameAsOneByOne(_ kind: StoreKind, _ seed: Int) throws {
        let seed = UInt64(seed)
        let (atOnce, oneByOne) = (try Stock(kind, seed: seed), try Stock(.inMemory, seed: seed))
        #expect(try atOnce.content() == oneByOne.content())
        let context = atOnce.coordinator.newContext()
        for object in try atOnce.some(in: context, seed: seed, asFaults: seed % 2 == 1) { context.delete(object) }
        try context.save()
        let slow = oneByOne.coordinator.newContext()
        for object in try oneByOne.some(in: slow, seed: seed, asFaults: false) {
            slow.delete(object)
            slow.processPendingChanges()
        }
        try slow.save()
        #expect(try atOnce.content() == oneByOne.content())
        #expect(try atOnce.content().count < 83)
    }

    /// Each attempt to save, and a member that comes back, applies the delete rule again.
    @Test(arguments: StoreKind.allCases) func aRefusedDeletionLeavesEachMemberOnce(_ kind: StoreKind) throws {
        let shelf = NSEntityDescription("Shelf", class: "NSManagedObject", [.init("number", .integer64AttributeType)])
        let book = NSEntityDescription("Book", class: "NSManagedObject", [.init("number", .integer64AttributeType)])
        relate(shelf, "books", toMany: true, ordered: true, deleteRule: .denyDeleteRule, book, inverse: "shelf")
        let stack = try TestStack([shelf, book], kind: kind)
        let context = stack.context
        let full = NSManagedObject(entity: stack.entity("Shelf"), insertInto: context)
        let only = NSManagedObject(entity: stack.entity("Book"), insertInto: context)
        only.setValue(full, forKey: "shelf")
        try context.save()
        context.refreshAllObjects()
        context.delete(full)
        only.setValue(nil, forKey: "shelf")
        context.refresh(only, mergeChanges: false)
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .validationRelationshipDeniedDelete)
        #expect(RelationshipEnds.destinations(of: full, "books") == [only])
        context.rollback()
        #expect(RelationshipEnds.destinations(of: full, "books") == [only])
    }
}
