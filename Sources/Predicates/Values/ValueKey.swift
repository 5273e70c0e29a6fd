import Foundation

/// A hashable form of a value. Two keys of one kind are equal exactly when a predicate treats the
/// values as equal.
enum ValueKey: Hashable {
    case integer(Int64)
    case double(Double)
    /// Used only where no double has the value.
    case decimal(Decimal)
    case string(LiteralText)
    case date(Double)
    case other(AnyHashable)

    enum Kind {
        case number, text, date, id, data
    }

    /// The kind; `nil` for objects, and for a decimal that equals a double but has another key.
    var kind: Kind? {
        switch self {
        case .integer, .double: .number
        case .decimal: nil
        case .string: .text
        case .date: .date
        case .other(let value): value.base is UUID ? .id : value.base is Data ? .data : nil
        }
    }
}

extension ComparableValue {
    /// The key; `nil` for not-a-number, collections, and objects of unknown classes.
    var key: ValueKey? {
        switch self {
        case .integer(let number): .integer(number)
        case .double(let number): Int64(exactly: number).map { .integer($0) } ?? (number.isNaN ? nil : .double(number))
        case .decimal(let number): ComparableValue.key(of: number)
        case .string(let text): .string(LiteralText(text))
        case .date(let seconds): .date(seconds)
        case .object(let id as UUID): .other(id)
        case .object(let data as Data): .other(data)
        case .object(let url as URL): .string(LiteralText(url.absoluteString))
        default: nil
        }
    }

    /// Returns the key of the number of another type that equals the decimal, if there is one.
    private static func key(of decimal: Decimal) -> ValueKey? {
        if decimal.isNaN { return nil }
        let text = "\(decimal)"
        if let integer = Int64(text) { return .integer(integer) }
        if let double = Double(text), double.isFinite, Decimal(string: "\(double)") == decimal {
            return .double(double)
        }
        return .decimal(decimal)
    }
}

/// A hashable form of several values. Two keys are equal when a predicate treats each pair of
/// values as equal. Foundation on Linux cannot hash every value: its `NSDecimalNumber` recurses
/// without end.
package struct ValuesKey: Hashable {
    private enum Part: Hashable {
        case null
        case value(ValueKey)
        case object(AnyHashable)
        case attributed(LiteralText, NSAttributedString)
        case text(LiteralText)
        /// A dictionary, whose elements have no order.
        case dictionary([ValuesKey: ValuesKey])
        case array(ValuesKey)
        case set(Set<ValuesKey>)
    }

    private let parts: [Part]

    package init(_ values: [Any?]) {
        parts = values.map { value in
            let comparable = ComparableValue(value)
            if comparable.isNull { return .null }
            if let key = comparable.key { return .value(key) }
            if case .object(let text as NSAttributedString) = comparable {
                return .attributed(LiteralText(text.string), text)
            }
            if case .object(let object as AnyHashable) = comparable { return .object(object) }
            if case .collection(let collection) = comparable {
                if let entries = CollectionElements.entries(of: collection) {
                    return .dictionary(
                        Dictionary(entries.map { (ValuesKey([$0.key]), ValuesKey([$0.value])) }) { former, _ in former }
                    )
                }
                if let elements = CollectionElements.of(collection) {
                    if CollectionElements.isOrdered(collection) { return .array(ValuesKey(elements)) }
                    return .set(Set(elements.map { ValuesKey([$0]) }))
                }
            }
            return .text(LiteralText(value.map { "\($0)" } ?? ""))
        }
    }
}

extension Sequence {
    /// Returns the elements in groups of equal keys, in the order of the groups' first elements.
    package func grouped(by key: (Element) -> ValuesKey) -> [[Element]] {
        var groups: [[Element]] = []
        var places: [ValuesKey: Int] = [:]
        for element in self {
            let key = key(element)
            if let place = places[key] {
                groups[place].append(element)
            } else {
                places[key] = groups.count
                groups.append([element])
            }
        }
        return groups
    }

    package func distinct(by key: (Element) -> ValuesKey) -> [Element] {
        var seen: Set<ValuesKey> = []
        return filter { seen.insert(key($0)).inserted }
    }
}
