import Foundation

/// The functions that a predicate format knows by name, with Apple's names.
///
/// Missing on purpose: `distanceToLocation:fromLocation:` and `tokenize:using:`, which work on types of other
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

    /// Finds a function by name; upper and lower case, and the colon of a single parameter, do not matter.
    init?(name: String) {
        guard let function = BuiltInFunction.byName[name.lowercased()] else { return nil }
        self = function
    }

    /// How many parameters the name asks for.
    var parameterCount: Int { rawValue.utf8.count { $0 == UInt8(ascii: ":") } }

    /// Statistics take one collection or any number of values.
    var takesManyValues: Bool {
        switch self {
        case .average, .sum, .count, .min, .max, .median, .mode, .standardDeviation: true
        default: false
        }
    }

    /// The sign of a function that is written between its arguments.
    var infix: (symbol: String, precedence: Int)? {
        switch self {
        case .add: ("+", 1)
        case .subtract: ("-", 1)
        case .multiply: ("*", 2)
        case .divide: ("/", 2)
        case .raise: ("**", 3)
        default: nil
        }
    }
}

/// Which element `collection[...]` means when it is not a number.
enum CollectionIndex: String {
    case first = "FIRST"
    case last = "LAST"
    case size = "SIZE"
}
