import Foundation

/// A number with the arithmetic of predicates. Whole numbers stay whole (`5 / 2` is 2). A decimal
/// makes the result decimal where a decimal can hold it.
enum Number {
    case integer(Int64)
    case double(Double)
    case decimal(Decimal)

    /// `nil` when the value is not a number.
    init?(_ value: ComparableValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .decimal(let number): self = .decimal(number)
        default: return nil
        }
    }

    var value: Any {
        switch self {
        case .integer(let number): Int(number)
        case .double(let number): number
        case .decimal(let number): number
        }
    }

    var double: Double {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double("\(number)") ?? .nan
        }
    }

    /// The whole number, rounded towards zero; `nil` if no 64-bit integer can hold it.
    var integer: Int64? {
        if case .integer(let number) = self { return number }
        let number = double.rounded(.towardZero)
        return Int64(exactly: number)
    }

    private var decimal: Decimal? {
        switch self {
        case .integer(let number): Decimal(number)
        case .double(let number): number.isFinite ? Decimal(string: "\(number)") : nil
        case .decimal(let number): number
        }
    }

    static func add(_ left: Number, _ right: Number) -> Number {
        combine(left, right, { $0.addingReportingOverflow($1) }, +, +)
    }

    static func subtract(_ left: Number, _ right: Number) -> Number {
        combine(left, right, { $0.subtractingReportingOverflow($1) }, -, -)
    }

    static func multiply(_ left: Number, _ right: Number) -> Number {
        combine(left, right, { $0.multipliedReportingOverflow(by: $1) }, *, *)
    }

    /// Returns the quotient; `nil` for a division by zero.
    static func divide(_ left: Number, _ right: Number) -> Number? {
        guard right.double != 0 else { return nil }
        return combine(left, right, { $0.dividedReportingOverflow(by: $1) }, /, /)
    }

    /// Combines two numbers. Whole numbers that overflow become floating-point numbers.
    private static func combine(
        _ left: Number, _ right: Number, _ integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        _ doubles: (Double, Double) -> Double, _ decimals: (Decimal, Decimal) -> Decimal
    ) -> Number {
        switch (left, right) {
        case (.integer(let left), .integer(let right)):
            let result = integers(left, right)
            return result.overflow ? .double(doubles(Double(left), Double(right))) : .integer(result.partialValue)
        case (.decimal, _), (_, .decimal):
            // Foundation ends the program for a product that is too small for a decimal.
            guard let first = left.decimal, let second = right.decimal, first.exponent + second.exponent > -100 else {
                return .double(doubles(left.double, right.double))
            }
            let result = decimals(first, second)
            return result.isNaN ? .double(doubles(left.double, right.double)) : .decimal(result)
        default:
            return .double(doubles(left.double, right.double))
        }
    }
}
