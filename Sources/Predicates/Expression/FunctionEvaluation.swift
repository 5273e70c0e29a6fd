import Foundation

/// Evaluates the functions of predicates. The result is `nil` where the values make no sense for
/// the function.
package enum FunctionEvaluation {
    static func value(of call: FunctionCall, in scope: EvaluationScope) -> Any? {
        let values = call.arguments.map { KeyValue.unwrapped($0.value(in: scope)) }
        guard let function = call.builtIn else {
            return method(call.name, of: call.target?.value(in: scope), values)
        }
        return value(of: function, values)
    }

    /// Evaluates a function for values that are not Optionals.
    private static func value(of function: BuiltInFunction, _ values: [Any?]) -> Any? {
        if function.takesManyValues { return statistic(function, elements(values)) }
        let result: Any?
        switch values.count {
        case 0: result = plain(function)
        case 1: result = unary(function, values[0])
        case 2: result = binary(function, values[0], values[1])
        default: result = nil
        }
        // NaN is no value, as in SQL.
        if let number = result as? Double, number.isNaN { return nil }
        return result
    }

    /// Evaluates the named function, for stores that cannot express it in their own language.
    /// - Returns: `nil` also for an unknown name.
    package static func value(ofFunctionNamed name: String, _ values: [Any?]) -> Any? {
        BuiltInFunction(name: name).flatMap { value(of: $0, values.map(KeyValue.unwrapped)) }
    }

    /// Returns the elements of a single collection, or the values themselves.
    private static func elements(_ values: [Any?]) -> [Any] {
        if values.count == 1 {
            guard let value = values[0] else { return [] }
            return CollectionElements.of(value) ?? [value]
        }
        return values.map { $0 ?? NSNull() }
    }

    private static func statistic(_ function: BuiltInFunction, _ values: [Any]) -> Any? {
        switch function {
        case .count: return values.count
        case .sum: return Statistics.sum(values)
        case .average: return Statistics.average(values)
        case .min: return Statistics.extreme(values, .orderedAscending)
        case .max: return Statistics.extreme(values, .orderedDescending)
        case .median: return Statistics.median(values)
        case .mode: return Statistics.mode(values)
        default: return Statistics.standardDeviation(values)
        }
    }

    private static func plain(_ function: BuiltInFunction) -> Any? {
        switch function {
        case .now: return Date()
        case .random: return Double.random(in: 0..<1)
        default: return nil
        }
    }

    private static func unary(_ function: BuiltInFunction, _ value: Any?) -> Any? {
        switch function {
        case .uppercase: return ComparableValue(value).stringValue?.uppercased()
        case .lowercase: return ComparableValue(value).stringValue?.lowercased()
        case .canonical:
            return ComparableValue(value).stringValue.map {
                $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
            }
        case .noIndex: return value
        case .length: return ComparableValue(value).stringValue.map { $0.utf16.count }
        case .first: return value.flatMap { CollectionElements.of($0)?.first }
        case .last: return value.flatMap { CollectionElements.of($0)?.last }
        default: return Number(ComparableValue(value)).flatMap { numeric(function, $0) }
        }
    }

    private static func numeric(_ function: BuiltInFunction, _ number: Number) -> Any? {
        switch function {
        case .squareRoot: return number.double.squareRoot()
        case .logarithm: return log10(number.double)
        case .naturalLogarithm: return log(number.double)
        case .exponential: return exp(number.double)
        case .ceiling: return rounded(number, .up)
        case .floor: return rounded(number, .down)
        case .truncate: return rounded(number, .towardZero)
        case .absolute:
            switch number {
            case .integer(let value): return value == .min ? Double(value).magnitude : Int(abs(value))
            case .double(let value): return value.magnitude
            case .decimal(let value): return value.magnitude
            }
        case .randomBelow:
            guard let limit = number.integer, limit > 0 else { return nil }
            return Int(Int64.random(in: 0..<limit))
        case .onesComplement: return number.integer.map { Int(~$0) }
        default: return nil
        }
    }

    private static func rounded(_ number: Number, _ rule: FloatingPointRoundingRule) -> Any {
        if case .integer(let value) = number { return Int(value) }
        return number.double.rounded(rule)
    }

    private static func binary(_ function: BuiltInFunction, _ first: Any?, _ second: Any?) -> Any? {
        if function == .cast { return ComparableValue(second).stringValue.flatMap { ValueCast.cast(first, to: $0) } }
        if function == .objectAtIndex { return element(of: first, at: second) }
        if let date = dateArithmetic(function, first, second) { return date }
        guard let left = Number(ComparableValue(first)), let right = Number(ComparableValue(second)) else { return nil }
        switch function {
        case .add: return Number.add(left, right).value
        case .subtract: return Number.subtract(left, right).value
        case .multiply: return Number.multiply(left, right).value
        case .divide: return Number.divide(left, right)?.value
        case .raise: return power(left, right)
        default: return bitwise(function, left.integer, right.integer)
        }
    }

    /// A date plus or minus seconds is a date; a date minus a date is seconds.
    private static func dateArithmetic(_ function: BuiltInFunction, _ first: Any?, _ second: Any?) -> Any? {
        switch (function, ComparableValue(first), ComparableValue(second)) {
        case (.subtract, .date(let left), .date(let right)): return left - right
        case (.add, .date(let date), let seconds), (.add, let seconds, .date(let date)):
            return seconds.doubleValue.map { Date(timeIntervalSinceReferenceDate: date + $0) }
        case (.subtract, .date(let date), let seconds):
            return seconds.doubleValue.map { Date(timeIntervalSinceReferenceDate: date - $0) }
        default: return nil
        }
    }

    private static func power(_ base: Number, _ exponent: Number) -> Any {
        let result = pow(base.double, exponent.double)
        if case .integer = base, case .integer(let count) = exponent, count >= 0, abs(result) < 0x1p53 {
            return Int(result)
        }
        return result
    }

    private static func bitwise(_ function: BuiltInFunction, _ left: Int64?, _ right: Int64?) -> Any? {
        guard let left, let right else { return nil }
        switch function {
        case .modulus: return right == 0 ? nil : Int(left.remainderReportingOverflow(dividingBy: right).partialValue)
        case .bitwiseAnd: return Int(left & right)
        case .bitwiseOr: return Int(left | right)
        case .bitwiseXor: return Int(left ^ right)
        case .leftShift: return Int(left << right)
        case .rightShift: return Int(left >> right)
        default: return nil
        }
    }

    private static func element(of collection: Any?, at index: Any?) -> Any? {
        guard let collection else { return nil }
        if let key = index as? String { return KeyValue.comparedValue(forKey: key, of: collection) }
        guard let elements = CollectionElements.of(collection) else { return nil }
        if let place = index as? CollectionIndex {
            switch place {
            case .first: return elements.first
            case .last: return elements.last
            case .size: return elements.count
            }
        }
        guard let number = Number(ComparableValue(index))?.integer, elements.indices.contains(Int(number)) else {
            return nil
        }
        return elements[Int(number)]
    }

    private static func method(_ selector: String, of target: Any?, _ values: [Any?]) -> Any? {
        guard let target = KeyValue.unwrapped(target) else { return nil }
        if let target = target as? any PredicateFunctionTarget {
            return target.performPredicateFunction(Selector(selector), arguments: values)
        }
        switch (selector, values.count) {
        case ("valueForKeyPath:", 1), ("valueForKey:", 1):
            return ComparableValue(values[0]).stringValue.flatMap { KeyValue.comparedValue(forKeyPath: $0, of: target) }
        case ("objectForKey:", 1), ("objectAtIndex:", 1):
            return element(of: target, at: values[0])
        case ("isEqual:", 1):
            return ComparableValue(target).isEqual(to: ComparableValue(values[0]))
        case ("stringByAppendingString:", 1):
            guard let text = ComparableValue(target).stringValue else { return nil }
            return ComparableValue(values[0]).stringValue.map { text + $0 }
        case ("dateByAddingTimeInterval:", 1):
            return dateArithmetic(.add, target, values[0])
        case (_, 0):
            return KeyValue.comparedValue(forKey: selector, of: target)
        default:
            return nil
        }
    }
}
