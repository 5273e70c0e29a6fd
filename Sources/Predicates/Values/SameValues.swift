import Foundation

/// Compares values of any type, to decide whether a new value is a change.
///
/// Unlike in predicates, a number is not equal to the text or the date that stands for it, and an
/// array is not equal to a set. Texts are compared by code points, also within collections and
/// attributed strings; Foundation on Linux, like `String`, treats different ways to compose a
/// letter as equal. Objects of other classes decide by their own `isEqual(_:)` or `==`.
package enum SameValues {
    package static func areSame(_ first: Any?, _ second: Any?) -> Bool {
        let (left, right) = (ComparableValue(first), ComparableValue(second))
        switch (left, right) {
        case (.null, .null), (.string, .string), (.date, .date): return left.isEqual(to: right)
        case (.collection(let left), .collection(let right)): return collections(left, right)
        case (.object(let left as NSAttributedString), .object(let right as NSAttributedString)):
            return LiteralText.areSame(left.string, right.string) && left.isEqual(right)
        case (.object, .object): return left.isEqual(to: right)
        default:
            guard left.doubleValue != nil, right.doubleValue != nil else { return false }
            return left.isEqual(to: right)
        }
    }

    private static func collections(_ first: Any, _ second: Any) -> Bool {
        if let left = CollectionElements.entries(of: first) {
            guard let right = CollectionElements.entries(of: second), left.count == right.count else { return false }
            let values = Dictionary(right.map { (ValuesKey([$0.key]), $0.value) }) { former, _ in former }
            return left.allSatisfy { entry in values[ValuesKey([entry.key])].map { areSame(entry.value, $0) } ?? false }
        }
        guard !CollectionElements.isDictionary(second), let left = CollectionElements.of(first),
            let right = CollectionElements.of(second),
            left.count == right.count, CollectionElements.isOrdered(first) == CollectionElements.isOrdered(second),
            (first is NSOrderedSet) == (second is NSOrderedSet)
        else { return false }
        if CollectionElements.isOrdered(first) { return zip(left, right).allSatisfy { areSame($0, $1) } }
        return Set(left.map { ValuesKey([$0]) }) == Set(right.map { ValuesKey([$0]) })
    }
}
