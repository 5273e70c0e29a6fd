import CoreData
import Foundation

/// Decimals in PostgreSQL's binary format: digits in base 10,000, the place of the first one, a
/// sign, and the number of decimal digits to show after the point.
enum WireNumeric {
    private static let negative: UInt16 = 0x4000
    /// Signs from this value on mark values that are no numbers: NaN and the infinities.
    private static let firstSpecial: UInt16 = 0xc000

    // MARK: Writing

    /// Appends the number in a decimal text, as `Decimal` prints it.
    ///
    /// - Returns: false for a text that is no number; nothing is appended then.
    static func append(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout WireBytes) -> Bool {
        guard let parts = Parts(text) else {
            // Numbers with an exponent, which stores of other programs may have.
            guard let decimal = Decimal(string: String(decoding: text, as: UTF8.self), locale: .posix), !decimal.isNaN
            else { return false }
            var plain = decimal.description
            return plain.withUTF8 { Parts($0).map { $0.append(to: &bytes) } != nil }
        }
        parts.append(to: &bytes)
        return true
    }

    /// The digits of a plain decimal text.
    private struct Parts {
        let isNegative: Bool
        let whole: UnsafeBufferPointer<UInt8>.SubSequence
        let fraction: UnsafeBufferPointer<UInt8>.SubSequence

        init?(_ text: UnsafeBufferPointer<UInt8>) {
            var rest = text[...]
            isNegative = rest.first == UInt8(ascii: "-")
            if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
            let point = rest.firstIndex(of: UInt8(ascii: ".")) ?? rest.endIndex
            whole = rest[..<point].drop { $0 == UInt8(ascii: "0") }
            fraction = rest[point...].dropFirst()
            let isDigit: (UInt8) -> Bool = { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            guard !rest.isEmpty, whole.allSatisfy(isDigit), fraction.allSatisfy(isDigit), whole.count < 100_000,
                fraction.count < 16_000
            else { return nil }
        }

        func append(to bytes: inout WireBytes) {
            var digits: [UInt16] = []
            func take(_ group: some Collection<UInt8>, padding: Int) {
                var digit: UInt16 = 0
                for byte in group { digit = digit * 10 + UInt16(byte - UInt8(ascii: "0")) }
                for _ in 0..<padding { digit *= 10 }
                digits.append(digit)
            }
            // Groups of four count from the point.
            var start = whole.startIndex
            var weight = (whole.count + 3) / 4 - 1
            var length = whole.count % 4 == 0 ? 4 : whole.count % 4
            while start < whole.endIndex {
                take(whole[start..<(start + length)], padding: 0)
                start += length
                length = 4
            }
            start = fraction.startIndex
            while start < fraction.endIndex {
                let end = min(start + 4, fraction.endIndex)
                take(fraction[start..<end], padding: 4 - (end - start))
                start = end
            }
            while digits.first == 0 {
                digits.removeFirst()
                weight -= 1
            }
            while digits.last == 0 { digits.removeLast() }
            if digits.isEmpty { weight = 0 }
            bytes.append(Int16(digits.count))
            bytes.append(Int16(weight))
            bytes.append(isNegative && !digits.isEmpty ? negative : 0)
            bytes.append(Int16(fraction.count))
            for digit in digits { bytes.append(digit) }
        }
    }

    // MARK: Reading

    /// Returns the number as `Decimal` prints it; nil for NaN and the infinities.
    static func text(_ value: UnsafeBufferPointer<UInt8>) -> String? {
        guard value.count >= 8 else { return nil }
        func number(_ index: Int) -> UInt16 { UInt16(value[2 * index]) << 8 | UInt16(value[2 * index + 1]) }
        let count = Int(number(0))
        let weight = Int(Int16(bitPattern: number(1)))
        let sign = number(2)
        guard sign < firstSpecial, value.count >= 8 + 2 * count else { return nil }
        if count == 0 { return "0" }
        func digit(at place: Int) -> UInt16 {
            // The place of a digit tells its power of 10,000.
            let index = weight - place
            return index >= 0 && index < count ? number(4 + index) : 0
        }
        var text = sign == negative ? "-" : ""
        if weight < 0 {
            text += "0"
        } else {
            for place in stride(from: weight, through: 0, by: -1) {
                let group = String(digit(at: place))
                text += place == weight ? group : String(repeating: "0", count: 4 - group.count) + group
            }
        }
        var fraction = ""
        for place in stride(from: -1, to: weight - count, by: -1) {
            let group = String(digit(at: place))
            fraction += String(repeating: "0", count: 4 - group.count) + group
        }
        while fraction.last == "0" { fraction.removeLast() }
        return fraction.isEmpty ? text : text + "." + fraction
    }
}
