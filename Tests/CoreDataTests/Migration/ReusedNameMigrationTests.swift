import CoreData
import TestSupport
import Testing

/// Inferred migrations that rename an item while a new one takes its name, also where another
/// program has made views of the tables, or tables with names like those of a migration.
struct ReusedNameMigrationTests {
    /// An index of an attribute, which has the name of the attribute.
    private static func index(_ attributes: NSAttributeDescription...) -> [NSFetchIndexDescription] {
        attributes.map { attribute in
            NSFetchIndexDescription(
                name: "by\(attribute.name.capitalized)",
                elements: [NSFetchIndexElementDescription(property: attribute, collationType: .binary)])
        }
    }

    @Test(arguments: StoreKind.persistent) func theOldNameOfAnAttributeIsThatOfANewOne(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name"), number("count")))) { context in
            context.insert("Item", ["name": "bolt", "count": 4])
        }
        let new = model(entity("Item", text("title", was: "name"), text("name"), number("count")))
        try store.migrate(to: new)
        try store.open(new) { context in
            let item = try #require(try context.objects("Item").first)
            #expect(item.value(forKey: "title") as? String == "bolt")
            #expect(item.value(forKey: "name") == nil)
            #expect(item.value(forKey: "count") as? Int == 4)
        }
    }

    @Test func indexesAreThoseOfTheNewAttributes() throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let name = text("name")
            let item = entity("Item", name)
            let title = text("title", was: "name")
            if isNew { item.properties.append(title) }
            item.indexes = isNew ? Self.index(name, title) : Self.index(name)
            return model(item)
        }
        let store = try MigratedStore()
        try store.open(version(isNew: false)) { $0.insert("Item", ["name": "bolt"]) }
        try store.migrate(to: version(isNew: true))
    }

    @Test(arguments: StoreKind.persistent) func uniqueIsWhatHasTheNameNow(kind: StoreKind) throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let item = entity("Item", text("name"))
            if isNew { item.properties.append(text("title", was: "name")) }
            item.uniquenessConstraints = [["name"]]
            return model(item)
        }
        let store = try MigratedStore(kind)
        try store.open(version(isNew: false)) { $0.insert("Item", ["name": "bolt"]) }
        try store.migrate(to: version(isNew: true))
        let new = ["name": "nut", "title": "bolt"]
        try store.open(version(isNew: true)) { $0.insert("Item", new) }
        let error = errorThrown { try store.open(version(isNew: true)) { _ = $0.insert("Item", new) } }
        #expect(error?.code == CocoaError.managedObjectConstraintMerge.rawValue)
    }

    /// Foreign key and index of `group` are those of `team`.
    @Test(arguments: StoreKind.persistent) func aRelationshipHasAKeyOfItsOwn(kind: StoreKind) throws {
        func version(_ names: [(now: String, former: String?)]) -> NSManagedObjectModel {
            let item = NSEntityDescription("Item", class: "NSManagedObject", [text("name")])
            let group = entity("Group", text("name"))
            for (now, former) in names {
                let relationship = NSRelationshipDescription(now, to: group)
                relationship.renamingIdentifier = former
                item.properties.append(relationship)
            }
            return model(item, group)
        }
        let store = try MigratedStore(kind)
        try store.migrate(to: version([("group", nil)]))
        try store.migrate(to: version([("team", "group"), ("group", "another")]))
    }

    @Test(arguments: StoreKind.persistent) func attributesExchangeTheirUniqueNames(kind: StoreKind) throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let item = entity(
                "Item", text("name", was: isNew ? "zip" : nil), text("zip", was: isNew ? "name" : nil), text("note"))
            // The name alone is no other version.
            if isNew { item.properties.append(text("more")) }
            item.uniquenessConstraints = [["name"]]
            return model(item)
        }
        let store = try MigratedStore(kind)
        try store.open(version(isNew: false)) { $0.insert("Item", ["name": "a", "zip": "z"]) }
        try store.migrate(to: version(isNew: true))
    }

    @Test(arguments: StoreKind.persistent) func anAttributeMayBeCalledLikeAColumnThatIsPutAside(kind: StoreKind) throws
    {
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name"), text("former_0")))) { $0.insert("Item", ["name": "x"]) }
        try store.migrate(to: model(entity("Item", text("title", was: "name"), text("former_0"), text("more"))))
    }

    @Test(arguments: StoreKind.persistent) func theNewAttributeMayBeOfAnotherType(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name")))) { $0.insert("Item", ["name": "bolt"]) }
        let new = model(entity("Item", text("title", was: "name"), number("name", optional: false, default: 7)))
        try store.migrate(to: new)
        try store.open(new) { context in
            let item = try #require(try context.objects("Item").first)
            #expect(item.value(forKey: "title") as? String == "bolt")
            #expect(item.value(forKey: "name") as? Int == 7)
        }
    }

    /// Items with the groups that they belong to; items become products of groups.
    private static func items(isNew: Bool) -> NSManagedObjectModel {
        let name = text("name")
        let item = isNew ? entity("Product", was: "Item", name) : entity("Item", name)
        let group = entity("Group", text("name"))
        relate(group, "members", toMany: true, item, inverse: "group")
        relate(group, "friends", toMany: true, item, inverse: "friendsOf", inverseToMany: true)
        item.indexes = index(name)
        return isNew ? model(item, group, entity("Item", text("name"), number("size"))) : model(item, group)
    }

    private static func fill(_ store: MigratedStore) throws {
        try store.open(items(isNew: false)) { context in
            let group = context.insert("Group", ["name": "g"])
            let items = ["a", "b"].map { context.insert("Item", ["name": $0, "group": group]) }
            group.setValue(NSSet(array: items), forKey: "friends")
        }
    }

    private static func expectProducts(_ store: MigratedStore) throws {
        try store.open(items(isNew: true)) { context in
            let products = try context.objects("Product", by: "name")
            #expect(products.map { $0.value(forKey: "name") as? String } == ["a", "b"])
            #expect(products.allSatisfy { $0.value(forKeyPath: "group.name") as? String == "g" })
            let friends = try #require(try context.objects("Group").first).value(forKey: "friends")
            #expect((friends as? Set<NSManagedObject>)?.count == 2)
            let items = try context.objects("Item")
            #expect(items.isEmpty)
        }
    }

    @Test(arguments: StoreKind.persistent) func theOldNameOfAnEntityIsThatOfANewOne(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try Self.fill(store)
        try store.migrate(to: Self.items(isNew: true))
        try Self.expectProducts(store)
    }

    @Test(arguments: StoreKind.persistent) func twoEntitiesExchangeTheirNames(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(model(entity("Cup", text("name")), entity("Glass", text("name"), number("size")))) { context in
            context.insert("Cup", ["name": "c"])
            context.insert("Glass", ["name": "g", "size": 3])
        }
        let new = model(
            entity("Cup", was: "Glass", text("name"), number("size")), entity("Glass", was: "Cup", text("name")))
        try store.migrate(to: new)
        try store.open(new) { context in
            let names = try ["Cup", "Glass"].map { try context.values($0, "name", as: String.self) }
            #expect(names == [["g"], ["c"]])
            let sizes = try context.values("Cup", "size", as: Int.self)
            #expect(sizes == [3])
        }
    }

    // MARK: - What other programs have made

    private static func run(_ sql: String, in store: MigratedStore) throws {
        if store.kind == .sqlite { return try store.file.run(sql) }
        #expect(PostgreSQLTables(store.url).execute(sql))
    }

    private static func value(_ sql: String, in store: MigratedStore) -> String? {
        store.kind == .sqlite ? store.file.value(sql) : PostgreSQLTables(store.url).value(sql)
    }

    @Test(arguments: StoreKind.persistent) func aViewOfATableDoesNotStopTheRenamingOfItsEntity(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try Self.fill(store)
        let (table, column) = kind == .sqlite ? ("ZITEM", "ZNAME") : ("item", "name")
        try Self.run("CREATE VIEW names_of_items AS SELECT \(column) FROM \(table)", in: store)
        try store.open(Self.items(isNew: true)) { _ in }
        try Self.expectProducts(store)
    }

    @Test(arguments: StoreKind.persistent) func aViewOfAColumnDoesNotStopItsRenaming(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try Self.fill(store)
        let (table, column) = kind == .sqlite ? ("ZITEM", "ZNAME") : ("item", "name")
        try Self.run("CREATE VIEW names_of_items AS SELECT \(column) FROM \(table)", in: store)
        let new = Self.items(isNew: false)
        let item = try #require(new.entitiesByName["Item"])
        item.attributesByName["name"]?.renamingIdentifier = "name"
        item.attributesByName["name"]?.name = "title"
        item.properties += [text("name")]
        try store.open(new) { context in
            let names = try ["title", "name"].map { try context.values("Item", $0, by: "title", as: String.self) }
            #expect(names == [["a", "b"], [nil, nil]])
        }
    }

    @Test(arguments: StoreKind.persistent) func entitiesMayHaveNamesLikeThoseOfFormerTables(kind: StoreKind) throws {
        func version(isNew: Bool) -> NSManagedObjectModel {
            let item = isNew ? entity("Item", text("title", was: "name")) : entity("Item", text("name"), text("note"))
            let others = ["FORMER_Item", "FORMER_ZItem", "FORMER_item"].prefix(kind == .sqlite ? 2 : 3)
            return NSManagedObjectModel([item] + others.map { entity($0, text("name"), text("fORMER_name")) })
        }
        let store = try MigratedStore(kind)
        try store.open(version(isNew: false)) { context in
            for entity in version(isNew: false).entities {
                context.insert(entity.name ?? "", ["name": entity.name ?? ""])
            }
        }
        try store.migrate(to: version(isNew: true))
        try store.open(version(isNew: true)) { context in
            for entity in version(isNew: true).entities {
                let name = entity.name ?? ""
                let key = name == "Item" ? "title" : "name"
                let found = try context.values(name, key, as: String.self)
                #expect(found == [name])
            }
        }
    }

    @Test(arguments: StoreKind.persistent) func tablesWithSuchNamesStay(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try Self.fill(store)
        try Self.run("CREATE TABLE FORMER_ITEMS (x int); INSERT INTO FORMER_ITEMS VALUES (5)", in: store)
        try store.open(Self.items(isNew: true)) { _ in }
        #expect(Self.value("SELECT x FROM FORMER_ITEMS", in: store) == "5")
        try Self.expectProducts(store)
    }
}
