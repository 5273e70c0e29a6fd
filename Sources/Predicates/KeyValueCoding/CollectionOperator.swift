import Foundation

enum CollectionOperator: String, Sendable {
    case count, sum, avg, min, max
    case unionOfObjects, distinctUnionOfObjects
    case unionOfArrays, distinctUnionOfArrays
    case unionOfSets, distinctUnionOfSets

    /// `nil` values are left out, except in a mean that a program reads.
    func apply(to values: [Any], _ reader: KeyValueReader = .predicate) -> Any? {
        switch self {
        case .count: return values.count
        case .sum: return Statistics.sum(values)
        case .avg: return Statistics.average(reader == .program ? values.map { $0 is NSNull ? 0 : $0 } : values)
        case .min: return Statistics.extreme(values, .orderedAscending)
        case .max: return Statistics.extreme(values, .orderedDescending)
        case .unionOfObjects: return CollectionOperator.present(values)
        case .distinctUnionOfObjects: return Statistics.distinct(CollectionOperator.present(values))
        case .unionOfArrays: return CollectionOperator.joined(values)
        case .distinctUnionOfArrays: return Statistics.distinct(CollectionOperator.joined(values))
        case .unionOfSets, .distinctUnionOfSets: return KeyValue.set(of: CollectionOperator.joined(values))
        }
    }

    private static func present(_ values: [Any]) -> [Any] {
        values.filter { !($0 is NSNull) }
    }

    private static func joined(_ values: [Any]) -> [Any] {
        values.flatMap { CollectionElements.of($0) ?? [] }
    }
}

/// The caller of a read by name; some values depend on it.
enum KeyValueReader {
    /// Predicates, expressions and sort orders, which give the same results in memory and in
    /// stores. A mean leaves out missing values, as in SQL. An object has no value for a property
    /// of another entity of its hierarchy.
    case predicate
    /// A program. A missing value is zero in a mean, as in Apple's Key-Value Coding Programming
    /// Guide.
    case program
}

/// Statistics of values of any number type. Values that are not numbers are left out.
enum Statistics {
    /// Returns the sum: zero for no values, `nil` for values of which none is a number. The sum is
    /// whole as long as every number is whole, and decimal as soon as one is decimal.
    static func sum(_ values: [Any]) -> Any? {
        let numbers = numbers(values)
        if numbers.isEmpty, values.contains(where: { !ComparableValue($0).isNull }) { return nil }
        return numbers.reduce(Number.integer(0)) { Number.add($0, $1) }.value
    }

    static func average(_ values: [Any]) -> Any? {
        let numbers = numbers(values)
        guard !numbers.isEmpty else { return nil }
        let total = numbers.reduce(Number.integer(0)) { Number.add($0, $1) }
        if case .decimal(let sum) = total { return sum / Decimal(numbers.count) }
        return total.double / Double(numbers.count)
    }

    /// Only values that have an order take part: numbers, strings, dates.
    static func extreme(_ values: [Any], _ order: ComparisonResult) -> Any? {
        var best: (value: Any, comparable: ComparableValue)?
        for value in values {
            let comparable = ComparableValue(value)
            if comparable.isNull { continue }
            if let best, comparable.order(to: best.comparable) != order { continue }
            best = (value, comparable)
        }
        return best?.value
    }

    static func distinct(_ values: [Any]) -> [Any] {
        var seen = Set<ValueKey>()
        var others: [ComparableValue] = []
        return values.filter { value in
            let comparable = ComparableValue(value)
            if let key = comparable.key { return seen.insert(key).inserted }
            if case .object = comparable, let object = value as? AnyHashable {
                return seen.insert(.other(object)).inserted
            }
            if others.contains(where: { $0.isEqual(to: comparable) }) { return false }
            others.append(comparable)
            return true
        }
    }

    static func median(_ values: [Any]) -> Any? {
        let sorted = numbers(values).map(\.double).sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    /// The most frequent numbers, smallest first.
    static func mode(_ values: [Any]) -> [Any] {
        var counts: [Double: (number: Number, count: Int)] = [:]
        for number in numbers(values) { counts[number.double, default: (number, 0)].count += 1 }
        let most = counts.values.map(\.count).max()
        return counts.sorted { $0.key < $1.key }.filter { $0.value.count == most }.map { $0.value.number.value }
    }

    static func standardDeviation(_ values: [Any]) -> Any? {
        let numbers = numbers(values).map(\.double)
        guard !numbers.isEmpty else { return nil }
        let mean = numbers.reduce(0, +) / Double(numbers.count)
        return (numbers.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(numbers.count)).squareRoot()
    }

    private static func numbers(_ values: [Any]) -> [Number] {
        values.compactMap { Number(ComparableValue($0)) }
    }
}
