import CoreData
import TestSupport
import Testing

/// The same changes as batches, in stores of each kind, and by hand with objects in another file:
/// all of them must hold the same.
struct RandomBatchTests {
    private struct Trial {
        let batches: [BatchStack]
        let byHand: BatchStack
        var generator: SeededGenerator

        init(seed: UInt64) throws {
            generator = SeededGenerator(seed: seed)
            var rules = Warehouse.Rules()
            // Batches look at nothing that is required.
            rules.requiresName = false
            let cascades = Bool.random(using: &generator)
            if cascades { rules.itemsOfCategory = .cascadeDeleteRule }
            if Bool.random(using: &generator) { rules.certificateOfItem = .cascadeDeleteRule }
            if Bool.random(using: &generator) { rules.labelsOfItem = .cascadeDeleteRule }
            let options: [AnyHashable: Any]? =
                Bool.random(using: &generator) ? [NSPersistentHistoryTrackingKey: true] : nil
            batches = try StoreKind.allCases.map {
                try Warehouse.stack($0, rules, options: options)
            }
            byHand = try Warehouse.stack(.sqlite, rules)
            for stack in batches + [byHand] { stack.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        }

        mutating func pick<Element>(_ elements: [Element]) -> Element {
            elements[Int.random(in: 0..<elements.count, using: &generator)]
        }

        // MARK: Steps

        mutating func step() throws -> String {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5: try insert()
            case 5..<8: try update()
            default: try delete()
            }
        }

        /// Rows by the names of properties; a category stands by its title.
        private mutating func rows() -> [[String: Any]] {
            (0..<Int.random(in: 1...6, using: &generator)).map { _ in
                var row: [String: Any] = ["sku": "s\(Int.random(in: 0..<14, using: &generator))"]
                if Bool.random(using: &generator) { row["name"] = pick(["Nail", "Screw", "Größe", ""]) }
                if Bool.random(using: &generator) { row["stock"] = Int.random(in: -3...40, using: &generator) }
                if Bool.random(using: &generator) {
                    row["price"] = Decimal(Int.random(in: 0...400, using: &generator)) / 4
                }
                if Bool.random(using: &generator) { row["category"] = pick(["Tools", "Glass", ""]) }
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    let size = Bool.random(using: &generator) ? 150_000 : 10
                    row["photo"] = Data(repeating: UInt8.random(in: 0...9, using: &generator), count: size)
                }
                return row
            }
        }

        /// A value for a property: of a category's title the category or its ID.
        private static func value(_ value: Any, _ context: NSManagedObjectContext, asID: Bool) throws -> Any? {
            guard let title = value as? String, ["Tools", "Glass", ""].contains(title) else { return value }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Category")
            request.predicate = NSPredicate(format: "title == %@", title)
            let found = try context.fetch(request).first
            return asID ? found?.objectID : found
        }

        private mutating func insert() throws -> String {
            let rows = rows()
            for stack in batches {
                let dictionaries = try rows.map { row in
                    var dictionary = row
                    if let title = row["category"] {
                        dictionary["category"] = try Self.value(title, stack.context, asID: true) ?? NSNull()
                    }
                    return dictionary
                }
                try stack.context.execute(NSBatchInsertRequest(entityName: "Item", objects: dictionaries))
            }
            let context = byHand.newContext()
            for row in rows {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: "sku == %@", row["sku"] as? String ?? "")
                let item =
                    try context.fetch(request).first
                    ?? NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                for (name, value) in row {
                    item.setValue(
                        name == "category" ? try Self.value(value, context, asID: false) : value, forKey: name)
                }
            }
            try context.save()
            return "insert \(rows.map { $0.filter { $0.key != "photo" } })"
        }

        private mutating func predicate() -> String? {
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: nil
            case 1: "stock > \(Int.random(in: 0...30, using: &generator))"
            case 2: "category.title == '\(pick(["Tools", "Glass"]))'"
            case 3:
                "sku IN {'s\(Int.random(in: 0..<7, using: &generator))', "
                    + "'s\(Int.random(in: 7..<14, using: &generator))', 'a'}"
            case 4: "ANY labels.text == '\(pick(["new", "old"]))'"
            case 5: "price >= 10 OR name == 'Nail'"
            default: "category == nil"
            }
        }

        private mutating func update() throws -> String {
            let predicate = predicate()
            let number = Int.random(in: 0...5, using: &generator)
            let photo = Data(repeating: UInt8(number), count: Bool.random(using: &generator) ? 150_000 : 10)
            let title = pick(["Tools", "Glass", ""])
            let name = StoreKind.foldTexts ? "uppercase:(name)" : "sku"
            func properties(_ context: NSManagedObjectContext) throws -> [AnyHashable: Any] {
                switch number {
                case 0: ["stock": NSExpression(format: "stock + 3"), "name": NSExpression(format: name)]
                case 1: ["stock": 7, "price": NSNull()]
                case 2: ["category": try Self.value(title, context, asID: true) ?? NSNull()]
                case 3: ["name": NSExpression(format: "category.title")]
                case 4: ["photo": photo]
                default: ["stock": NSExpression(format: "labels.@count + 1")]
                }
            }
            for stack in batches {
                let request = NSBatchUpdateRequest(entityName: "Item")
                request.predicate = predicate.map { NSPredicate(format: $0) }
                request.propertiesToUpdate = try properties(stack.context)
                try stack.context.execute(request)
            }
            let context = byHand.newContext()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = predicate.map { NSPredicate(format: $0) }
            let category = try Self.value(title, context, asID: false)
            for item in try context.fetch(request) {
                switch number {
                case 0:
                    if let stock = item.value(forKey: "stock") as? Int { item.setValue(stock + 3, forKey: "stock") }
                    let name = item.value(forKey: StoreKind.foldTexts ? "name" : "sku") as? String
                    item.setValue(StoreKind.foldTexts ? name?.uppercased() : name, forKey: "name")
                case 1: item.setValuesForKeys(["stock": 7, "price": NSNull()])
                case 2: item.setValue(category, forKey: "category")
                case 3: item.setValue(item.value(forKeyPath: "category.title"), forKey: "name")
                case 4: item.setValue(photo, forKey: "photo")
                default: item.setValue((item.value(forKeyPath: "labels.@count") as? Int ?? 0) + 1, forKey: "stock")
                }
            }
            try context.save()
            return "update \(number) where \(predicate ?? "all")"
        }

        private mutating func delete() throws -> String {
            let isOfCategories = Int.random(in: 0..<6, using: &generator) == 0
            let entity = isOfCategories ? "Category" : pick(["Item", "Item", "Fragile", "Certificate"])
            var predicate = predicate()
            if isOfCategories { predicate = "title == '\(pick(["Tools", "Glass"]))'" }
            if entity == "Certificate" { predicate = "item.stock > 20" }
            let byIDs = Bool.random(using: &generator)
            for stack in batches {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.predicate = predicate.map { NSPredicate(format: $0) }
                let isOfOne = entity != "Item"
                let context = stack.newContext()
                let objectIDs = try context.fetch(request).map(\.objectID)
                try stack.context.execute(
                    byIDs && isOfOne
                        ? NSBatchDeleteRequest(objectIDs: objectIDs) : NSBatchDeleteRequest(fetchRequest: request))
            }
            let context = byHand.newContext()
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = predicate.map { NSPredicate(format: $0) }
            for object in try context.fetch(request) { context.delete(object) }
            try context.save()
            return "delete \(entity) where \(predicate ?? "all")"
        }

        // MARK: Comparing

        private static func contents(_ stack: BatchStack) throws -> [String] {
            func lines(_ entity: String, _ keys: [String]) throws -> [String] {
                let context = stack.newContext()
                return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                    let values = keys.map { key -> String in
                        let value = object.value(forKeyPath: key)
                        if let photo = value as? Data { return "\(photo.count) x \(photo.first ?? 0)" }
                        let text =
                            (value as? NSSet).map { "\($0.allObjects.map { "\($0)" }.sorted())" }
                            ?? value.map { "\($0)" }
                        return text ?? "nil"
                    }
                    return "\(object.entity.name ?? "") \(values)"
                }.sorted()
            }
            return try lines(
                "Item",
                ["sku", "name", "stock", "price", "category.title", "labels.text", "photo", "certificate.item.sku"]
                    + (StoreKind.foldTexts ? ["upperName"] : []))
                + lines("Category", ["title", "itemCount", "items.sku"]) + lines("Label", ["text", "items.sku"])
                + lines("Certificate", ["item.sku"])
        }

        /// Dangling references in a file, and the problems that the file's own checks find.
        private static func damage(_ stack: BatchStack) -> [String?] {
            let file = stack.file
            let join = file.value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'") ?? ""
            let columns = file.column("SELECT name FROM pragma_table_info('\(join)') ORDER BY name")
            let owners = columns.compactMap { $0 }.map { column in
                let table = column.hasSuffix("LABELS") ? "ZLABEL" : "ZITEM"
                return "SELECT 'pair' FROM \"\(join)\" WHERE \"\(column)\" NOT IN (SELECT Z_PK FROM \(table))"
            }
            return file.column(
                ([
                    "SELECT 'category' FROM ZITEM WHERE ZCATEGORY IS NOT NULL AND ZCATEGORY NOT IN (SELECT Z_PK FROM "
                        + "ZCATEGORY)",
                    "SELECT 'certificate' FROM ZITEM WHERE ZCERTIFICATE IS NOT NULL AND ZCERTIFICATE NOT IN (SELECT "
                        + "Z_PK FROM ZCERTIFICATE)",
                    "SELECT 'item' FROM ZCERTIFICATE WHERE ZITEM IS NOT NULL AND ZITEM NOT IN (SELECT Z_PK FROM ZITEM)",
                    "SELECT 'Z_MAX' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item' AND Z_MAX < (SELECT max(Z_PK) FROM ZITEM)",
                ] + owners).joined(separator: " UNION ALL "))
                + file.column("PRAGMA integrity_check").filter { $0 != "ok" }
        }

        func check(_ steps: [String]) throws -> Bool {
            let expected = try Self.contents(byHand)
            for (stack, kind) in zip(batches, StoreKind.allCases) {
                let found = try Self.contents(stack)
                guard found == expected else {
                    Issue.record(
                        """
                        \(kind): \(Set(found).symmetricDifference(expected).sorted())
                        \(steps.joined(separator: "\n"))
                        """
                    )
                    return false
                }
            }
            let damage = StoreKind.allCases.first == .sqlite ? Self.damage(batches[0]) : []
            #expect(damage.isEmpty, "\(steps.joined(separator: "\n"))")
            return damage.isEmpty
        }
    }

    @Test(arguments: 1...(LongTests.areEnabled ? 400 : 5)) func batchesAndObjectsMakeTheSameChanges(seed: Int) throws {
        var trial = try Trial(seed: UInt64(seed))
        var steps: [String] = []
        for _ in 0..<10 {
            steps.append(try trial.step())
            guard try trial.check(steps) else { return }
        }
    }
}
