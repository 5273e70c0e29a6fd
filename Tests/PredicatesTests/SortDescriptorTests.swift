import Predicates
import Testing

/// Sorting in memory (behaviours 203 to 205).
struct SortDescriptorTests {
    struct Row {
        var name: String?
        var size = 0
    }

    final class Named: KeyPathNaming {
        var name = ""
        static func keyName(for keyPath: AnyKeyPath) -> String? {
            keyPath == \Named.name ? "name" : nil
        }
    }

    @Test func aDescriptorOfFoundationNeedsNoClass() {
        let descriptor = NSSortDescriptor(SortDescriptor(\Row.size, order: .reverse))
        #expect(descriptor.key == "size")
        #expect(!descriptor.ascending)
        #expect(names([Row(name: "a", size: 1), Row(name: "b", size: 2)], by: descriptor) == ["b", "a"])
    }

    private func names(_ rows: [Row], by descriptors: NSSortDescriptor...) -> [String?] {
        (rows as NSArray).sortedArray(using: descriptors).map { ($0 as! Row).name }
    }

    @Test("nil sorts first ascending and last descending (behaviour 204)")
    func nilSortsFirstAscendingAndLastDescending() {
        let rows = [Row(name: "b"), Row(name: nil), Row(name: "a")]
        #expect(names(rows, by: NSSortDescriptor(key: "name", ascending: true)) == [nil, "a", "b"])
        #expect(names(rows, by: NSSortDescriptor(key: "name", ascending: false)) == ["b", "a", nil])
    }

    @Test func laterDescriptorsDecideAmongEquals() {
        let rows = [Row(name: "b", size: 1), Row(name: "a", size: 2), Row(name: "c", size: 1), Row(name: "d", size: 2)]
        let sorted = names(
            rows, by: NSSortDescriptor(key: "size", ascending: false), NSSortDescriptor(key: "name", ascending: true))
        #expect(sorted == ["a", "d", "b", "c"])
        #expect(names(rows, by: NSSortDescriptor(key: "size", ascending: true)) == ["b", "c", "a", "d"])
    }

    @Test("the five selectors order strings (behaviour 203)")
    func theFiveSelectorsOrderStrings() {
        let rows = ["b10", "B9", "a", "C"].map { Row(name: $0) }
        func sorted(_ selector: Selector) -> [String?] {
            names(rows, by: NSSortDescriptor(key: "name", ascending: true, selector: selector))
        }
        #expect(sorted("compare:") == ["B9", "C", "a", "b10"])
        #expect(sorted("caseInsensitiveCompare:") == ["a", "b10", "B9", "C"])
        #expect(sorted(.localizedStandardCompare) == ["a", "B9", "b10", "C"])
        #expect(sorted(.localizedCaseInsensitiveCompare) == ["a", "b10", "B9", "C"])
        #expect(sorted(.localizedCompare).first == "a")
    }

    @Test("a key path with a missing step sorts as nil (behaviour 205)")
    func aKeyPathWithAMissingStepSortsAsNil() {
        let rows: NSArray = [["d": ["n": 2]], ["x": 1], ["d": ["n": 1]]]
        let sorted = NSArray(array: rows.sortedArray(using: [NSSortDescriptor(key: "d.n", ascending: true)]))
        #expect(sorted.value(forKeyPath: "d.n") as? NSArray == [NSNull(), 1, 2])
    }

    @Test func aComparatorDecidesTheOrderOfValues() {
        let byLength = NSSortDescriptor(key: "name", ascending: true) { left, right in
            let (left, right) = ((left as! String).count, (right as! String).count)
            return left < right ? .orderedAscending : left > right ? .orderedDescending : .orderedSame
        }
        let rows = [Row(name: "ccc"), Row(name: nil), Row(name: "a"), Row(name: "bb")]
        #expect(names(rows, by: byLength) == [nil, "a", "bb", "ccc"])
        #expect(byLength.selector == nil)
        #expect(byLength.comparator("a", "bb") == .orderedAscending)
    }

    @Test func aSwiftKeyPathGivesTheKey() {
        #expect(NSSortDescriptor(keyPath: \Row.name, ascending: true).key == "name")
        #expect(NSSortDescriptor(keyPath: \Row.name?.count, ascending: true).keyPath == \Row.name?.count)
        #expect(NSSortDescriptor(keyPath: \Named.name, ascending: true).key == "name")
        #expect(NSExpression(forKeyPath: \Row.size).keyPath == "size")
        let bySize = NSSortDescriptor(keyPath: \Row.size, ascending: true)
        #expect(names([Row(size: 2), Row(name: "x", size: 1)], by: bySize) == ["x", nil])
    }

    @Test func theReversedDescriptorReversesTheOrder() throws {
        let descriptor = NSSortDescriptor(key: "name", ascending: true, selector: .caseInsensitiveCompare)
        let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
        #expect(!reversed.ascending)
        #expect(reversed.selector == .caseInsensitiveCompare)
        #expect(reversed.compare(Row(name: "a"), to: Row(name: "B")) == .orderedDescending)
        #expect(reversed != descriptor)
        #expect(reversed.reversedSortDescriptor as? NSSortDescriptor == descriptor)
    }

    @Test func aFoundationSortDescriptorIsTakenOver() {
        final class Box: NSObject {
            let value: Int
            init(_ value: Int) { self.value = value }
        }
        let descriptor = NSSortDescriptor(SortDescriptor(\Box.value, order: .reverse))
        #expect(!descriptor.ascending)
        #expect(descriptor.compare(Box(1), to: Box(2)) == .orderedDescending)
    }

    @Test func numbersAndDatesSortByValue() {
        let mixed: NSArray = [2.5, 1, Decimal(2)]
        let sorted = mixed.sortedArray(using: [NSSortDescriptor(key: nil, ascending: true)])
        #expect(sorted.map { "\($0)" } == ["1", "2", "2.5"])
    }
}
