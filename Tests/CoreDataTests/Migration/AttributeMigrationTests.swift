import CoreData
import TestSupport
import Testing

/// Changes of attributes and entities, done in place.
struct AttributeMigrationTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    @Test(arguments: StoreKind.persistent) func attributesAreAddedAndRemoved(kind: StoreKind) throws {  // 278
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name"), number("count")))) { context in
            for number in 1...3 { context.insert("Item", ["name": "Item \(number)", "count": number]) }
        }
        let new = model(entity("Item", text("name"), text("note"), text("unit", optional: false, default: "kg")))
        try store.migrate(to: new)
        #expect(
            kind != .sqlite
                || store.file.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZNOTE, ZUNIT FROM ZITEM") == [
                    ["1", "1", "1", "Item 1", nil, "kg"], ["2", "1", "1", "Item 2", nil, "kg"],
                    ["3", "1", "1", "Item 3", nil, "kg"],
                ])
        try store.open(new) { context in
            #expect(try context.values("Item", "unit") == ["kg", "kg", "kg"])
            try context.objects("Item", by: "name")[0].setValue("changed", forKey: "note")
        }
        #expect(kind != .sqlite || store.file.value("SELECT ZNOTE FROM ZITEM WHERE Z_PK = 1") == "changed")
    }

    @Test(arguments: StoreKind.persistent)
    func defaultsOfEveryTypeFillNewRequiredAttributes(kind: StoreKind) throws {  // 279
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name")))) { $0.insert("Item", ["name": "a"]) }
        let uuid = UUID(), date = Date(timeIntervalSinceReferenceDate: 12345.5),
            url = try #require(URL(string: "https://example.org"))
        func attribute(_ name: String, _ type: NSAttributeType, _ value: Any) -> NSAttributeDescription {
            NSAttributeDescription(name, type, optional: false, default: value)
        }
        let external = attribute("external", .binaryDataAttributeType, Data([1, 2, 3]))
        external.allowsExternalBinaryDataStorage = true
        let new = model(
            entity(
                "Item", text("name"), attribute("small", .integer16AttributeType, 7),
                attribute("flag", .booleanAttributeType, true),
                attribute("double", .doubleAttributeType, 2.5),
                attribute("decimal", .decimalAttributeType, Decimal(string: "12.25") ?? 0),
                attribute("date", .dateAttributeType, date), attribute("uuid", .UUIDAttributeType, uuid),
                attribute("uri", .URIAttributeType, url), attribute("data", .binaryDataAttributeType, Data([0, 9])),
                external,
                attribute("list", .transformableAttributeType, NSArray(array: ["x"]))))
        try store.migrate(to: new)
        try store.open(new) { context in
            let item = try context.objects("Item")[0]
            #expect(item.value(forKey: "small") as? Int == 7)
            #expect(item.value(forKey: "flag") as? Bool == true)
            #expect(item.value(forKey: "double") as? Double == 2.5)
            #expect(item.value(forKey: "decimal") as? NSDecimalNumber == NSDecimalNumber(string: "12.25"))
            #expect(item.value(forKey: "date") as? Date == date)
            #expect(item.value(forKey: "uuid") as? UUID == uuid)
            #expect(item.value(forKey: "uri") as? URL == url)
            #expect(item.value(forKey: "data") as? Data == Data([0, 9]))
            #expect(item.value(forKey: "external") as? Data == Data([1, 2, 3]))
            #expect((item.value(forKey: "list") as? NSArray)?.firstObject as? String == "x")
        }
    }

    @Test(arguments: StoreKind.persistent)
    func requiredAttributesBecomeOptionalAndOptionalOnesGetTheirDefault(kind: StoreKind) throws {  // 279
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name", optional: false, default: ""), text("unit")))) { context in
            context.insert("Item", ["name": "a", "unit": "l"])
            context.insert("Item", ["name": "b"])
        }
        try store.migrate(to: model(entity("Item", text("name"), text("unit", optional: false, default: "kg"))))
        #expect(kind != .sqlite || store.file.rows("SELECT ZNAME, ZUNIT FROM ZITEM") == [["a", "l"], ["b", "kg"]])
    }

    @Test(arguments: StoreKind.persistent)
    func renamedEntitiesAndAttributesKeepTheirValues(kind: StoreKind) throws {  // 280
        let store = try MigratedStore(kind)
        try store.open(model(entity("Car", text("color")))) { $0.insert("Car", ["color": "red"]) }
        try store.migrate(to: model(entity("Automobile", was: "Car", text("paint", was: "color"))))
        #expect(kind != .sqlite || store.file.rows("SELECT Z_PK, ZPAINT FROM ZAUTOMOBILE") == [["1", "red"]])
        #expect(kind != .sqlite || store.file.value("SELECT count(*) FROM sqlite_master WHERE name = 'ZCAR'") == "0")
    }

    @Test(arguments: StoreKind.persistent) func aRenamingIdentifierIsGoodForSkippedVersionsToo(kind: StoreKind) throws
    {  // 280
        let first = model(entity("Car", text("color")))
        let second = model(entity("Automobile", was: "Car", text("paint", was: "color")))
        let third = model(entity("Vehicle", was: "Car", text("tint", was: "color")))
        for versions in [[first, second, third], [first, third]] {
            let store = try MigratedStore(kind)
            try store.open(versions[0].copy() as! NSManagedObjectModel) { $0.insert("Car", ["color": "red"]) }
            for version in versions.dropFirst() { try store.migrate(to: version.copy() as! NSManagedObjectModel) }
            #expect(kind != .sqlite || store.file.rows("SELECT Z_PK, ZTINT FROM ZVEHICLE") == [["1", "red"]])
        }
    }

    @Test(arguments: StoreKind.persistent)
    func aNewEntityMayHaveTheFormerNameOfARenamedOne(kind: StoreKind) throws {  // 280
        let store = try MigratedStore(kind)
        try store.open(model(entity("Item", text("name")))) { $0.insert("Item", ["name": "old"]) }
        let new = model(entity("Product", was: "Item", text("name")), entity("Item", text("name")))
        try store.migrate(to: new)
        #expect(kind != .sqlite || store.file.column("SELECT ZNAME FROM ZPRODUCT") == ["old"])
        #expect(kind != .sqlite || store.file.integer("SELECT count(*) FROM ZITEM") == 0)
    }

    @Test(arguments: StoreKind.persistent)
    func addingAndRemovingEntitiesRenumbersTheOthers(kind: StoreKind) throws {  // 278
        let store = try MigratedStore(kind)
        try store.open(model(entity("B", text("name")), entity("D", text("name")))) { context in
            context.insert("B", ["name": "b"])
            context.insert("D", ["name": "d"])
        }
        try store.migrate(to: model(entity("A", text("name")), entity("C", text("name")), entity("D", text("name"))))
        #expect(kind != .sqlite || store.file.rows("SELECT Z_PK, Z_ENT, ZNAME FROM ZD") == [["1", "3", "d"]])
        #expect(kind != .sqlite || store.file.value("SELECT count(*) FROM sqlite_master WHERE name = 'ZB'") == "0")
    }

    @Test(arguments: StoreKind.persistent) func numbersBecomeWider(kind: StoreKind) throws {
        let store = try MigratedStore(kind)
        try store.open(
            model(entity("Item", number("count", .integer16AttributeType), number("size", .floatAttributeType)))
        ) {
            $0.insert("Item", ["count": 32000, "size": 1.5])
        }
        let new = model(entity("Item", number("count", .integer64AttributeType), number("size", .doubleAttributeType)))
        try store.migrate(to: new)
        let counts = try store.open(new) { try $0.values("Item", "count", as: Int.self) }
        #expect(counts == [32000])
    }

    /// A number keeps its value in each type that holds it, and the new table is that of a new
    /// store.
    @Test(arguments: StoreKind.persistent) func numbersOfOneTypeBecomeThoseOfAnother(kind: StoreKind) throws {
        let changes: [(NSAttributeType, Any, NSAttributeType)] = [
            (.booleanAttributeType, true, .integer32AttributeType),
            (.booleanAttributeType, true, .integer16AttributeType),
            (.booleanAttributeType, true, .decimalAttributeType), (.booleanAttributeType, true, .doubleAttributeType),
            (.integer64AttributeType, 1 << 40, .doubleAttributeType),
            (.integer64AttributeType, 1 << 40, .decimalAttributeType),
            (.integer32AttributeType, -70000, .doubleAttributeType), (.integer16AttributeType, 12, .floatAttributeType),
        ]
        for (old, value, new) in changes {
            let store = try MigratedStore(kind)
            try store.open(model(entity("Item", NSAttributeDescription("former", old)))) { context in
                context.insert("Item", ["former": value])
                context.insert("Item")
            }
            func version() -> NSManagedObjectModel {
                let attribute = NSAttributeDescription("now", new)
                attribute.renamingIdentifier = "former"
                return model(entity("Item", attribute))
            }
            try store.migrate(to: version())
            let found = try store.open(version()) { context in
                try context.objects("Item").compactMap { ($0.value(forKey: "now") as? NSNumber)?.int64Value }
            }
            #expect(found == [(value as? NSNumber)?.int64Value ?? 1], "\(old) to \(new)")
            if kind == .sqlite {
                let fresh = try MigratedStore()
                try fresh.open(version()) { _ in }
                let table = "name = 'ZITEM'"
                #expect(store.file.schemaByName(where: table) == fresh.file.schemaByName(where: table))
            }
        }
    }

    @Test(arguments: StoreKind.persistent) func keysAreNotHandedOutAgain(kind: StoreKind) throws {  // 278
        let store = try MigratedStore(kind)
        let old = model(entity("Item", text("name")))
        try store.open(old) { context in
            let items = (1...5).map { context.insert("Item", ["name": "\($0)"]) }
            try context.save()
            for item in items.suffix(2) { context.delete(item) }
        }
        #expect(kind != .sqlite || store.file.integer("SELECT Z_MAX FROM Z_PRIMARYKEY") == 5)
        let new = model(entity("Thing", was: "Item", text("name"), text("note")))
        try store.migrate(to: new)
        #expect(kind != .sqlite || store.file.integer("SELECT Z_MAX FROM Z_PRIMARYKEY") == 5)
        try store.open(new) { $0.insert("Thing", ["name": "new"]) }
        #expect(kind != .sqlite || store.file.integer("SELECT Z_PK FROM ZTHING WHERE ZNAME = 'new'") == 6)
    }

    @Test func externalFilesStayAndThoseOfRemovedAttributesGo() throws {
        func version(_ names: String...) -> NSManagedObjectModel {
            model(
                entity("Item", text("name"))
            ).adding(
                names.map { name in
                    let attribute = NSAttributeDescription(name, .binaryDataAttributeType)
                    attribute.allowsExternalBinaryDataStorage = true
                    return attribute
                })
        }
        let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        try store.open(version("photo", "scan")) { $0.insert("Item", ["name": "a", "photo": large, "scan": large]) }
        let files = store.folder.file(".store_SUPPORT/_EXTERNAL_DATA").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: files).count == 2)
        let new = version("photo", "extra")
        try store.migrate(to: new)
        #expect(try FileManager.default.contentsOfDirectory(atPath: files).count == 1)
        let photos = try store.open(new) { try $0.values("Item", "photo", by: "name", as: Data.self) }
        #expect(photos == [large])
    }

    @Test(arguments: StoreKind.persistent, [true, false]) func dataMovesInAndOutOfExternalStorage(
        kind: StoreKind, toExternal: Bool
    ) throws {
        let store = try MigratedStore(kind)
        func version(_ external: Bool) -> NSManagedObjectModel {
            let attribute = NSAttributeDescription("data", .binaryDataAttributeType)
            attribute.allowsExternalBinaryDataStorage = external
            return model(entity("Item", number("index"), attribute))
        }
        let values = [
            Data([1, 2]), Data(), Data([2, 65, 0]), Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 * 7) }),
        ]
        try store.open(version(!toExternal)) { context in
            for (index, value) in values.enumerated() { context.insert("Item", ["index": index, "data": value]) }
            context.insert("Item", ["index": 9])
        }
        let new = version(toExternal)
        try store.migrate(to: new)
        let migrated = try store.open(new) { try $0.values("Item", "data", by: "index", as: Data.self) }
        #expect(migrated == values + [nil])
        if !toExternal {
            let files = try? FileManager.default.contentsOfDirectory(
                atPath: store.folder.file(".store_SUPPORT/_EXTERNAL_DATA").path)
            #expect(files?.isEmpty != false)
        }
    }

    /// Only binary data can lie in files of its own, whatever the model says of other attributes.
    @Test(arguments: StoreKind.persistent, [true, false])
    func otherValuesStayWhatTheyAreWithExternalStorage(kind: StoreKind, toExternal: Bool) throws {
        let store = try MigratedStore(kind)
        func version(_ external: Bool) -> NSManagedObjectModel {
            let note = text("note", optional: false, default: "none"), count = number("count")
            for attribute in [note, count] { attribute.allowsExternalBinaryDataStorage = external }
            return model(entity("Item", note, count))
        }
        try store.open(version(!toExternal)) { $0.insert("Item", ["note": "abc", "count": 5]) }
        let new = version(toExternal)
        try store.migrate(to: new)
        #expect(
            kind != .sqlite
                || store.file.rows("SELECT ZNOTE, typeof(ZNOTE), ZCOUNT FROM ZITEM") == [["abc", "text", "5"]])
        try store.open(new) { context in
            let item = try context.objects("Item")[0]
            #expect(item.value(forKey: "note") as? String == "abc")
            #expect(item.value(forKey: "count") as? Int == 5)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "note == 'abc' AND count == 5")
            #expect(try context.count(for: request) == 1)
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.propertiesToUpdate = ["note": "def"]
            try context.execute(update)
        }
        #expect(try store.open(new) { try $0.values("Item", "note", as: String.self) } == ["def"])
    }

    @Test(.foldsTexts, arguments: StoreKind.persistent)
    func derivedAttributesAreComputed(kind: StoreKind) throws {  // 328
        let store = try MigratedStore(kind)
        func version(derived: Bool) -> NSManagedObjectModel {
            let author = entity("Author", text("name"))
            let book = entity("Book", text("title"))
            relate(author, "books", toMany: true, book, inverse: "author")
            if derived {
                func attribute(_ name: String, _ type: NSAttributeType, _ text: String) -> NSDerivedAttributeDescription
                {
                    let attribute = NSDerivedAttributeDescription()
                    attribute.name = name
                    attribute.attributeType = type
                    attribute.derivationExpression = NSExpression(format: text)
                    return attribute
                }
                author.properties += [
                    attribute("bookCount", .integer64AttributeType, "books.@count"),
                    attribute("upper", .stringAttributeType, "uppercase:(name)"),
                    attribute("changed", .dateAttributeType, "now()"),
                ]
                book.properties += [attribute("authorName", .stringAttributeType, "author.name")]
            }
            return model(author, book)
        }
        try store.open(version(derived: false)) { context in
            for (index, name) in ["Ann", "Bob"].enumerated() {
                let author = context.insert("Author", ["name": name])
                for number in 0..<index + 1 { context.insert("Book", ["title": "\(number)", "author": author]) }
            }
        }
        let new = version(derived: true)
        try store.migrate(to: new)
        #expect(
            kind != .sqlite
                || store.file.rows("SELECT ZBOOKCOUNT, ZUPPER FROM ZAUTHOR ORDER BY ZNAME") == [
                    ["1", "ANN"], ["2", "BOB"],
                ])
        #expect(
            kind != .sqlite || store.file.column("SELECT DISTINCT ZAUTHORNAME FROM ZBOOK ORDER BY 1") == ["Ann", "Bob"])
        #expect(kind != .sqlite || store.file.integer("SELECT count(*) FROM ZAUTHOR WHERE ZCHANGED IS NULL") == 0)
        try store.open(new) { context in
            let bob = try context.objects("Author", by: "name")[1]
            context.insert("Book", ["title": "new", "author": bob])
            try context.save()
            context.refreshAllObjects()
            #expect(bob.value(forKey: "bookCount") as? Int == 3)
        }
    }

    @Test func theStoreKeepsItsIdentityAndTheProgramsMetadata() throws {  // 301
        try store.open(model(entity("Item", text("name")))) { context in
            let coordinator = try #require(context.persistentStoreCoordinator)
            let open = coordinator.persistentStores[0]
            coordinator.setMetadata((coordinator.metadata(for: open)).merging(["mine": "kept"]) { $1 }, for: open)
            context.insert("Item")
        }
        func metadata() throws -> [String: Any] {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: store.url)
        }
        let uuid = try metadata()[NSStoreUUIDKey] as? String
        try store.migrate(to: model(entity("Item", text("name"), text("note"))))
        let migrated = try metadata()
        #expect(uuid != nil)
        #expect(migrated[NSStoreUUIDKey] as? String == uuid)
        #expect(migrated["mine"] as? String == "kept")
    }
}

extension NSManagedObjectModel {
    /// Adds attributes to the first entity.
    fileprivate func adding(_ attributes: [NSAttributeDescription]) -> NSManagedObjectModel {
        entities[0].properties += attributes
        return self
    }
}
