import Foundation

struct ValueComparison {
    let operation: NSComparisonPredicate.Operator
    let options: StringComparison.Options
    let selector: Selector?
    /// The elements of a constant collection for `IN`: a test takes the same time for any number of
    /// them.
    private let members: Set<ValueKey>?
    private let memberKind: ValueKey.Kind?

    /// - Parameter constantRight: The right side, where it is a constant.
    init(
        operation: NSComparisonPredicate.Operator, options: StringComparison.Options, selector: Selector? = nil,
        constantRight: Any? = nil
    ) {
        self.operation = operation
        self.options = options
        self.selector = selector
        let members = operation == .in && options.isLiteral ? ValueComparison.keys(of: constantRight) : nil
        self.members = members?.keys
        memberKind = members?.kind
    }

    /// Returns the keys of the elements and their kind; `nil` if one has no key or another kind: a
    /// number may be equal to a text.
    private static func keys(of value: Any?) -> (keys: Set<ValueKey>, kind: ValueKey.Kind)? {
        guard let value = KeyValue.unwrapped(value), let elements = CollectionElements.of(value) else { return nil }
        var keys = Set<ValueKey>(minimumCapacity: elements.count)
        var kind: ValueKey.Kind?
        for element in elements {
            guard let key = ComparableValue(element).key, let own = key.kind, kind == nil || kind == own else {
                return nil
            }
            kind = own
            keys.insert(key)
        }
        return kind.map { (keys, $0) }
    }

    func holds(_ left: ComparableValue, _ right: ComparableValue, in scope: EvaluationScope) -> Bool {
        switch operation {
        case .equalTo: return left.isEqual(to: right, options: options)
        case .notEqualTo: return !left.isEqual(to: right, options: options)
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            return operation.holds(for: left.order(to: right, options: options))
        case .between: return isBetween(left, right)
        case .in:
            guard let members else { return contains(right, left) }
            if left.isNull { return false }
            guard let key = left.key, key.kind == memberKind else { return contains(right, left) }
            return members.contains(key)
        case .contains: return contains(left, right)
        case .beginsWith, .endsWith, .like, .matches: return compareStrings(left, right, in: scope)
        case .customSelector: return isCustom(left, right)
        }
    }

    private func compareStrings(_ left: ComparableValue, _ right: ComparableValue, in scope: EvaluationScope) -> Bool {
        guard let left = left.stringValue, let right = right.stringValue else { return false }
        switch operation {
        case .beginsWith: return StringComparison.beginsWith(left, right, options: options)
        case .endsWith: return StringComparison.endsWith(left, right, options: options)
        case .like: return StringComparison.like(left, right, options: options)
        default:
            guard let expression = PatternCache.regularExpression(right, options) else { return false }
            if let result = expression.matches(left, scope.run?.patterns ?? PatternBudget()) { return result }
            scope.run?.fail(.exhaustedPattern(right))
            return false
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

    /// Whether the value is between the bounds, both included; false if it has no order with one.
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
    package var value: Any? {
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
