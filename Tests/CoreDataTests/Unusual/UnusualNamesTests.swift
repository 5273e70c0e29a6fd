import CoreData
import TestSupport
import Testing

/// Names that SQL knows, that differ in case only, or that have letters beyond ASCII.
struct UnusualNamesTests {
    static let names = [
        "Order", "Group", "Select", "Index", "Table", "Where", "Z", "PK", "Metadata", "PrimaryKey", "Öl", "Straße",
        "日本",
        "_private", "a", "İstanbul", "Ё",
    ]

    private func attributes() -> [NSAttributeDescription] {
        [
            "select", "from", "größe", "order", "group", "values", "Ent", "opt", "pk", "index", "straße", "strasse",
            "limit", "Case",
            "日付", "rowid", "null", "_x", "a1",
        ].map { NSAttributeDescription($0, .stringAttributeType) }
    }

    private func fill(_ object: NSManagedObject, _ prefix: String) {
        for name in object.entity.attributesByName.keys { object.setValue(prefix + name, forKey: name) }
    }

    @Test func everyNameKeepsItsValues() throws {
        let entities = Self.names.map { NSEntityDescription($0, class: "NSManagedObject", attributes()) }
        for (index, entity) in entities.enumerated() {
            relate(entity, "join", toMany: true, entities[(index + 1) % entities.count], inverse: "from_\(index)")
            relate(
                entity, "union", toMany: true, entities[(index + 2) % entities.count], inverse: "all_\(index)",
                inverseToMany: true)
        }
        let stack = try TestStack(entities)
        let context = stack.context
        var objects: [NSManagedObject] = []
        for name in Self.names {
            let object = NSManagedObject(entity: stack.entity(name), insertInto: context)
            fill(object, name)
            objects.append(object)
        }
        for (index, object) in objects.enumerated() {
            object.setValue(NSSet(object: objects[(index + 1) % objects.count]), forKey: "join")
            object.setValue(NSSet(object: objects[(index + 2) % objects.count]), forKey: "union")
        }
        try context.save()

        let other = try TestStack(stack.coordinator.managedObjectModel.copy() as! NSManagedObjectModel, url: stack.url)
        for (index, name) in Self.names.enumerated() {
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.predicate = NSPredicate(
                format: "select == %@ AND group BEGINSWITH %@ AND %K ENDSWITH 'ße'", name + "select", name, "straße")
            request.sortDescriptors = ["order", "größe", "index", "null"].map {
                NSSortDescriptor(key: $0, ascending: true)
            }
            let found = try other.context.fetch(request)
            #expect(found.count == 1, "\(name)")
            let object = try #require(found.first)
            for attribute in object.entity.attributesByName.keys {
                #expect(object.value(forKey: attribute) as? String == name + attribute, "\(name).\(attribute)")
            }
            func names(_ key: String) -> [String?] {
                (object.value(forKey: key) as? Set<NSManagedObject> ?? []).map { $0.entity.name }
            }
            #expect(names("join") == [Self.names[(index + 1) % Self.names.count]])
            #expect(names("union") == [Self.names[(index + 2) % Self.names.count]])
            let through = NSFetchRequest<NSManagedObject>(entityName: name)
            through.predicate = NSPredicate(
                format: "ANY join.order == %@ AND ANY union.values == %@",
                Self.names[(index + 1) % Self.names.count] + "order",
                Self.names[(index + 2) % Self.names.count] + "values")
            #expect(try other.context.count(for: through) == 1, "\(name)")
        }
    }

    @Test func propertiesThatDifferInCaseOnlyAreToldApart() throws {
        let names = ["name", "Name", "NAME", "straße", "strasse"]
        let stack = try TestStack([
            NSEntityDescription(
                "Item", class: "NSManagedObject", names.map { NSAttributeDescription($0, .stringAttributeType) })
        ])
        let item = NSManagedObject(entity: stack.entity("Item"), insertInto: stack.context)
        for name in names { item.setValue(name, forKey: name) }
        try stack.context.save()
        let reader = stack.newContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "name == 'name' AND Name == 'Name' AND NAME == 'NAME'")
        let stored = try #require(try reader.fetch(request).first)
        #expect(names.map { stored.value(forKey: $0) as? String } == names)
    }

    @Test(arguments: [["Item", "item"], ["Straße", "Strasse"], ["_Metadata", "Other"]])
    func entitiesWhoseTablesWouldHaveTheSameNameAreRefused(names: [String]) throws {
        let entities = names.map { NSEntityDescription($0, class: "NSManagedObject", attributes()) }
        let error = try #require(errorThrown { _ = try TestStack(entities) })
        #expect(names.contains { error.localizedDescription.contains("'\($0)'") })
        #expect(error.localizedDescription.contains("table Z"))
    }
}

/// Derived attributes over relationships whose names are no identifiers.
struct UnusualDerivationTests {
    @Test(arguments: ["my pages", "it's", "\"quoted\"", "📚", "a-b", "2nd", "größe 日本", "select"])
    func aModelWithADerivationOverAnyNameIsReadBackFromItsStore(name: String) throws {
        func library() -> NSManagedObjectModel {
            let book = NSEntityDescription(
                "Book", class: "NSManagedObject", [NSAttributeDescription("title", .stringAttributeType)])
            let page = NSEntityDescription(
                "Page", class: "NSManagedObject", [NSAttributeDescription("size", .integer64AttributeType)])
            relate(book, name, toMany: true, page, inverse: "book of " + name)
            func derived(_ attribute: String, _ expression: NSExpression) -> NSDerivedAttributeDescription {
                let derived = NSDerivedAttributeDescription()
                derived.name = attribute
                derived.attributeType = .integer64AttributeType
                derived.derivationExpression = expression
                return derived
            }
            book.properties += [
                derived(name + " count", NSExpression(forKeyPath: name + ".@count")),
                derived("total", NSExpression(forKeyPath: name + ".@sum.size")),
            ]
            return NSManagedObjectModel([book, page])
        }
        let store = try MigratedStore()
        try store.open(library()) { context in
            let pages = [3, 4].map { context.insert("Page", ["size": $0]) }
            context.insert("Book", ["title": "b", name: Set(pages)])
        }
        let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.url)
        #expect(cached.entityVersionHashesByName == library().entityVersionHashesByName)
        let counts = try store.open(cached) { context in
            let book = try #require(context.objects("Book").first)
            (book.value(forKey: name) as? Set<NSManagedObject>)?.first.map(context.delete)
            try context.save()
            context.refreshAllObjects()
            return [name + " count", "title"].map { book.value(forKey: $0).map { "\($0)" } }
        }
        #expect(counts == ["1", "b"])
        #expect(["3", "4"].contains(store.file.value("SELECT ZTOTAL FROM ZBOOK") ?? ""))
    }
}
