import CoreData
import TestSupport
import Testing

/// Random predicates on elements, on every kind of store and on objects.
struct RandomCompositeTests {
    private static func model() -> NSManagedObjectModel {
        NSManagedObjectModel([
            NSEntityDescription(
                "Part", class: "NSManagedObject",
                [
                    NSAttributeDescription("serial", .integer64AttributeType),
                    NSCompositeAttributeDescription(
                        "size", .init("width", .integer32AttributeType), .init("depth", .doubleAttributeType),
                        NSCompositeAttributeDescription(
                            "unit", .init("symbol", .stringAttributeType), .init("exact", .booleanAttributeType))),
                    NSCompositeAttributeDescription(
                        "other", .init("width", .integer32AttributeType), .init("made", .dateAttributeType)),
                ])
        ])
    }

    private struct Texts {
        var random: SeededGenerator

        mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

        mutating func pick(_ texts: [String]) -> String { texts[Int.random(in: 0..<texts.count, using: &random)] }

        mutating func value() -> [String: Any]? {
            if chance(20) { return nil }
            var size: [String: Any] = [:]
            if chance(70) { size["width"] = Int.random(in: 0...4, using: &random) }
            if chance(70) { size["depth"] = Double(Int.random(in: 0...6, using: &random)) / 2 }
            if chance(60) {
                size["unit"] =
                    chance(50)
                    ? ["symbol": pick(["m", "cm", "M"])] : ["symbol": pick(["m", "km"]), "exact": chance(50)]
            }
            return size
        }

        mutating func other() -> [String: Any]? {
            if chance(30) { return nil }
            var other: [String: Any] = ["width": Int.random(in: 0...4, using: &random)]
            if chance(50) {
                other["made"] = Date(timeIntervalSinceReferenceDate: Double(Int.random(in: 0...3, using: &random)))
            }
            return other
        }

        mutating func comparison() -> String {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: return "\(pick(["size", "size.unit", "other"])) \(pick(["==", "!="])) nil"
            case 1:
                return
                    "\(pick(["size.width", "size.depth", "size.unit.symbol", "other.made"])) \(pick(["==", "!="])) nil"
            case 2, 3:
                return
                    "\(pick(["size.width", "other.width", "serial"])) \(pick(["<", "<=", ">", ">=", "==", "!="])) "
                    + "\(pick(["0", "1", "2", "3"]))"
            case 4: return "size.depth \(pick(["<", ">=", "==", "!="])) \(pick(["0.5", "1.0", "2.5"]))"
            case 5:
                return
                    "size.unit.symbol \(pick(["==", "!=", "==[c]", "BEGINSWITH", "CONTAINS", "ENDSWITH"])) "
                    + "\(pick(["'m'", "'cm'", "'k'"]))"
            case 6: return "size.width \(pick(["<", "==", "!=", ">="])) other.width"
            case 7: return "size.width IN {\(pick(["0", "1"])), \(pick(["2", "3"]))}"
            case 8: return "size.unit.exact == \(pick(["YES", "NO"]))"
            default: return "size.width BETWEEN {\(pick(["0", "1"])), \(pick(["2", "3"]))}"
            }
        }

        mutating func predicate(_ depth: Int = 0) -> String {
            if depth == 3 || chance(40) { return comparison() }
            if chance(25) { return "NOT (\(predicate(depth + 1)))" }
            return "(\(predicate(depth + 1)) \(pick(["AND", "OR"])) \(predicate(depth + 1)))"
        }
    }

    @Test(.foldsTexts, arguments: LongTests.some(1, of: [1, 2, 3, 4] as [UInt64]))
    func storesAndObjectsAgree(_ seed: UInt64) throws {
        var texts = Texts(random: SeededGenerator(seed: seed))
        let folder = try TemporaryFolder()
        let kinds = StoreKind.allCases
        let contexts = try kinds.map { kind in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
            return coordinator.newContext()
        }
        defer { withExtendedLifetime(contexts) {} }
        for serial in 0..<60 {
            let (size, other) = (texts.value(), texts.other())
            for context in contexts {
                let part = NSEntityDescription.insertNewObject(forEntityName: "Part", into: context)
                part.setValue(serial, forKey: "serial")
                part.setValue(size, forKey: "size")
                part.setValue(other, forKey: "other")
            }
        }
        for context in contexts { try context.save() }
        let all = try contexts.map { try $0.fetch(NSFetchRequest<NSManagedObject>(entityName: "Part")) }
        func serials(_ objects: [NSManagedObject]) -> [Int] {
            objects.compactMap { $0.value(forKey: "serial") as? Int }
        }
        for _ in 0..<150 {
            let format = texts.predicate()
            let key = texts.pick(["size.width", "size.depth", "other.made", "size.unit.exact"])
            let results = try contexts.map { context in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
                request.predicate = NSPredicate(format: format)
                request.sortDescriptors = [
                    NSSortDescriptor(key: key, ascending: true), NSSortDescriptor(key: "serial", ascending: true),
                ]
                return serials(try context.fetch(request))
            }
            for (kind, result) in zip(kinds, results) { #expect(result == results[0], "\(format) by \(key), \(kind)") }
            let predicate = NSPredicate(format: format)
            #expect(
                results[0].sorted() == serials(all[0].filter { predicate.evaluate(with: $0) }).sorted(), "\(format)")
        }
        let parts = all.map { $0.sorted { serials([$0])[0] < serials([$1])[0] } }
        for key in ["size", "other"] {
            let values = parts.map { parts in
                parts.map {
                    $0.value(forKey: key) as? NSDictionary
                        ?? ($0.value(forKey: key) as? [String: Any]).map { $0 as NSDictionary }
                }
            }
            for (kind, dictionaries) in zip(kinds, values) { #expect(dictionaries == values[0], "\(key), \(kind)") }
        }
    }
}
