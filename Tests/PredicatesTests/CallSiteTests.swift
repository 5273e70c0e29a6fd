import Foundation
import Predicates
import Testing

/// Expressions in a file that imports Foundation as well.
struct CallSiteTests {
    @Test func collectionsFilterAndSortInAFileThatImportsFoundation() {
        let numbers: NSArray = [3, 1, 2]
        let large = NSPredicate(format: "SELF > 1")
        let ascending = NSSortDescriptor(key: "self", ascending: true)
        #expect(numbers.filtered(using: large) as? [Int] == [3, 2])
        #expect(numbers.filtered(using: NSPredicate(format: "SELF > %d", 2)) as? [Int] == [3])
        #expect(numbers.sortedArray(using: [ascending]) as? [Int] == [1, 2, 3])
        #expect(numbers.sortedArray(using: [NSSortDescriptor(key: nil, ascending: false)]) as? [Int] == [3, 2, 1])
        #expect(NSSet(set: NSSet(array: [1, 2]).filtered(using: large)) == NSSet(array: [2]))
        #expect(NSSet(array: [2, 1]).sortedArray(using: [ascending]) as? [Int] == [1, 2])

        let array = NSMutableArray(array: [3, 1, 2])
        array.filter(using: large)
        array.sort(using: [ascending])
        #expect(array as? [Int] == [2, 3])
        let set = NSMutableSet(array: [1, 2])
        set.filter(using: large)
        #expect(set == NSSet(array: [2]))
        let ordered = NSMutableOrderedSet(array: [3, 1, 2])
        #expect(ordered.filtered(using: large) == NSOrderedSet(array: [3, 2]))
        ordered.sort(using: [ascending])
        #expect(ordered == NSOrderedSet(array: [1, 2, 3]))
        ordered.filter(using: large)
        #expect(ordered == NSOrderedSet(array: [2, 3]))
    }

    @Test func anExpressionIsMadeInAFileThatImportsFoundation() {
        #expect(NSExpression(forKeyPath: "a.b").keyPath == "a.b")
        #expect(NSExpression(format: "a + %d", 1).description == "a + 1")
    }

    @Test func valuesFormatAsObjects() {
        let id = UUID()
        #expect(String(format: "%@", id as CVarArg) == id.uuidString)
        #expect(String(format: "%@ %d", NSNumber(value: 3), 4) == "3 4")
    }
}
