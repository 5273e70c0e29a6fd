import CoreData
import TestSupport

/// Parts with every kind of property, and changes of them that depend on nothing but a seed and on
/// what a context shows: the same changes in two places must show the same.
struct Workshop {
    static func model() -> NSManagedObjectModel {
        let drawing = NSAttributeDescription("drawing", .binaryDataAttributeType)
        drawing.allowsExternalBinaryDataStorage = true
        let marks = NSAttributeDescription("marks", .transformableAttributeType)
        marks.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
        let size = NSCompositeAttributeDescription(
            "size", .init("width", .integer32AttributeType), .init("unit", .stringAttributeType, default: "mm"))
        let part = NSEntityDescription(
            "Part", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("count", .integer32AttributeType),
                NSAttributeDescription("price", .decimalAttributeType), drawing, marks, size,
            ])
        let motor = NSEntityDescription(
            "Motor", class: "NSManagedObject", [NSAttributeDescription("power", .doubleAttributeType)])
        part.subentities = [motor]
        relate(part, "pieces", toMany: true, ordered: true, part, inverse: "whole")
        relate(part, "uses", toMany: true, ordered: true, part, inverse: "users", inverseToMany: true)
        relate(part, "spares", toMany: true, deleteRule: .cascadeDeleteRule, part, inverse: "spared")
        return NSManagedObjectModel([part, motor])
    }

    static func coordinator(_ kind: StoreKind, _ folder: TemporaryFolder, _ name: String) throws
        -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil,
            at: kind.url(folder.file("\(name).sqlite")))
        return coordinator
    }

    // MARK: - What a context shows

    static func parts(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Part")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    /// Everything that a context shows, a line for each part.
    static func state(_ context: NSManagedObjectContext) throws -> [String] {
        func name(_ object: Any?) -> String { (object as? NSManagedObject)?.value(forKey: "name") as? String ?? "?" }
        return try parts(context).map { part in
            let drawing = part.value(forKey: "drawing") as? Data
            let ordered = ["pieces", "uses"].map { key in
                "\(key) " + (part.mutableOrderedSetValue(forKey: key).array.map(name)).joined(separator: ",")
            }
            let unordered = ["users", "spares"].map { key in
                "\(key) " + (part.mutableSetValue(forKey: key).allObjects.map(name)).sorted().joined(separator: ",")
            }
            let values =
                ["count", "price", "size.width", "size.unit"].map {
                    "\($0) \(part.value(forKeyPath: $0).map { "\($0)" } ?? "-")"
                }
                + ["drawing \(drawing.map { "\($0.count) of \($0.first ?? 0)" } ?? "-")"]
                + ["marks \((part.value(forKey: "marks") as? [String])?.joined(separator: ",") ?? "-")"]
            let motor = part.entity.name == "Motor" ? ["power \(part.value(forKey: "power") ?? "-")"] : []
            let whole = ["whole", "spared"].map { "\($0) " + (part.value(forKey: $0).map(name) ?? "-") }
            return ([name(part)] + values + motor + whole + ordered + unordered).joined(separator: "; ")
        }
    }

    // MARK: - Changes

    private var random: SeededGenerator
    private var lastNumber: Int

    /// - Parameter firstNumber: what the names of new parts are counted from.
    init(seed: UInt64, firstNumber: Int = 0) {
        random = SeededGenerator(seed: seed)
        lastNumber = firstNumber
    }

    /// Changes something in a context.
    ///
    /// - Returns: what that was.
    @discardableResult
    mutating func change(_ context: NSManagedObjectContext) throws -> String {
        let parts = try Self.parts(context)
        func pick(_ random: inout SeededGenerator) -> NSManagedObject? { parts.randomElement(using: &random) }
        guard parts.count > 2, let part = pick(&random), let other = pick(&random) else {
            insert(context)
            return "insert"
        }
        let kind = Int.random(in: 0..<16, using: &random)
        let description = "\(kind) of \(part.value(forKey: "name") ?? "") with \(other.value(forKey: "name") ?? "")"
        switch kind {
        case 0, 1: insert(context)
        case 2: context.delete(part)
        case 3: part.setValue(Int.random(in: 0..<5, using: &random), forKey: "count")
        case 4:
            part.setValue(
                Bool.random(using: &random) ? nil : Decimal(Int.random(in: 0..<9, using: &random)) / 4, forKey: "price")
        case 5:
            let size = [10, 30, 120_000].randomElement(using: &random) ?? 0
            let byte = UInt8.random(in: 1...9, using: &random)
            part.setValue(
                Int.random(in: 0..<4, using: &random) == 0 ? nil : Data(repeating: byte, count: size), forKey: "drawing"
            )
        case 6:
            let marks = (0..<Int.random(in: 0..<3, using: &random)).map { "m\($0)\(lastNumber)" }
            part.setValue(marks.isEmpty ? nil : marks as NSArray, forKey: "marks")
        case 7: part.setValue(Int.random(in: 0..<9, using: &random), forKeyPath: "size.width")
        case 8: part.setValue(Bool.random(using: &random) ? nil : "cm", forKeyPath: "size.unit")
        case 9: part.setValue(part === other || Bool.random(using: &random) ? nil : other, forKey: "whole")
        case 10, 11: reorder(part.mutableOrderedSetValue(forKey: "pieces"), other === part ? nil : other)
        case 12, 13: reorder(part.mutableOrderedSetValue(forKey: "uses"), other)
        case 14: part.setValue(part === other ? nil : other, forKey: "spared")
        default: other.setValue(NSSet(array: Bool.random(using: &random) ? [] : [part]), forKey: "users")
        }
        return description
    }

    /// Gives a part a number that none has.
    mutating func mark(_ parts: [NSManagedObject], _ number: Int) {
        parts.randomElement(using: &random)?.setValue(1000 + number, forKey: "count")
    }

    private mutating func insert(_ context: NSManagedObjectContext) {
        lastNumber += 1
        let isMotor = Int.random(in: 0..<4, using: &random) == 0
        let part = NSEntityDescription.insertNewObject(forEntityName: isMotor ? "Motor" : "Part", into: context)
        part.setValue("part \(1000 + lastNumber)", forKey: "name")
        if isMotor { part.setValue(Double(lastNumber) / 2, forKey: "power") }
        if Bool.random(using: &random) { part.setValue(["width": lastNumber], forKey: "size") }
    }

    private mutating func reorder(_ set: NSMutableOrderedSet, _ other: NSManagedObject?) {
        let kind = Int.random(in: 0..<4, using: &random)
        let (first, second) = (
            Int.random(in: 0...max(set.count, 0), using: &random), Int.random(in: 0...max(set.count, 0), using: &random)
        )
        if kind == 0 || set.count < 2 {
            guard let other, !set.contains(other) else { return }
            set.insert(other, at: first)
        } else if kind == 1 {
            set.removeObject(at: min(first, set.count - 1))
        } else if kind == 2 {
            set.moveObjects(at: IndexSet(integer: min(first, set.count - 1)), to: min(second, set.count - 1))
        } else {
            set.exchangeObject(at: min(first, set.count - 1), withObjectAt: min(second, set.count - 1))
        }
    }
}
