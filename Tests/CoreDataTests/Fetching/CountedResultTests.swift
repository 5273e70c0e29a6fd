import CoreData
import TestSupport
import Testing

/// A count is that of the results, also where a result stands for several rows.
@Suite(.everyStore) struct CountedResultTests {
    private let stack: TestStack

    init() throws {
        stack = try TestStack([
            NSEntityDescription(
                "Item", class: "NSManagedObject",
                [.init("name", .stringAttributeType), .init("count", .integer64AttributeType)])
        ])
        for (name, count) in [("a", Int64.max), ("a", Int64.max), ("b", 1), ("b", 2), ("c", 3)] {
            let object = NSManagedObject(entity: stack.entity("Item"), insertInto: stack.context)
            object.setValue(name, forKey: "name")
            object.setValue(count, forKey: "count")
        }
        try stack.context.save()
    }

    private func column(_ format: String, _ type: NSAttributeType = .undefinedAttributeType) -> NSExpressionDescription
    {
        NSExpressionDescription("value", NSExpression(format: format), type)
    }

    private func check(_ wanted: Int, _ change: (NSFetchRequest<NSDictionary>) -> Void) throws {
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["name"]
        change(request)
        let context = stack.newContext()
        #expect(try context.fetch(request).count == wanted)
        #expect(try context.count(for: request) == wanted)
    }

    @Test func distinctResultsAreCounted() throws {
        try check(5) { _ in }
        try check(3) { $0.returnsDistinctResults = true }
        try check(2) {
            $0.returnsDistinctResults = true
            $0.fetchLimit = 2
        }
        try check(1) {
            $0.returnsDistinctResults = true
            $0.fetchOffset = 2
        }
    }

    @Test func groupsAreCounted() throws {
        try check(3) { $0.propertiesToGroupBy = ["name"] }
        try check(2) {
            $0.propertiesToGroupBy = ["name"]
            $0.havingPredicate = NSPredicate(format: "count:(count) > 1")
        }
        try check(1) { $0.propertiesToFetch = [column("max:(count)")] }
    }

    @Test(arguments: ["median:(count)", "mode:(count)", "stddev:(count)"]) func aStatisticOfValuesIsRefused(
        format: String
    ) {
        #expect(throws: (any Error).self) { try check(0) { $0.propertiesToFetch = [column(format)] } }
    }
}

/// Sums that 64 bits do not hold, in memory.
@Suite(.stores([.inMemory])) struct LargeSumTests {
    @Test func aSumAsAWholeNumberIsTheLargestOne() throws {
        let stack = try TestStack([
            NSEntityDescription("Item", class: "NSManagedObject", [.init("count", .integer64AttributeType)])
        ])
        for _ in 0..<2 {
            NSManagedObject(entity: stack.entity("Item"), insertInto: stack.context).setValue(
                Int64.max, forKey: "count")
        }
        try stack.context.save()
        let request = NSFetchRequest<NSDictionary>(entityName: "Item")
        request.resultType = .dictionaryResultType
        let column = NSExpressionDescription("sum", NSExpression(format: "sum:(count)"), .integer64AttributeType)
        request.propertiesToFetch = [column]
        #expect(try stack.newContext().fetch(request).first?["sum"] as? Int64 == Int64.max)
    }
}
