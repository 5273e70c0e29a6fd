import Foundation

/// The functions that a predicate format knows by name, with Apple's names. Missing on purpose:
/// `distanceToLocation:fromLocation:` and `tokenize:using:`, which work on types of other
/// frameworks.
enum BuiltInFunction: String, CaseIterable {
    case average = "average:"
    case sum = "sum:"
    case count = "count:"
    case min = "min:"
    case max = "max:"
    case median = "median:"
    case mode = "mode:"
    case standardDeviation = "stddev:"
    case add = "add:to:"
    case subtract = "from:subtract:"
    case multiply = "multiply:by:"
    case divide = "divide:by:"
    case modulus = "modulus:by:"
    case squareRoot = "sqrt:"
    case logarithm = "log:"
    case naturalLogarithm = "ln:"
    case raise = "raise:toPower:"
    case exponential = "exp:"
    case ceiling = "ceiling:"
    case absolute = "abs:"
    case floor = "floor:"
    case truncate = "trunc:"
    case random = "random"
    case randomBelow = "randomn:"
    case now = "now"
    case bitwiseAnd = "bitwiseAnd:with:"
    case bitwiseOr = "bitwiseOr:with:"
    case bitwiseXor = "bitwiseXor:with:"
    case leftShift = "leftshift:by:"
    case rightShift = "rightshift:by:"
    case onesComplement = "onesComplement:"
    case uppercase = "uppercase:"
    case lowercase = "lowercase:"
    case canonical = "canonical:"
    case noIndex = "noindex:"
    case length = "length:"
    case cast = "castObject:toType:"
    case objectAtIndex = "objectFrom:withIndex:"
    case first = "first:"
    case last = "last:"

    private static let byName: [String: BuiltInFunction] = {
        var table: [String: BuiltInFunction] = [:]
        for function in allCases {
            table[function.rawValue.lowercased()] = function
            // `now()` and `now`, `count(x)` and `count:(x)` mean the same.
            if function.parameterCount < 2 {
                table[function.rawValue.lowercased().replacingOccurrences(of: ":", with: "")] = function
                table[function.rawValue.lowercased().replacingOccurrences(of: ":", with: "") + ":"] = function
            }
        }
        return table
    }()

    /// Neither the case nor the colon of a single parameter matters.
    init?(name: String) {
        guard let function = BuiltInFunction.byName[name.lowercased()] else { return nil }
        self = function
    }

    /// The number of parameters, which is the number of colons in the name.
    var parameterCount: Int { rawValue.utf8.count { $0 == UInt8(ascii: ":") } }

    /// Whether the function is a statistic, which takes one collection or any number of values.
    var takesManyValues: Bool {
        switch self {
        case .average, .sum, .count, .min, .max, .median, .mode, .standardDeviation: true
        default: false
        }
    }

    /// The infix operator of the function, with the precedence that C gives it.
    var infix: InfixSign? {
        switch self {
        case .bitwiseOr: InfixSign(symbol: "|", precedence: 1)
        case .bitwiseXor: InfixSign(symbol: "^", precedence: 2)
        case .bitwiseAnd: InfixSign(symbol: "&", precedence: 3)
        case .leftShift: InfixSign(symbol: "<<", precedence: 4)
        case .rightShift: InfixSign(symbol: ">>", precedence: 4)
        case .add: InfixSign(symbol: "+", precedence: 5)
        case .subtract: InfixSign(symbol: "-", precedence: 5)
        case .multiply: InfixSign(symbol: "*", precedence: 6)
        case .divide: InfixSign(symbol: "/", precedence: 6)
        case .raise: InfixSign(symbol: "**", precedence: InfixSign.power)
        default: nil
        }
    }

    /// The functions with a left-associative infix operator, by the operator's symbol.
    static let leftAssociative: [String: BuiltInFunction] = {
        var table: [String: BuiltInFunction] = [:]
        for function in allCases {
            if let sign = function.infix, sign.precedence < InfixSign.power { table[sign.symbol] = function }
        }
        return table
    }()
}

extension NSExpression {
    /// Whether a name is exactly that of a built-in function.
    package static func isBuiltInFunction(_ name: String) -> Bool { BuiltInFunction(rawValue: name) != nil }
}

/// An infix operator; a higher precedence binds tighter.
struct InfixSign {
    let symbol: String
    let precedence: Int

    /// The precedence of `**`, the only right-associative operator.
    static let power = 7
}
