import CoreData
import TestSupport
import Testing

final class PrefetchShelf: NSManagedObject {
    @Managed var number: Int32
    @Managed var boxes: Set<PrefetchBox>
    @Managed var row: NSOrderedSet
    @Managed var labels: Set<PrefetchLabel>
}

final class PrefetchBox: NSManagedObject {
    @Managed var number: Int32
    @Managed var shelf: PrefetchShelf?
    @Managed var rowOf: PrefetchShelf?
}

final class PrefetchLabel: NSManagedObject {
    @Managed var number: Int32
    @Managed var shelves: Set<PrefetchShelf>
}

/// Prefetching of to-many relationships, whose owners have keys with and without gaps.
@Suite(.everyStore) struct PrefetchTests {
    /// Which of 64 owners remain.
    enum Owners: CaseIterable {
        case all
        case withAFewGaps
        case everyOther
        case few

        func remain(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .withAFewGaps: number != 3 && number != 40
            case .everyOther: number.isMultiple(of: 2)
            case .few: number < 5
            }
        }
    }

    private static func stack() throws -> TestStack {
        let shelf = NSEntityDescription("PrefetchShelf", [NSAttributeDescription("number", .integer32AttributeType)])
        let box = NSEntityDescription("PrefetchBox", [NSAttributeDescription("number", .integer32AttributeType)])
        let label = NSEntityDescription("PrefetchLabel", [NSAttributeDescription("number", .integer32AttributeType)])
        relate(shelf, "boxes", toMany: true, box, inverse: "shelf")
        relate(shelf, "row", toMany: true, ordered: true, box, inverse: "rowOf")
        relate(shelf, "labels", toMany: true, label, inverse: "shelves", inverseToMany: true)
        return try TestStack([shelf, box, label])
    }

    /// 64 shelves: each with 5 boxes, a row of its boxes in descending order, and 2 of 8 labels.
    private static func fill(_ context: NSManagedObjectContext) throws {
        let labels = (0..<8).map { number in
            let label = PrefetchLabel(context: context)
            label.number = Int32(number)
            return label
        }
        for number in 0..<64 {
            let shelf = PrefetchShelf(context: context)
            shelf.number = Int32(number)
            let boxes = (0..<5).map { index in
                let box = PrefetchBox(context: context)
                box.number = Int32(number * 5 + index)
                box.shelf = shelf
                return box
            }
            shelf.row = NSOrderedSet(array: boxes.reversed())
            shelf.labels = [labels[number % 8], labels[(number + 1) % 8]]
        }
        try context.save()
    }

    @Test(arguments: Owners.allCases)
    func everyOwnerGetsItsOwnMembers(_ owners: Owners) throws {  // 109
        let stack = try Self.stack()
        try Self.fill(stack.context)
        for shelf in try stack.context.fetch(NSFetchRequest<PrefetchShelf>(entityName: "PrefetchShelf"))
        where !owners.remain(Int(shelf.number)) {
            stack.context.delete(shelf)
        }
        try stack.context.save()

        let request = NSFetchRequest<PrefetchShelf>(entityName: "PrefetchShelf")
        request.relationshipKeyPathsForPrefetching = ["boxes", "row", "labels"]
        let shelves = try stack.newContext().fetch(request)
        #expect(Set(shelves.map { Int($0.number) }) == Set((0..<64).filter(owners.remain)))
        for shelf in shelves {
            let number = Int(shelf.number)
            #expect(!shelf.hasFault(forRelationshipNamed: "boxes"))
            #expect(Set(shelf.boxes.map { Int($0.number) }) == Set(number * 5..<number * 5 + 5))
            #expect(shelf.boxes.allSatisfy { $0.shelf === shelf })
            #expect(
                shelf.row.compactMap { ($0 as? PrefetchBox).map { Int($0.number) } }
                    == (number * 5..<number * 5 + 5).reversed())
            #expect(Set(shelf.labels.map { Int($0.number) }) == [number % 8, (number + 1) % 8])
        }
    }

    /// Two labels lead to each shelf.
    @Test func anOwnerThatSeveralObjectsLeadToGetsEachMemberOnce() throws {  // 109
        let stack = try Self.stack()
        try Self.fill(stack.context)
        let request = NSFetchRequest<PrefetchLabel>(entityName: "PrefetchLabel")
        request.relationshipKeyPathsForPrefetching = ["shelves.row"]
        let labels = try stack.newContext().fetch(request)
        #expect(labels.count == 8)
        for shelf in labels.flatMap(\.shelves) {
            let number = Int(shelf.number)
            #expect(!shelf.hasFault(forRelationshipNamed: "row"))
            #expect(
                shelf.row.array.compactMap { ($0 as? PrefetchBox).map { Int($0.number) } }
                    == (number * 5..<number * 5 + 5).reversed())
        }
    }

    /// Boxes of shelves that were not fetched are not loaded.
    @Test func otherOwnersMembersAreLeftAlone() throws {
        let stack = try Self.stack()
        try Self.fill(stack.context)
        let request = NSFetchRequest<PrefetchShelf>(entityName: "PrefetchShelf")
        request.predicate = NSPredicate(format: "number < 20 OR number >= 44")
        request.relationshipKeyPathsForPrefetching = ["boxes"]
        let context = stack.newContext()
        let shelves = try context.fetch(request)
        #expect(shelves.count == 40)
        withExtendedLifetime(shelves) {
            let boxes = context.registeredObjects.compactMap { $0 as? PrefetchBox }
            #expect(Set(boxes.map { Int($0.number) }) == Set(0..<100).union(220..<320))
        }
    }
}
