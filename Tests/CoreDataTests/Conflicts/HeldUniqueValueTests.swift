import CoreData
import TestSupport
import Testing

/// Two changed objects of one context that would have the same unique values, which the row of one
/// of them has already: it stays, and the save ends.
@Suite(.everyStore) struct HeldUniqueValueTests {
    private static let policies: [NSMergePolicyType] = [
        .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        .overwriteMergePolicyType, .rollbackMergePolicyType,
    ]

    private let stack: TestStack
    private let context: NSManagedObjectContext
    private let boxes: [NSManagedObject]

    init() throws {
        let box = NSEntityDescription(
            "Box", class: "NSManagedObject",
            [.init("name", .stringAttributeType), .init("number", .integer32AttributeType)])
        box.uniquenessConstraints = [["number"]]
        relate(box, "inner", toMany: true, box, inverse: "outer")
        stack = try TestStack([box])
        context = stack.context
        boxes = (0..<4).map { [stack, context] number in
            let box = NSManagedObject(entity: stack.entity("Box"), insertInto: context)
            box.setValuesForKeys(["name": "box \(number)", "number": number])
            return box
        }
        try context.save()
    }

    /// Name, number and outer box of each box as the store has them.
    private func rows() throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Box")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let reader = stack.newContext()
        let rows = try reader.fetch(request)
        #expect(RelationshipEnds.problems(among: rows) == [])
        return rows.map { row in
            ["name", "number", "outer.name"].map { row.value(forKeyPath: $0).map { "\($0)" } ?? "-" }
                .joined(separator: " ")
        }
    }

    private func saveAndCompare(_ expected: [String]) throws {
        try context.save()
        #expect(try rows() == expected)
        #expect(!context.hasChanges)
        #expect(RelationshipEnds.problems(among: boxes) == [])
    }

    @Test(arguments: policies, [true, false])
    func theObjectWhoseRowHasTheValueKeepsItsChange(type: NSMergePolicyType, changesItFirst: Bool) throws {
        context.mergePolicy = NSMergePolicy(merge: type)
        if changesItFirst { boxes[1].setValue("new", forKey: "name") }
        boxes[3].setValue(1, forKey: "number")
        boxes[3].setValue("gone", forKey: "name")
        if !changesItFirst { boxes[1].setValue("new", forKey: "name") }
        try saveAndCompare(["box 0 0 -", "new 1 -", "box 2 2 -", "box 3 3 -"])
    }

    /// A to-many relationship has no column: the row takes part in the save for its version alone.
    @Test(arguments: policies) func theOneWhoseRowHasTheValueGainsTheOther(type: NSMergePolicyType) throws {
        context.mergePolicy = NSMergePolicy(merge: type)
        boxes[3].setValue(1, forKey: "number")
        boxes[1].mutableSetValue(forKey: "inner").add(boxes[3])
        try saveAndCompare(["box 0 0 -", "box 1 1 -", "box 2 2 -", "box 3 3 -"])
    }

    @Test(arguments: policies) func ofThreeObjectsTheOneWhoseRowHasTheValueStays(type: NSMergePolicyType) throws {
        context.mergePolicy = NSMergePolicy(merge: type)
        for index in [3, 2] { boxes[index].setValue(1, forKey: "number") }
        boxes[1].setValue("new", forKey: "name")
        try saveAndCompare(["box 0 0 -", "new 1 -", "box 2 2 -", "box 3 3 -"])
    }
}
