import CoreData
import TestSupport
import Testing

/// Random changes of single elements: what the rows have, what the history says of them, and what
/// becomes of others' changes.
struct RandomCompositeChangeTests {
    /// The elements by path, with their columns, in declared order.
    private static let elements = [
        ("size.width", "ZWIDTH"), ("size.depth", "ZDEPTH"), ("size.unit.symbol", "ZSYMBOL"), ("other.mark", "ZMARK"),
        ("other.grade", "ZGRADE"),
    ]

    private static func model() -> NSManagedObjectModel {
        let size = NSCompositeAttributeDescription(
            "size", .init("width", .integer32AttributeType, default: 3), .init("depth", .integer64AttributeType),
            NSCompositeAttributeDescription("unit", .init("symbol", .stringAttributeType, default: "m")))
        size.preservesValueInHistoryOnDeletion = true
        let other = NSCompositeAttributeDescription(
            "other", .init("mark", .stringAttributeType), .init("grade", .integer16AttributeType))
        other.defaultValue = ["grade": 7]
        let name = NSAttributeDescription("name", .stringAttributeType)
        name.preservesValueInHistoryOnDeletion = true
        let part = NSEntityDescription(
            "Part", class: "NSManagedObject",
            [name, size, other, NSAttributeDescription("zeal", .integer32AttributeType)])
        let owner = NSEntityDescription(
            "Owner", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        relate(owner, "parts", toMany: true, part, inverse: "owner")
        return NSManagedObjectModel([part, owner])
    }

    private static func coordinator(_ kind: StoreKind, _ url: URL, history: Bool = false) throws
        -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(url),
            options: history ? [NSPersistentHistoryTrackingKey: true] : nil)
        return coordinator
    }

    private struct Random {
        var generator: SeededGenerator

        mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

        /// A value for an element, as the object takes it; nil for none.
        mutating func value(_ path: String) -> Any? {
            if number(0..<5) == 0 { return nil }
            return path.hasSuffix("symbol") || path.hasSuffix("mark")
                ? ["a", "b", "c"][number(0..<3)] as Any : number(0..<4)
        }
    }

    private static func text(_ value: Any?) -> String? { value.map { "\($0)" } }

    // MARK: History

    /// Bits of `ZCOLUMNS`: owner 0; name 1, other 2, size 3, zeal 4.
    private static let bits = ["owner": 0, "name": 1, "other": 2, "size": 3, "zeal": 4]

    @Test(arguments: 1...(LongTests.areEnabled ? 30 : 4))
    func rowsAndHistoryFollowTheElements(_ seed: Int) throws {
        var random = Random(generator: SeededGenerator(seed: UInt64(seed)))
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let coordinator = try Self.coordinator(.sqlite, url, history: true)
        let context = coordinator.newContext()
        let owner = NSEntityDescription.insertNewObject(forEntityName: "Owner", into: context)
        try context.save()
        var objects: [String: NSManagedObject] = [:]
        /// Each element's value as a text; defaults are those of the model.
        var rows: [String: [String: String]] = [:]
        var names: [String: String] = [:]
        /// Type, bits and tombstones of each change.
        var changes: [[String?]] = []
        for step in 0..<120 {
            let key = objects.keys.sorted().randomElement(using: &random.generator)
            switch key == nil ? 0 : random.number(0..<10) {
            case 0, 1:
                let new = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
                var row = ["size.width": "3", "size.unit.symbol": "m", "other.grade": "7"]
                if random.number(0..<2) == 0 {
                    let path = Self.elements[random.number(0..<5)].0
                    let value = random.value(path)
                    new.setValue(value, forKeyPath: path)
                    row[path] = Self.text(value)
                }
                try context.save()
                let id = String(new.objectID.uriRepresentation().lastPathComponent.dropFirst())
                (objects[id], rows[id]) = (new, row)
                changes.append(["0", nil, nil, nil, nil, nil])
            case 2:
                guard let key, let object = objects.removeValue(forKey: key), let row = rows.removeValue(forKey: key)
                else { continue }
                context.delete(object)
                try context.save()
                changes.append(["2", nil, names[key], row["size.width"], row["size.depth"], row["size.unit.symbol"]])
            default:
                guard let key, let object = objects[key] else { continue }
                let before = (rows[key] ?? [:], names[key])
                var changed: Set<String> = []
                for _ in 0...random.number(0..<3) {
                    switch random.number(0..<6) {
                    case 0:
                        names[key] = "n\(step)"
                        object.setValue(names[key], forKey: "name")
                    case 1:
                        object.setValue(nil, forKey: "size")
                        for (path, _) in Self.elements where path.hasPrefix("size") { rows[key]?[path] = nil }
                    case 2:
                        object.setValue(["mark": "w"], forKey: "other")
                        rows[key]?["other.mark"] = "w"
                        rows[key]?["other.grade"] = nil
                    case 3:
                        let isOwned = object.value(forKey: "owner") != nil
                        object.setValue(isOwned ? nil : owner, forKey: "owner")
                        changed.formSymmetricDifference(["owner"])
                    default:
                        let path = Self.elements[random.number(0..<5)].0
                        let value = random.value(path)
                        object.setValue(value, forKeyPath: path)
                        rows[key]?[path] = Self.text(value)
                    }
                }
                for (path, _) in Self.elements where before.0[path] != rows[key]?[path] {
                    changed.insert(String(path.prefix { $0 != "." }))
                }
                if before.1 != names[key] { changed.insert("name") }
                try context.save()
                if changed.isEmpty { continue }
                let set = changed.reduce(0) { $0 | 0x80 >> Self.bits[$1, default: 0] }
                changes.append(["1", String(set, radix: 16, uppercase: true).leftPadded(to: 2), nil, nil, nil, nil])
            }
            #expect(!context.hasChanges)
        }
        let file = SQLiteFile(url)
        let found = file.rows(
            """
            SELECT ZCHANGETYPE, CASE WHEN ZCOLUMNS NOT NULL THEN hex(ZCOLUMNS) END, ZTOMBSTONE0, ZTOMBSTONE1, \
            ZTOMBSTONE2, ZTOMBSTONE3
            FROM ACHANGE WHERE ZENTITY = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Part') ORDER BY Z_PK
            """)
        #expect(found == changes)
        let columns = Self.elements.map(\.1).joined(separator: ", ")
        let stored = file.rows("SELECT Z_PK, ZNAME, \(columns) FROM ZPART ORDER BY Z_PK")
        let expected = rows.sorted { Int($0.key) ?? 0 < Int($1.key) ?? 0 }.map { key, row in
            [key, names[key]] + Self.elements.map { row[$0.0] }
        }
        #expect(stored == expected)
    }

    // MARK: Others' changes

    private static let policies: [NSMergePolicyType] = [
        .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType,
        .rollbackMergePolicyType,
    ]

    /// The elements of a part, as the second path has them: the sqlite3 library, or an object that
    /// knows nothing else.
    private func elements(_ kind: StoreKind, _ url: URL, _ coordinator: NSPersistentStoreCoordinator) throws
        -> [String?]
    {
        if kind == .sqlite {
            return SQLiteFile(url).rows("SELECT \(Self.elements.map(\.1).joined(separator: ", ")) FROM ZPART")[0]
        }
        let context = coordinator.newContext()
        let part = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Part")).first)
        return withExtendedLifetime(context) { Self.elements.map { Self.text(part.value(forKeyPath: $0.0)) } }
    }

    @Test(arguments: StoreKind.allCases, 1...(LongTests.areEnabled ? 60 : 10))
    func eachElementIsMergedByItself(_ kind: StoreKind, _ seed: Int) throws {
        var random = Random(generator: SeededGenerator(seed: UInt64(seed)))
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let coordinator = try Self.coordinator(kind, url)
        let another = kind.isDatabase && seed % 2 == 0 ? try Self.coordinator(kind, url) : coordinator
        let (mine, theirs) = (coordinator.newContext(), another.newContext())
        // Another coordinator's rows are not told of.
        for context in [mine, theirs] { context.stalenessInterval = 0 }
        let part = NSEntityDescription.insertNewObject(forEntityName: "Part", into: mine)
        try mine.save()
        let same = try #require(try theirs.fetch(NSFetchRequest<NSManagedObject>(entityName: "Part")).first)
        for round in 0..<25 {
            let type = Self.policies[random.number(0..<Self.policies.count)]
            mine.mergePolicy = NSMergePolicy(merge: type)
            mine.refreshAllObjects()
            theirs.refreshAllObjects()
            let base = Self.elements.map { Self.text(part.value(forKeyPath: $0.0)) }
            #expect(Self.elements.map { Self.text(same.value(forKeyPath: $0.0)) } == base)
            func change(_ object: NSManagedObject) -> [String?] {
                var now = base
                for _ in 0..<random.number(1..<4) {
                    let index = random.number(0..<Self.elements.count)
                    let value = random.value(Self.elements[index].0)
                    object.setValue(value, forKeyPath: Self.elements[index].0)
                    now[index] = Self.text(value)
                }
                return now
            }
            let (ours, others) = (change(part), change(same))
            try theirs.save()
            try mine.save()
            let expected: [String?]
            if ours == base {
                expected = others
            } else if others == base {
                expected = ours
            } else {
                expected = base.indices.map { index in
                    switch type {
                    case .rollbackMergePolicyType: others[index]
                    case .overwriteMergePolicyType: ours[index]
                    case .mergeByPropertyStoreTrumpMergePolicyType:
                        others[index] != base[index] ? others[index] : ours[index]
                    default: ours[index] != base[index] ? ours[index] : others[index]
                    }
                }
            }
            let found = try elements(kind, url, coordinator)
            #expect(
                found == expected, "seed \(seed), round \(round), \(type): base \(base), others \(others), mine \(ours)"
            )
            // Without a change of its own a context has not looked at the row.
            if ours != base { #expect(Self.elements.map { Self.text(part.value(forKeyPath: $0.0)) } == expected) }
            if found != expected { return }
        }
    }

    // MARK: Custom stores

    @Test(arguments: 1...(LongTests.areEnabled ? 20 : 3))
    func anIncrementalStoreIsGivenAndGivesDictionaries(_ seed: Int) throws {
        var random = Random(generator: SeededGenerator(seed: UInt64(seed)))
        NSPersistentStoreCoordinator.registerStoreClass(ShelfService.self, type: ShelfService.storeType)
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        let store = try #require(
            try coordinator.addPersistentStore(type: ShelfService.storeType, at: folder.file("shelf")) as? ShelfService)
        let context = coordinator.newContext()
        let part = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
        var row: [String?] = ["3", nil, "m", nil, "7"]
        try context.save()
        for _ in 0..<40 {
            let index = random.number(0..<Self.elements.count)
            let value = random.value(Self.elements[index].0)
            part.setValue(value, forKeyPath: Self.elements[index].0)
            if random.number(0..<4) == 0 {
                context.rollback()
            } else {
                row[index] = Self.text(value)
                try context.save()
            }
            let values = try #require(store.records.values.first?.values)
            func kept(_ path: String) -> Any? {
                path.split(separator: ".").reduce(values as Any?) { ($0 as? [String: Any])?[String($1)] }
            }
            #expect(Self.elements.map { Self.text(kept($0.0)) } == row)
            let fresh = coordinator.newContext()
            let read = try fresh.existingObject(with: part.objectID)
            fresh.refresh(read, mergeChanges: false)
            #expect(Self.elements.map { Self.text(read.value(forKeyPath: $0.0)) } == row)
        }
    }
}

extension String {
    fileprivate func leftPadded(to length: Int) -> String {
        String(repeating: "0", count: max(0, length - count)) + self
    }
}
