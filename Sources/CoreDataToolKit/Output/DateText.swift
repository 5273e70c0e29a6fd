import Foundation

/// Converts dates to ISO 8601 in UTC and back.
enum DateText {
    /// Returns `2026-01-31T12:00:00Z`, with milliseconds if there are any.
    static func text(of date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard isWritten(seconds) else { return exactText(seconds) }
        let milliseconds = Int64(((seconds + secondsBefore2001) * 1000).rounded())
        let (whole, rest) = floorDivided(milliseconds, by: 1000)
        let fraction = rest == 0 ? "" : padded(rest, 3)
        return text(whole, fraction)
    }

    /// Returns the text of a date, as many digits as give the same date again.
    ///
    /// - Parameter seconds: the seconds since 2001 in UTC, as stores keep them.
    static func exactText(_ seconds: Double) -> String {
        // Years of more than four digits have no agreed form; such dates come from damaged values.
        guard isWritten(seconds) else { return unwritten + "\(seconds)" }
        let whole = seconds.rounded(.down)
        var fraction = whole == seconds ? "" : fractionDigits(seconds.magnitude)
        if seconds < 0, !fraction.isEmpty { fraction = complement(fraction) }
        if !fraction.isEmpty { fraction += String(repeating: "0", count: max(0, 3 - fraction.utf8.count)) }
        return text(Int64(whole) + Int64(secondsBefore2001), fraction)
    }

    private static let secondsBefore2001 = Date.timeIntervalBetween1970AndReferenceDate
    private static let unwritten = "seconds since 2001: "

    /// Whether a date is in the years 1 to 9999.
    private static func isWritten(_ seconds: Double) -> Bool {
        seconds > -63_113_904_000 && seconds < 252_423_993_600
    }

    /// Returns the text of a number of seconds since 1970.
    private static func text(_ seconds: Int64, _ fraction: String) -> String {
        let (day, rest) = floorDivided(seconds, by: 86_400)
        let (year, month, dayOfMonth) = civil(daysSince1970: day)
        return String(unsafeUninitializedCapacity: 24 + fraction.utf8.count) { bytes in
            var count = 0
            func append(_ byte: UInt8) {
                bytes[count] = byte
                count += 1
            }
            func append(_ number: Int64, digits: Int64, _ separator: Unicode.Scalar) {
                var unit = digits == 4 ? Int64(1000) : 10
                while unit > 0 {
                    append(UInt8(truncatingIfNeeded: 0x30 + number / unit % 10))
                    unit /= 10
                }
                append(UInt8(ascii: separator))
            }
            append(year, digits: 4, "-")
            append(month, digits: 2, "-")
            append(dayOfMonth, digits: 2, "T")
            append(rest / 3600, digits: 2, ":")
            append(rest / 60 % 60, digits: 2, ":")
            append(rest % 60, digits: 2, fraction.isEmpty ? "Z" : ".")
            if fraction.isEmpty { return count }
            for byte in fraction.utf8 { append(byte) }
            append(UInt8(ascii: "Z"))
            return count
        }
    }

    /// Returns the digits behind the point in the shortest text that gives a number again.
    private static func fractionDigits(_ number: Double) -> String {
        let text = "\(number)"
        if !text.utf8.contains(UInt8(ascii: "e")) {
            return String(text.utf8.drop { $0 != UInt8(ascii: ".") }.dropFirst()) ?? ""
        }
        let parts = text.split(separator: "e")
        let digits = parts[0].split(separator: ".")
        guard parts.count == 2, let exponent = Int(parts[1]) else { return "" }
        // A small number is written with an exponent: 1.5e-07.
        return String(repeating: "0", count: max(0, -exponent - 1)) + digits.joined()
    }

    /// Returns the digits of one minus a fraction.
    private static func complement(_ fraction: String) -> String {
        var digits = Array(fraction.utf8)
        while digits.last == 0x30 { digits.removeLast() }
        guard let last = digits.popLast() else { return "" }
        return String(decoding: digits.map { 0x69 - $0 } + [0x6a - last], as: UTF8.self)
    }

    /// Parses a text as a date: `2026-01-31`, `2026-01-31T12:00`, `2026-01-31 12:00:00.5Z`,
    /// `…+02:00`.
    static func date(from text: String) -> Date? {
        if text.hasPrefix(unwritten) {
            return Double(text.dropFirst(unwritten.count)).map { Date(timeIntervalSinceReferenceDate: $0) }
        }
        var reader = DigitReader(text)
        guard let year = reader.number(digits: 4), reader.skip("-"), let month = reader.number(digits: 2),
            reader.skip("-"), let day = reader.number(digits: 2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        guard civil(daysSince1970: days) == (year, month, day) else { return nil }
        var seconds = days * 86_400
        if reader.isAtEnd { return date(seconds, "") }
        guard reader.skip("T") || reader.skip(" "), let hour = reader.number(digits: 2), reader.skip(":"),
            let minute = reader.number(digits: 2), hour < 24, minute < 60
        else { return nil }
        seconds += hour * 3600 + minute * 60
        var fraction = ""
        if reader.skip(":") {
            guard let second = reader.number(digits: 2), second <= 60 else { return nil }
            seconds += second
            if reader.skip(".") {
                guard let digits = reader.digits() else { return nil }
                fraction = digits
            }
        }
        if reader.isAtEnd || (reader.skip("Z") && reader.isAtEnd) { return date(seconds, fraction) }
        let sign: Int64 = reader.skip("-") ? 1 : -1
        if sign < 0, !reader.skip("+") { return nil }
        guard let zoneHour = reader.number(digits: 2) else { return nil }
        _ = reader.skip(":")
        let zoneMinute = reader.number(digits: 2) ?? 0
        guard reader.isAtEnd else { return nil }
        return date(seconds + sign * (zoneHour * 3600 + zoneMinute * 60), fraction)
    }

    /// Returns the date nearest to a number of seconds since 1970 with the digits of a fraction.
    private static func date(_ seconds: Int64, _ fraction: String) -> Date? {
        let whole = seconds - Int64(secondsBefore2001)
        let rest = whole < 0 ? complement(fraction) : fraction
        // Minus one and 0.7 is minus 0.3.
        let magnitude = whole < 0 ? -whole - (rest.isEmpty ? 0 : 1) : whole
        return Double("\(whole < 0 ? "-" : "")\(magnitude).\(rest)0").map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// Returns the first date in a predicate that stands without quotes, where it is a difference
    /// of numbers: `2026-01-31`, with a time if there is one.
    static func bareDate(in predicate: String) -> String? {
        let date = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(T[0-9:.]*(Z|[+-][0-9:]+)?)?"
        let quoted = #""(\\.|[^"\\])*"?|'(\\.|[^'\\])*'?"#
        guard let pattern = try? NSRegularExpression(pattern: "\(quoted)|(?<![\\w.$-])(?<date>\(date))(?![\\w-])")
        else {
            return nil
        }
        let whole = NSRange(predicate.startIndex..., in: predicate)
        for match in pattern.matches(in: predicate, range: whole) {
            if let range = Range(match.range(withName: "date"), in: predicate) { return String(predicate[range]) }
        }
        return nil
    }

    private static func floorDivided(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    // The Gregorian calendar repeats every 400 years, 146,097 days. Years are counted from March,
    // so that the leap day is the last day of a year.

    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivided(days + 719_468, by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let (era, yearOfEra) = floorDivided(month <= 2 ? year - 1 : year, by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func padded(_ value: Int64, _ digits: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Reads numbers and separators from the start of a text.
    private struct DigitReader {
        private var rest: Substring.UTF8View

        init(_ text: String) { rest = text[...].utf8 }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard let first = rest.first, UInt32(first) == character.value else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(digits: Int) -> Int64? {
            let head = rest.prefix(digits)
            guard head.count == digits, head.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
            rest = rest.dropFirst(digits)
            return head.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }

        /// Returns the digits of a fraction. No date has more than a few hundred.
        mutating func digits() -> String? {
            let head = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
            guard !head.isEmpty, head.count <= 1100 else { return nil }
            rest = rest.dropFirst(head.count)
            return String(decoding: head, as: UTF8.self)
        }
    }
}
