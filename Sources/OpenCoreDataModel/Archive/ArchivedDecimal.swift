import Foundation

/// Decimal numbers in keyed archives: a mantissa of eight 16-bit words, an exponent and a sign.
package enum ArchivedDecimal {
    /// Returns the number; nil when the object is not a number.
    package static func number(_ object: ObjectArchive.Object, in archive: ObjectArchive) throws -> NSDecimalNumber? {
        guard let mantissa = try archive.data("NS.mantissa", of: object), mantissa.count == 16,
            let exponent = try archive.integer("NS.exponent", of: object), (-128...127).contains(exponent)
        else { return nil }
        let isLittleEndian = try archive.integer("NS.mantissa.bo", of: object) ?? 1 == 1
        let length = min(max(try archive.integer("NS.length", of: object) ?? 8, 0), 8)
        let bytes = [UInt8](mantissa)
        var value = Decimal(0)
        for index in (0..<length).reversed() {
            let (first, second) = (bytes[index * 2], bytes[index * 2 + 1])
            let word = isLittleEndian ? UInt16(second) << 8 | UInt16(first) : UInt16(first) << 8 | UInt16(second)
            value = value * 65536 + Decimal(Int(word))
        }
        guard !value.isNaN else { return nil }
        let isNegative = try archive.boolean("NS.negative", of: object)
        if isNegative && value == 0 { return NSDecimalNumber.notANumber }
        var scaled = Decimal()
        var result = value
        guard NSDecimalMultiplyByPowerOf10(&scaled, &result, Int16(exponent), .plain) == .noError else { return nil }
        return NSDecimalNumber(decimal: isNegative ? -scaled : scaled)
    }

    static func entries(of number: NSDecimalNumber) -> [String: PropertyListValue] {
        let decimal = number.decimalValue
        let isNegative = decimal < 0
        let exponent = decimal.isNaN ? 0 : decimal.exponent
        var digits = decimal.isNaN ? Decimal(0) : abs(decimal.significand)
        var words: [UInt16] = []
        while digits > 0, words.count < 8 {
            var quotient = digits / 65536
            var whole = Decimal()
            NSDecimalRound(&whole, &quotient, 0, .down)
            words.append(UInt16(truncatingIfNeeded: NSDecimalNumber(decimal: digits - whole * 65536).intValue))
            digits = whole
        }
        let length = words.count
        words += [UInt16](repeating: 0, count: 8 - length)
        let mantissa = words.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        return [
            "NS.mantissa": .data(Data(mantissa)), "NS.mantissa.bo": .integer(1),
            "NS.exponent": .integer(Int64(exponent)),
            "NS.length": .integer(Int64(length)), "NS.negative": .boolean(isNegative || decimal.isNaN),
            "NS.compact": .boolean(true),
        ]
    }
}
