import Foundation

/// An object of another module that can be equal, in predicates, to a value of another type.
///
/// For example, a managed object is equal to its object ID.
///
/// ```swift
/// final class Tag: PredicateComparable {
///     var code = 0
///     func isEqualInPredicate(to other: Any) -> Bool { (other as? Int) == code }
/// }
/// ```
public protocol PredicateComparable {
    /// Whether a predicate treats the two as equal. Either side of a comparison may be asked.
    func isEqualInPredicate(to other: Any) -> Bool
}

extension ComparableValue {
    /// Whether the values are equal (`==`). `nil` equals `nil`; numbers of every type compare by
    /// value; strings compare by the options.
    func isEqual(to other: ComparableValue, options: StringComparison.Options = []) -> Bool {
        switch (self, other) {
        case (.null, .null): return true
        case (.null, _), (_, .null): return false
        case (.string(let mine), .string(let theirs)): return StringComparison.equal(mine, theirs, options: options)
        case (.integer(let mine), .integer(let theirs)): return mine == theirs
        case (.date(let mine), .date(let theirs)): return mine == theirs
        case (.collection(let mine), .collection(let theirs)):
            return ComparableValue.collections(mine, theirs, options: options)
        case (.object(let mine), .object(let theirs)):
            if let mine = mine as? URL, let theirs = theirs as? URL {
                return StringComparison.equal(mine.absoluteString, theirs.absoluteString, options: options)
            }
            return ComparableValue.objects(mine, theirs)
        case (.object(let mine as any PredicateComparable), .collection(let theirs)):
            return mine.isEqualInPredicate(to: theirs)
        case (.object(let mine), .string(let text)), (.string(let text), .object(let mine)):
            if let id = mine as? UUID { return UUID(uuidString: text) == id }
            return (mine as? URL).map { StringComparison.equal($0.absoluteString, text, options: options) } ?? false
        case (.string, _), (_, .string), (.integer, _), (.double, _), (.decimal, _), (.date, _):
            return numericOrder(to: other) == .orderedSame
        default: return false
        }
    }

    /// Returns the order of two values of the same kind. `nil` when there is none, as with `nil`,
    /// or with a number and a string that is not a number.
    func order(to other: ComparableValue, options: StringComparison.Options = []) -> ComparisonResult? {
        switch (self, other) {
        case (.string(let mine), .string(let theirs)): return StringComparison.compare(mine, theirs, options: options)
        case (.object(let mine as URL), .object(let theirs as URL)):
            return StringComparison.compare(mine.absoluteString, theirs.absoluteString, options: options)
        case (.object(let mine as URL), .string(let text)):
            return StringComparison.compare(mine.absoluteString, text, options: options)
        case (.string(let text), .object(let theirs as URL)):
            return StringComparison.compare(text, theirs.absoluteString, options: options)
        case (.date(let mine), .date(let theirs)): return ComparableValue.order(mine, theirs)
        case (.integer, _), (.double, _), (.decimal, _), (.date, _), (.string, _): return numericOrder(to: other)
        case (.object(let mine as any Comparable), .object(let theirs)): return ComparableValue.order(mine, theirs)
        case (.object(let mine as Data), .object(let theirs as Data)):
            if mine == theirs { return .orderedSame }
            return mine.lexicographicallyPrecedes(theirs) ? .orderedAscending : .orderedDescending
        case (.object(let mine as UUID), .object(let theirs as UUID)):
            return ComparableValue.order(mine.uuidString, theirs.uuidString)
        case (.object(let mine as UUID), .string(let text)):
            return UUID(uuidString: text).flatMap { ComparableValue.order(mine.uuidString, $0.uuidString) }
        case (.string(let text), .object(let theirs as UUID)):
            return UUID(uuidString: text).flatMap { ComparableValue.order($0.uuidString, theirs.uuidString) }
        default: return nil
        }
    }

    /// Returns the value as a number for a comparison with another value. A text becomes the number
    /// that it reads as. A date beside a number becomes its seconds.
    private func number(beside other: ComparableValue) -> ComparableValue? {
        switch (self, other) {
        case (.integer, _), (.double, _), (.decimal, _): return self
        case (.date(let seconds), .integer), (.date(let seconds), .double), (.date(let seconds), .decimal):
            return .double(seconds)
        case (.string(let text), .integer), (.string(let text), .double), (.string(let text), .decimal):
            return ComparableValue.number(in: text)
        default: return nil
        }
    }

    /// Returns the number that a text reads as; `nil` for any other text. The text may contain
    /// digits, sign, point and exponent, and nothing else.
    package static func number(in text: String) -> ComparableValue? {
        if let integer = Int64(text) { return .integer(integer) }
        guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 || "+-.eE".utf8.contains($0) }),
            let double = Double(text),
            double.isFinite
        else { return nil }
        return .double(double)
    }

    private func numericOrder(to other: ComparableValue) -> ComparisonResult? {
        guard let left = number(beside: other), let right = other.number(beside: self) else { return nil }
        switch (left, right) {
        case (.integer(let mine), .integer(let theirs)): return ComparableValue.order(mine, theirs)
        case (.double(let mine), .double(let theirs)): return ComparableValue.order(mine, theirs)
        case (.integer(let mine), .double(let theirs)): return ComparableValue.order(mine, theirs)
        case (.double(let mine), .integer(let theirs)): return ComparableValue.order(theirs, mine)?.opposite
        case (.decimal(let mine), .double(let theirs)): return ComparableValue.order(mine, theirs)
        case (.double(let mine), .decimal(let theirs)): return ComparableValue.order(theirs, mine)?.opposite
        default:
            guard let mine = left.decimalValue, let theirs = right.decimalValue else { return nil }
            return ComparableValue.order(mine, theirs)
        }
    }

    /// Compares exactly, also where the integer has more digits than a `Double` can hold.
    private static func order<Integer: FixedWidthInteger>(_ integer: Integer, _ number: Double) -> ComparisonResult? {
        if number.isNaN { return nil }
        if let whole = Integer(exactly: number) { return order(integer, whole) }
        // The largest integer as a double is the next power of two.
        if number >= Double(Integer.max) { return .orderedAscending }
        if number < Double(Integer.min) { return .orderedDescending }
        return integer > Integer(number.rounded(.down)) ? .orderedDescending : .orderedAscending
    }

    /// Compares whole decimals of 64 bits exactly. A store keeps other decimals as the nearest
    /// doubles.
    private static func order(_ decimal: Decimal, _ number: Double) -> ComparisonResult? {
        let text = "\(decimal)"
        if let whole = Int64(text) { return order(whole, number) }
        if let whole = UInt64(text) { return order(whole, number) }
        return Double(text).flatMap { order($0, number) }
    }

    private static func order<Value: Comparable>(_ mine: Value, _ theirs: Any) -> ComparisonResult? {
        guard let theirs = theirs as? Value else { return nil }
        if mine < theirs { return .orderedAscending }
        if mine > theirs { return .orderedDescending }
        return mine == theirs ? .orderedSame : nil
    }

    private static func objects(_ mine: Any, _ theirs: Any) -> Bool {
        if let mine = mine as? any PredicateComparable, mine.isEqualInPredicate(to: theirs) { return true }
        if let theirs = theirs as? any PredicateComparable, theirs.isEqualInPredicate(to: mine) { return true }
        if let mine = mine as? NSObject, let theirs = theirs as? NSObject { return mine.isEqual(theirs) }
        if let mine = mine as? AnyHashable, let theirs = theirs as? AnyHashable { return mine == theirs }
        if let mine = mine as? any Equatable { return equal(mine, theirs) }
        guard type(of: mine) is AnyClass, type(of: theirs) is AnyClass else { return false }
        return (mine as AnyObject) === (theirs as AnyObject)
    }

    private static func equal<Value: Equatable>(_ mine: Value, _ theirs: Any) -> Bool {
        (theirs as? Value).map { $0 == mine } ?? false
    }

    private static func collections(_ mine: Any, _ theirs: Any, options: StringComparison.Options) -> Bool {
        if CollectionElements.isDictionary(mine), CollectionElements.isDictionary(theirs) {
            return SameValues.areSame(mine, theirs)
        }
        guard let left = CollectionElements.of(mine), let right = CollectionElements.of(theirs),
            left.count == right.count
        else { return false }
        let leftValues = left.map { ComparableValue($0) }
        let rightValues = right.map { ComparableValue($0) }
        if CollectionElements.isOrdered(mine), CollectionElements.isOrdered(theirs) {
            return zip(leftValues, rightValues).allSatisfy { $0.isEqual(to: $1, options: options) }
        }
        return leftValues.allSatisfy { value in rightValues.contains { $0.isEqual(to: value, options: options) } }
            && rightValues.allSatisfy { value in leftValues.contains { $0.isEqual(to: value, options: options) } }
    }
}

extension NSComparisonPredicate.Operator {
    /// Whether an equality or order of two values holds; false for other operators. It is for
    /// stores that cannot express the comparison in their own language.
    package func holds(_ left: Any, _ right: Any) -> Bool {
        let (left, right) = (ComparableValue(left), ComparableValue(right))
        switch self {
        case .equalTo: return left.isEqual(to: right)
        case .notEqualTo: return !left.isEqual(to: right)
        default: return holds(for: left.order(to: right))
        }
    }

    /// Whether the order of two values fulfils `<`, `<=`, `>` or `>=`; false without an order.
    func holds(for order: ComparisonResult?) -> Bool {
        switch self {
        case .lessThan: order == .orderedAscending
        case .lessThanOrEqualTo: order != nil && order != .orderedDescending
        case .greaterThan: order == .orderedDescending
        case .greaterThanOrEqualTo: order != nil && order != .orderedAscending
        default: false
        }
    }
}

extension ComparisonResult {
    var opposite: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}

/// Whether two constants make the same predicate.
enum ConstantEquality {
    static func equal(_ mine: Any?, _ theirs: Any?) -> Bool {
        if let mine = mine as? CollectionIndex { return mine == theirs as? CollectionIndex }
        let (left, right) = (ComparableValue(mine), ComparableValue(theirs))
        if left.doubleValue?.isNaN == true, right.doubleValue?.isNaN == true { return true }
        return left.isEqual(to: right)
    }
}
