import CoreData
import TestSupport
import Testing

/// Attributes that are required now and have no default value: only objects of their entity that
/// lack a value are in their way.
struct RequiredAttributeMigrationTests {
    private static var first: NSManagedObjectModel {
        model(entity("Item", text("name")), entity("Other", text("name")))
    }
    private static var second: NSManagedObjectModel {
        model(entity("Item", text("name"), text("code", optional: false)), entity("Other", text("name")))
    }

    @Test(arguments: StoreKind.persistent) func anEntityWithoutObjectsGetsThem(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(Self.first) { context in context.insert("Other", ["name": "kept"]) }
        try store.migrate(to: Self.second)
        try store.open(Self.second) { context in
            context.insert("Item", ["name": "new", "code": "c"])
            let others = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Other"))
            #expect(others.count == 1)
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.first, destinationModel: Self.second)
        #expect(mapping.entityMappings.count == 2)
    }

    @Test(arguments: StoreKind.persistent) func objectsWithoutAValueAreRefused(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(Self.first) { context in for _ in 0..<3 { context.insert("Item", ["name": "n"]) } }
        let error = try store.refusal(Self.second)
        #expect(error.code == CocoaError.Code.migration.rawValue)
        for part in ["Item.code", "required", "3 objects"] {
            #expect(error.localizedDescription.contains(part), "\(error)")
        }
        #expect(error.localizedRecoverySuggestion?.contains("default value") == true)
        try store.open(Self.first) { context in
            let items = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
            #expect(items.count == 3)
        }
    }

    /// The usual three steps: add it, fill it in, require it.
    @Test(
        "279: what was optional is required where all objects have a value", arguments: StoreKind.persistent,
        [false, true])
    func whatAllObjectsHaveMayBeRequired(kind: StoreKind, renames: Bool) throws {
        func version(_ code: NSAttributeDescription) -> NSManagedObjectModel {
            let parent = entity("Parent", text("name"), code)
            let (child, sibling) = (entity("Child", text("own")), entity("Sibling"))
            parent.subentities = [child, sibling]
            return model(parent, child, sibling)
        }
        let former = version(text("code"))
        let new = version(renames ? text("key", was: "code", optional: false) : text("code", optional: false))
        #expect(
            try NSMappingModel.inferredMappingModel(forSourceModel: former, destinationModel: new).entityMappings.count
                == 3)
        let store = try MigratedStore(kind)
        try store.open(former) { context in
            context.insert("Parent", ["name": "p", "code": "1"])
            context.insert("Child", ["name": "c", "code": "2"])
            for _ in 0..<2 { context.insert("Sibling", ["name": "s"]) }
        }
        let error = try store.refusal(new)
        #expect(error.code == CocoaError.Code.migration.rawValue)
        for part in ["Parent.\(renames ? "key" : "code")", "'Sibling'", "2 objects"] {
            #expect(error.localizedDescription.contains(part), "\(error)")
        }
        try store.open(former) { context in
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Sibling")) {
                object.setValue("3", forKey: "code")
            }
        }
        try store.migrate(to: new)
        try store.open(new) { context in
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Parent"))
            #expect(
                found.map { $0.value(forKey: renames ? "key" : "code") as? String ?? "" }.sorted() == [
                    "1", "2", "3", "3",
                ])
        }
    }

    /// The attribute of a parent is required of all children that have objects.
    @Test(arguments: StoreKind.persistent, ["Parent", "Child", "Sibling"])
    func objectsOfSubentitiesCount(kind: StoreKind, filled: String) throws {
        func version(_ properties: NSPropertyDescription...) -> NSManagedObjectModel {
            let parent = entity("Parent", text("name"))
            parent.properties += properties
            let (child, sibling) = (entity("Child", text("own")), entity("Sibling"))
            parent.subentities = [child, sibling]
            return model(parent, child, sibling)
        }
        let store = try MigratedStore(kind)
        try store.open(version()) { context in context.insert(filled, ["name": "n"]) }
        let error = try store.refusal(version(text("code", optional: false)))
        #expect(error.localizedDescription.contains("Parent.code"), "\(error)")
        #expect(error.localizedDescription.contains("'\(filled)'"), "\(error)")
        try store.migrate(to: version(text("code", optional: false, default: "c")))
    }

    /// An attribute that one child had and all have now.
    @Test(arguments: StoreKind.persistent) func anAttributeThatMovesUpIsNewToTheOthers(kind: StoreKind) throws {
        func version(_ inParent: [NSPropertyDescription], _ inChild: [NSPropertyDescription]) -> NSManagedObjectModel {
            let parent = entity("Parent", text("name"))
            let (child, sibling) = (entity("Child"), entity("Sibling"))
            parent.properties += inParent
            child.properties = inChild
            parent.subentities = [child, sibling]
            return model(parent, child, sibling)
        }
        let store = try MigratedStore(kind)
        let former = version([], [text("code", optional: false)])
        try store.open(former) { context in context.insert("Child", ["name": "n", "code": "c"]) }
        let new = version([text("code", optional: false)], [])
        try store.migrate(to: new)
        try store.open(new) { context in
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Parent"))
            #expect(found.map { $0.value(forKey: "code") as? String } == ["c"])
        }
        let other = try MigratedStore(kind)
        try other.open(former) { context in context.insert("Sibling", ["name": "n"]) }
        #expect(try other.refusal(new).localizedDescription.contains("Sibling"))
    }

    /// An entity that becomes abstract, with an attribute that its table could not take either.
    @Test(arguments: StoreKind.persistent) func objectsOfAnEntityThatIsAbstractNowAreNamedFirst(kind: StoreKind) throws
    {
        let new = Self.second
        new.entitiesByName["Item"]?.isAbstract = true
        let store = try MigratedStore(kind)
        try store.open(Self.first) { context in context.insert("Item", ["name": "n"]) }
        let error = try store.refusal(new)
        #expect(error.code == CocoaError.Code.migration.rawValue)
        #expect(error.localizedDescription.contains("Item: The entity is abstract now"), "\(error)")
        let empty = try MigratedStore(kind)
        try empty.open(Self.first) { _ in }
        try empty.migrate(to: new)
    }
}
