import Foundation

/// Lets an object of another module answer `FUNCTION(object, "selector:", ...)` and custom comparisons, which
/// Objective-C dispatches by selector.
public protocol PredicateFunctionTarget {
    /// Runs the method that the selector names; `nil` for its result or when there is no such method.
    func performPredicateFunction(_ selector: Selector, arguments: [Any?]) -> Any?
}

/// One comparison operator with its string options.
struct ValueComparison {
    let operation: NSComparisonPredicate.Operator
    let options: StringComparison.Options
    let selector: Selector?
    /// For `IN` a constant collection: its elements, so that a test takes the same time for any number of them.
    private let members: Set<ValueKey>?

    /// - Parameter constantRight: The right side, where it is a constant.
    init(
        operation: NSComparisonPredicate.Operator, options: StringComparison.Options, selector: Selector? = nil,
        constantRight: Any? = nil
    ) {
        self.operation = operation
        self.options = options
        self.selector = selector
        members = operation == .in && options.isLiteral ? ValueComparison.keys(of: constantRight) : nil
    }

    /// `nil` unless every element has a key.
    private static func keys(of value: Any?) -> Set<ValueKey>? {
        guard let value = KeyValue.unwrapped(value), let elements = CollectionElements.of(value) else { return nil }
        var keys = Set<ValueKey>(minimumCapacity: elements.count)
        for element in elements {
            guard let key = ComparableValue(element).key else { return nil }
            keys.insert(key)
        }
        return keys
    }

    /// Whether the comparison is true. Ordering, string and collection operators are false when a side is `nil`.
    func holds(_ left: ComparableValue, _ right: ComparableValue) -> Bool {
        switch operation {
        case .equalTo: return left.isEqual(to: right, options: options)
        case .notEqualTo: return !left.isEqual(to: right, options: options)
        case .lessThan: return left.order(to: right, options: options) == .orderedAscending
        case .greaterThan: return left.order(to: right, options: options) == .orderedDescending
        case .lessThanOrEqualTo:
            return left.order(to: right, options: options).map { $0 != .orderedDescending } ?? false
        case .greaterThanOrEqualTo:
            return left.order(to: right, options: options).map { $0 != .orderedAscending } ?? false
        case .between: return isBetween(left, right)
        case .in:
            guard let members else { return contains(right, left) }
            if left.isNull { return false }
            return left.key.map { members.contains($0) } ?? contains(right, left)
        case .contains: return contains(left, right)
        case .beginsWith, .endsWith, .like, .matches: return compareStrings(left, right)
        case .customSelector: return isCustom(left, right)
        }
    }

    private func compareStrings(_ left: ComparableValue, _ right: ComparableValue) -> Bool {
        guard let left = left.stringValue, let right = right.stringValue else { return false }
        switch operation {
        case .beginsWith: return StringComparison.beginsWith(left, right, options: options)
        case .endsWith: return StringComparison.endsWith(left, right, options: options)
        case .like: return StringComparison.like(left, right, options: options)
        default: return StringComparison.matches(left, right, options: options)
        }
    }

    private func contains(_ container: ComparableValue, _ value: ComparableValue) -> Bool {
        switch container {
        case .collection(let collection):
            let elements = CollectionElements.of(collection) ?? []
            return elements.contains { ComparableValue($0).isEqual(to: value, options: options) }
        case .null:
            return false
        default:
            guard let text = container.stringValue, let part = value.stringValue else { return false }
            return StringComparison.contains(text, part, options: options)
        }
    }

    private func isBetween(_ value: ComparableValue, _ bounds: ComparableValue) -> Bool {
        guard case .collection(let collection) = bounds, let elements = CollectionElements.of(collection),
            elements.count == 2,
            let low = value.order(to: ComparableValue(elements[0]), options: options),
            let high = value.order(to: ComparableValue(elements[1]), options: options)
        else { return false }
        return low != .orderedAscending && high != .orderedDescending
    }

    private func isCustom(_ left: ComparableValue, _ right: ComparableValue) -> Bool {
        guard let selector, case .object(let target as any PredicateFunctionTarget) = left else { return false }
        let result = target.performPredicateFunction(selector, arguments: [right.value])
        return ComparableValue(result).doubleValue.map { $0 != 0 } ?? false
    }
}

extension ComparableValue {
    /// The value as Swift's own type.
    var value: Any? {
        switch self {
        case .null: nil
        case .integer(let number): Int(number)
        case .double(let number): number
        case .decimal(let number): number
        case .string(let text): text
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .collection(let value), .object(let value): value
        }
    }
}
