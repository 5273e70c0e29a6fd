import Foundation

/// A decimal number as it is written: its digits, and the power of ten they are multiplied with.
struct ExactNumber: Equatable {
    private let isNegative: Bool
    /// Without zeros at the beginning and at the end.
    private let digits: String
    private let exponent: Int

    /// The greatest exponents that are of use for any type.
    private static let exponents = -10_000...10_000

    /// Reads a number in JSON's syntax; nil where the exponent is beyond all types.
    init?(_ text: String) {
        let parts = text.lowercased().split(separator: "e")
        guard let mantissa = parts.first, parts.count <= 2 else { return nil }
        let halves = mantissa.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = halves.first, halves.count <= 2 else { return nil }
        let fraction = halves.count == 2 ? halves[1] : ""
        let all = (whole + fraction).drop { $0 == "0" }
        let zeros = all.reversed().prefix { $0 == "0" }.count
        digits = String(all.dropLast(zeros))
        isNegative = mantissa.first == "-" && !digits.isEmpty
        guard !digits.isEmpty else {
            exponent = 0
            return
        }
        guard let power = parts.count == 2 ? Int(parts[1]) : 0, Self.exponents.contains(power) else { return nil }
        exponent = power - fraction.count + zeros
    }

    /// The number without exponent; nil if it is not whole, or longer than any integer.
    var integerText: String? {
        if digits.isEmpty { return "0" }
        guard exponent >= 0, exponent < 20 else { return nil }
        return (isNegative ? "-" : "") + digits + String(repeating: "0", count: exponent)
    }

    /// The number as a decimal; nil if no decimal is exactly this number.
    var decimal: Decimal? {
        guard digits.utf8.count <= 39, let value = Decimal(string: "\(isNegative ? "-" : "")\(digits)e\(exponent)")
        else { return digits.isEmpty ? Decimal(0) : nil }
        return ExactNumber(value.description) == self ? value : nil
    }
}
