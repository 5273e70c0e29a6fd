import CoreData
import TestSupport
import Testing

/// Properties and entities whose names give tables, columns, indexes, constraints or triggers of
/// one name, in a new store and in one that gets them.
struct RepeatedNameTests {
    enum Version: String, CaseIterable {
        case foreignKey, foreignKeysOfTwo, attributesOfTwo, constraint, table, joinTable, key, triggers, position,
            destination, parts

        private func indexed(_ name: String) -> NSAttributeDescription {
            let attribute = text(name)
            attribute.isIndexed = true
            return attribute
        }

        private func count(_ name: String, of relationship: String) -> NSDerivedAttributeDescription {
            let attribute = NSDerivedAttributeDescription()
            attribute.name = name
            attribute.attributeType = .integer64AttributeType
            attribute.isOptional = true
            attribute.derivationExpression = NSExpression(format: "\(relationship).@count")
            return attribute
        }

        /// - Parameter repeats: whether the model has what repeats a name.
        func model(repeats: Bool) -> NSManagedObjectModel {
            let model = entities(repeats: repeats)
            // What only indexes tell apart is another version too.
            for entity in model.entities { entity.versionHashModifier = repeats ? "repeats" : nil }
            return model
        }

        private func entities(repeats: Bool) -> NSManagedObjectModel {
            let item = entity("Item", text("name")), maker = entity("Maker", text("name"))
            switch self {
            case .foreignKey:
                if repeats { item.properties += [indexed("makerID")] }
                relate(maker, "items", toMany: true, item, inverse: "maker")
                return NSManagedObjectModel([item, maker])
            case .foreignKeysOfTwo:
                let user = entity("User", text("name")), profile = entity("UserProfile", text("name"))
                relate(item, "users", toMany: true, user, inverse: "profileImage")
                if repeats { relate(item, "profiles", toMany: true, profile, inverse: "image") }
                return NSManagedObjectModel([item, user, profile])
            case .attributesOfTwo:
                let order = entity("Order", text("name"), indexed("itemCode"))
                let orderItem = entity("OrderItem", text("name"), repeats ? indexed("code") : text("code"))
                return NSManagedObjectModel([order, orderItem])
            case .constraint:
                let code = text("code")
                item.properties += [code]
                item.uniquenessConstraints = [["code"]]
                if repeats {
                    item.indexes = [
                        NSFetchIndexDescription(
                            name: "uniqueCode", elements: [.init(property: code, collationType: .binary)])
                    ]
                }
                return NSManagedObjectModel([item])
            case .table:
                let kit = entity("Kit", text("label"))
                item.subentities = [kit]
                return NSManagedObjectModel([item, kit] + (repeats ? [entity("ItemEntity", text("name"))] : []))
            case .joinTable:
                let own = entity("Ocd", text("name"))
                if repeats { relate(own, "store", toMany: true, item, inverse: "owners", inverseToMany: true) }
                return NSManagedObjectModel([own, item])
            case .key:
                item.properties += [repeats ? indexed("pkey") : text("pkey")]
                return NSManagedObjectModel([item])
            case .triggers:
                let user = entity("User", text("name"), count("profileCount", of: "items"))
                let profile = entity("UserProfile", text("name"))
                relate(user, "items", toMany: true, item, inverse: "user")
                relate(profile, "items", toMany: true, item, inverse: "profile")
                if repeats { profile.properties += [count("count", of: "items")] }
                return NSManagedObjectModel([user, profile, item])
            case .position:
                let album = entity("Album", text("name")), track = entity("Track", text("name"))
                if repeats { track.properties += [number("albumPos")] }
                relate(album, "tracks", toMany: true, ordered: true, track, inverse: "album")
                return NSManagedObjectModel([album, track])
            case .destination:
                let studio = entity("Studio", text("label"))
                maker.subentities = [studio]
                if repeats { item.properties += [indexed("makerEntity")] }
                relate(maker, "items", toMany: true, item, inverse: "maker")
                return NSManagedObjectModel([item, maker, studio])
            case .parts:
                item.properties += [indexed("name_parts")]
                let name = indexed("name")
                if repeats { name.userInfo = ["ocd.search": "trigram"] }
                item.properties = item.properties.filter { $0.name != "name" } + [name]
                return NSManagedObjectModel([item])
            }
        }

        /// Entities in whose objects a value is looked for, with the attributes that have one.
        func fill(_ context: NSManagedObjectContext, repeats: Bool) {
            let model = context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:]
            var objects: [String: [NSManagedObject]] = [:]
            for (name, entity) in model.sorted(by: { $0.key < $1.key }) {
                for number in 0..<3 {
                    let object = context.insert(name)
                    for (key, attribute) in entity.attributesByName where !(attribute is NSDerivedAttributeDescription)
                    {
                        object.setValue(
                            attribute.attributeType == .stringAttributeType ? "\(key) \(number)" : 70 + number,
                            forKey: key)
                    }
                    objects[name, default: []].append(object)
                }
            }
            for (name, entity) in model.sorted(by: { $0.key < $1.key }) {
                for (key, relationship) in entity.relationshipsByName where relationship.isToMany {
                    guard let destinations = objects[relationship.destinationEntity?.name ?? ""],
                        let owner = objects[name]?.first
                    else {
                        continue
                    }
                    // In the other order than that of the keys.
                    let list = Array(destinations.reversed())
                    owner.setValue(
                        relationship.isOrdered ? NSOrderedSet(array: list) as Any : NSSet(array: list), forKey: key)
                }
            }
        }
    }

    /// Every attribute of every object, with the names of what it leads to.
    private func values(_ context: NSManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        for (name, entity) in context.persistentStoreCoordinator?.managedObjectModel.entitiesByName ?? [:] {
            for object in try context.objects(name, by: "name") where object.entity.name == name {
                let attributes = entity.attributesByName.keys.sorted().map {
                    "\($0)=\(object.value(forKey: $0) ?? "nil")"
                }
                let links = entity.relationshipsByName.keys.sorted().map { key -> String in
                    let value = object.value(forKey: key)
                    let many =
                        (value as? NSOrderedSet)?.array ?? (value as? NSSet).map { Array($0) } ?? value.map { [$0] }
                        ?? []
                    let names = many.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String ?? "" }
                    return "\(key)=\(value is NSOrderedSet ? names : names.sorted())"
                }
                lines.append("\(name): " + (attributes + links).joined(separator: " "))
            }
        }
        return lines.sorted()
    }

    @Test(arguments: Version.allCases, StoreKind.persistent) func aNewStoreKeepsThemApart(
        version: Version, kind: StoreKind
    ) throws {
        let store = try MigratedStore(kind)
        let model = version.model(repeats: true)
        let saved = try store.open(model) { context in
            version.fill(context, repeats: true)
            try context.save()
            context.refreshAllObjects()
            return try values(context)
        }
        #expect(saved.count > 2)
        let read = try store.open(model) { context in try values(context) }
        #expect(read == saved)
        if version == .position {
            #expect(saved.first?.contains("tracks=[\"name 2\", \"name 1\", \"name 0\"]") == true, "\(saved)")
            #expect(saved.filter { $0.hasPrefix("Track") }.allSatisfy { $0.contains("albumPos=7") }, "\(saved)")
        }
        if version == .triggers {
            #expect(saved.contains { $0.hasPrefix("UserProfile: count=3") })
            #expect(saved.contains { $0.hasPrefix("User: ") && $0.contains("profileCount=3") })
        }
        if version == .constraint {
            try store.open(model) { context in
                context.insert("Item", ["name": "x", "code": "code 1"])
                let error = try #require(errorThrown { try context.save() })
                #expect(error.code == CocoaError.Code.managedObjectConstraintMerge.rawValue, "\(error)")
                context.rollback()
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.destroyPersistentStore(at: store.url, ofType: kind.type)
        if kind == .postgreSQL { #expect(PostgreSQLTables(store.url).structure.isEmpty) }
    }

    /// The store is then as a new one, and what had a name before still has it where it is alone.
    @Test(arguments: Version.allCases, StoreKind.persistent) func aStoreGetsAndLosesThem(
        version: Version, kind: StoreKind
    ) throws {
        let store = try MigratedStore(kind)
        let before = try store.open(version.model(repeats: false)) { context in
            version.fill(context, repeats: false)
            try context.save()
            context.refreshAllObjects()
            return try values(context)
        }
        for repeats in [true, false] { try store.migrate(to: version.model(repeats: repeats)) }
        let after = try store.open(version.model(repeats: false)) { context in try values(context) }
        #expect(after == before)
        try store.migrate(to: version.model(repeats: true))
        try store.open(version.model(repeats: true)) { context in
            for (name, entity) in version.model(repeats: true).entitiesByName {
                for key in entity.attributesByName.keys
                where entity.attributesByName[key]?.attributeType == .stringAttributeType {
                    for object in try context.objects(name) { object.setValue("\(key) \(UUID())", forKey: key) }
                }
            }
            try context.save()
        }
    }

    /// Names that were always there are those of stores that exist.
    @Test(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server")) func whatIsAloneHasNoNumber() throws
    {
        func names(_ version: Version, repeats: Bool) throws -> [String?] {
            let store = try MigratedStore(.postgreSQL)
            try store.open(version.model(repeats: repeats)) { _ in }
            let tables = PostgreSQLTables(store.url)
            return tables.column(
                """
                SELECT c.relname::text FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_class t ON \
                t.oid = i.indrelid \
                WHERE c.relnamespace = to_regnamespace('"\(tables.schema)"') AND NOT i.indisprimary AND t.relname NOT \
                LIKE 'ocd%' \
                UNION ALL SELECT p.proname::text FROM pg_proc p WHERE p.pronamespace = \
                to_regnamespace('"\(tables.schema)"') \
                AND p.proname NOT LIKE 'ocd%' \
                UNION ALL SELECT c.relname || '.' || a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = \
                a.attrelid WHERE attnum > 0 \
                AND c.relnamespace = to_regnamespace('"\(tables.schema)"') AND c.relkind = 'r' AND a.attname LIKE \
                '%pos%' ORDER BY 1
                """)
        }
        #expect(try names(.foreignKey, repeats: false) == ["item_maker_id"])
        #expect(try names(.foreignKey, repeats: true) == ["item_maker_id", "item_maker_id1"])
        #expect(try names(.constraint, repeats: false) == ["item_unique_code"])
        #expect(try names(.table, repeats: false) == ["item_entity"])
        #expect(try names(.table, repeats: true) == ["item_entity1"])
        #expect(try names(.position, repeats: false) == ["track.album_pos", "track_album_id"])
        #expect(try names(.position, repeats: true) == ["track.album_pos", "track.album_pos1", "track_album_id"])
        let triggers = ["delete", "insert", "own", "update"].map { "user_profile_count_" + $0 }
        #expect(try names(.triggers, repeats: false) == ["item_profile_id", "item_user_id"] + triggers)
        #expect(
            try Set(names(.triggers, repeats: true))
                == Set(
                    ["item_profile_id", "item_user_id"] + triggers
                        + ["delete", "insert", "own", "update"].map { "user_profile_count1_" + $0 }))
    }
}
