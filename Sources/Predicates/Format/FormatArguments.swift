import Foundation

struct FormatArguments {
    struct Mismatch: Error {
        let message: String
    }

    private let values: [Any?]
    private var taken = 0

    init(_ values: [Any?]) {
        self.values = values
    }

    /// Returns the next value in the form that the conversion character requires.
    mutating func next(for conversion: Character) throws(Mismatch) -> PredicateToken.Kind {
        guard "@KdDiuUxXoOfFeEgGaAcCsSp".contains(conversion) else {
            throw Mismatch(message: "\"%\(conversion)\" is not a conversion")
        }
        guard taken < values.count else {
            throw Mismatch(message: "there is no argument \(taken + 1) for \"%\(conversion)\"")
        }
        let value = KeyValue.unwrapped(values[taken])
        taken += 1
        switch conversion {
        case "@":
            return .value(value)
        case "K":
            guard let value, let path = FormatArguments.keyPath(value) else {
                throw mismatch("%K", "a key path", value)
            }
            return .keyPath(path)
        case "f", "F", "e", "E", "g", "G", "a", "A":
            guard let number = ComparableValue(value).doubleValue else {
                throw mismatch("%\(conversion)", "a number", value)
            }
            return .value(value is Decimal || value is NSDecimalNumber ? value : number)
        case "s", "S":
            guard case .string(let text) = ComparableValue(value) else {
                throw mismatch("%\(conversion)", "a string", value)
            }
            return .value(text)
        case "c", "C":
            if case .string(let text) = ComparableValue(value) { return .value(text) }
            guard case .integer(let code) = ComparableValue(value) else {
                throw mismatch("%\(conversion)", "a character", value)
            }
            return .value(Int(code))
        default:
            switch ComparableValue(value) {
            case .integer, .decimal: return .value(value)
            case .double(let number):
                guard let whole = Int(exactly: number.rounded(.towardZero)) else {
                    throw mismatch("%\(conversion)", "a whole number", value)
                }
                return .value(whole)
            default: throw mismatch("%\(conversion)", "a whole number", value)
            }
        }
    }

    private static func keyPath(_ value: Any) -> String? {
        if let path = value as? AnyKeyPath { return KeyPathNames.name(of: path) }
        guard case .string(let path) = ComparableValue(value), !path.isEmpty else { return nil }
        return path
    }

    private func mismatch(_ placeholder: String, _ expected: String, _ value: Any?) -> Mismatch {
        let found = value.map { "\"\($0)\" of type \(type(of: $0))" } ?? "nil"
        return Mismatch(message: "\"\(placeholder)\" takes \(expected), not \(found)")
    }
}
