import CoreData
import TestSupport
import Testing

/// Policies that make fewer, more or other objects than there were, beside shelves whose rows the
/// database copies: the relationships are those of shelves that are moved as objects.
struct MixedExecutorTests {
    /// Shelves with books and tags; a new shelf has a label.
    private static func version(isNew: Bool, book: String = "Book") -> NSManagedObjectModel {
        let (shelf, book, tag) = (
            entity("Shelf", text("name")), entity(book, text("name")), entity("Tag", text("name"))
        )
        relate(shelf, "books", toMany: true, book, inverse: "shelf")
        relate(shelf, "first", book, inverse: "firstOf")
        relate(shelf, "tags", toMany: true, tag, inverse: "shelves", inverseToMany: true)
        if isNew { for entity in [shelf, book, tag] { entity.properties += [text("label", default: "none")] } }
        return model(shelf, book, tag)
    }

    private static func fill(_ store: MigratedStore) throws {
        try store.open(version(isNew: false)) { context in
            let tags = ["red", "blue", "red", "green"].map { context.insert("Tag", ["name": $0]) }
            for number in 1...3 {
                let books = (1...4).map { context.insert("Book", ["name": "b\(number).\($0)"]) }
                context.insert(
                    "Shelf",
                    [
                        "name": "s\(number)", "books": NSSet(array: books), "first": books[number],
                        "tags": NSSet(array: [tags[number], tags[0]]),
                    ])
            }
        }
    }

    private static func shelf(_ policy: AnyClass?) -> NSEntityMapping {
        mapping(
            "ShelfToShelf", from: "Shelf", to: "Shelf", attributes: ["name": "$source.name"],
            relationships: [
                "books": instances("Books", "books"), "first": instances("Books", "first"),
                "tags": instances("TagToTag", "tags"),
            ], policy: policy)
    }

    /// The names of the objects that each shelf leads to, and of the shelves that these lead to.
    private static func lines(_ store: MigratedStore, book: String) throws -> [String] {
        try store.open(version(isNew: true, book: book)) { context in
            func names(_ objects: Any?) -> String {
                let set = objects as? Set<NSManagedObject> ?? Set([objects as? NSManagedObject].compactMap { $0 })
                return set.map { $0.value(forKey: "name") as? String ?? "none" }.sorted().joined(separator: ",")
            }
            func lines(_ entity: String, _ keys: [String]) throws -> [String] {
                try context.objects(entity).map { object in
                    ([entity, names(object)] + keys.map { names(object.value(forKey: $0)) }).joined(separator: " ")
                }
            }
            return try lines("Shelf", ["books", "first", "tags"]).sorted()
                + lines(book, ["shelf", "firstOf"]).sorted() + lines("Tag", ["shelves"]).sorted()
        }
    }

    enum Case: CaseIterable {
        case twoOfEach, oneOfEqualOnes, otherEntity, some, none
    }

    private static func mappings(_ number: Case, shelf policy: AnyClass?) -> [NSEntityMapping] {
        let books = mapping(
            "Books", from: "Book", to: number == .otherEntity ? "Work" : "Book", attributes: ["name": "$source.name"])
        let tags = mapping("TagToTag", from: "Tag", to: "Tag", attributes: ["name": "$source.name"])
        switch number {
        case .twoOfEach: books.entityMigrationPolicyClassName = NSStringFromClass(CopyingPolicy.self)
        case .oneOfEqualOnes: tags.entityMigrationPolicyClassName = NSStringFromClass(MergingPolicy.self)
        case .otherEntity: books.mappingType = .customEntityMappingType
        case .some:
            books.sourceExpression = NSExpression(
                format: "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Book\", "
                    + "\"name ENDSWITH '2'\"), $manager.sourceContext, NO)")
        case .none: books.entityMigrationPolicyClassName = NSStringFromClass(OmittingPolicy.self)
        }
        return [shelf(policy), books, tags]
    }

    @Test(arguments: Case.allCases) func relationshipsLeadToWhatAPolicyMade(number: Case) throws {
        let book = number == .otherEntity ? "Work" : "Book"
        let found = try [nil, PlainPolicy.self].map { (policy: AnyClass?) in
            let stores = try MappedStores()
            try Self.fill(stores.source)
            try stores.migrate(
                from: Self.version(isNew: false), to: Self.version(isNew: true, book: book),
                by: Self.mappings(number, shelf: policy))
            try stores.destination.expectSoundness(Self.version(isNew: true, book: book), #_sourceLocation)
            return try Self.lines(stores.destination, book: book)
        }
        #expect(found[0] == found[1])
        #expect(found[0].contains { $0.hasPrefix("Shelf s1 ") })
    }

    @Test func newRulesAreCheckedForObjectsWithoutAPolicyToo() throws {
        func version(longest: Int?) -> NSManagedObjectModel {
            let name = text("name")
            if let longest {
                name.setValidationPredicates(
                    [NSPredicate(format: "length <= %d", longest)], withValidationWarnings: ["too long"])
            }
            return model(entity("Item", name, text(longest == nil ? "unit" : "label")))
        }
        let stores = try MappedStores()
        try stores.source.open(version(longest: nil)) { $0.insert("Item", ["name": "a long name"]) }
        let items = [mapping("ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"])]
        let error = errorThrown {
            try stores.migrate(from: version(longest: nil), to: version(longest: 5), by: items)
        }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(stores.destinationFiles == [])
        try stores.migrate(from: version(longest: nil), to: version(longest: 50), by: items)
        #expect(stores.destination.file.column("SELECT ZNAME FROM ZITEM") == ["a long name"])
    }

    @Test func aRequiredRelationshipToObjectsOfAPolicyIsChecked() throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let (item, owner) = (entity("Item", text("name")), entity("Owner", text("name")))
            relate(item, "owner", owner, inverse: "items", inverseToMany: true)
            if isNew {
                item.relationshipsByName["owner"]?.isOptional = false
                owner.properties += [text("label")]
            }
            return model(item, owner)
        }
        let stores = try MappedStores()
        try stores.source.open(version(isNew: false)) { context in
            context.insert("Item", ["name": "bolt", "owner": context.insert("Owner", ["name": "Ann"])])
        }
        func mappings(_ policy: AnyClass) -> [NSEntityMapping] {
            [
                mapping(
                    "ItemToItem", from: "Item", to: "Item", attributes: ["name": "$source.name"],
                    relationships: ["owner": instances("Books", "owner")]),
                mapping("Books", from: "Owner", to: "Owner", attributes: ["name": "$source.name"], policy: policy),
            ]
        }
        let error = errorThrown {
            try stores.migrate(
                from: version(isNew: false), to: version(isNew: true), by: mappings(OmittingPolicy.self))
        }
        #expect(error?.code == NSValidationMissingMandatoryPropertyError)
        #expect(stores.destinationFiles == [])
        try stores.migrate(from: version(isNew: false), to: version(isNew: true), by: mappings(PlainPolicy.self))
        #expect(stores.destination.file.rows("SELECT ZNAME, ZOWNER FROM ZITEM") == [["bolt", "1"]])
    }

    /// The database copies both kinds of owners, and a policy makes the books.
    @Test(arguments: [true, false]) func ownersOfSeveralEntitiesAreKept(toMany: Bool) throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let (owner, rack, wall) = (entity("Owner", text("name")), entity("Rack"), entity("Wall"))
            let book = entity("Book", text("name"))
            owner.isAbstract = true
            owner.subentities = [rack, wall]
            if toMany {
                relate(owner, "books", toMany: true, book, inverse: "owners", inverseToMany: true)
            } else {
                relate(owner, "book", book, inverse: "owners", inverseToMany: true)
            }
            if isNew { book.properties += [text("label")] }
            return model(owner, rack, wall, book)
        }
        let stores = try MappedStores()
        try stores.source.open(version(isNew: false)) { context in
            let book = context.insert("Book", ["name": "b"])
            for (number, kind) in ["Rack", "Wall", "Rack", "Wall"].enumerated() {
                let owner = context.insert(kind, ["name": "\(kind)\(number)"])
                owner.setValue(toMany ? NSSet(object: book) : book, forKey: toMany ? "books" : "book")
            }
        }
        let key = toMany ? "books" : "book"
        let owners = ["Rack", "Wall"].map { name in
            mapping(
                name, from: name, to: name, attributes: ["name": "$source.name"],
                relationships: [key: instances("Books", key)])
        }
        let books = mapping(
            "Books", from: "Book", to: "Book", attributes: ["name": "$source.name"], policy: PlainPolicy.self)
        try stores.migrate(from: version(isNew: false), to: version(isNew: true), by: owners + [books])
        try stores.destination.open(version(isNew: true), [:]) { context in
            let book = try #require(try context.objects("Book").first)
            let found = book.value(forKey: "owners") as? Set<NSManagedObject> ?? []
            let names = found.map { $0.value(forKey: "name") as? String ?? "" }.sorted()
            #expect(names == ["Rack0", "Rack2", "Wall1", "Wall3"])
        }
    }
}

/// Makes one object of all sources with a name.
final class MergingPolicy: NSEntityMigrationPolicy {
    private var made: [String: NSManagedObject] = [:]

    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let name = source.value(forKey: "name") as? String ?? ""
        if let object = made[name] {
            return manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
        }
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        made[name] = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [source]).first
    }
}

/// Makes no objects.
final class OmittingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {}
}
