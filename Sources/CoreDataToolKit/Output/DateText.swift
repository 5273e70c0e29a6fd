import Foundation

/// Converts dates to ISO 8601 in UTC and back.
enum DateText {
    /// Returns `2026-01-31T12:00:00Z`, with milliseconds if there are any.
    static func text(of date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        // Years of more than four digits have no agreed form; such dates come from damaged values.
        guard seconds.isFinite, seconds > -62_135_596_800, seconds < 253_402_300_800 else {
            return "seconds since 2001: \(date.timeIntervalSinceReferenceDate)"
        }
        let milliseconds = Int64((seconds * 1000).rounded())
        let (day, rest) = floorDivided(milliseconds, by: 86_400_000)
        let (year, month, dayOfMonth) = civil(daysSince1970: day)
        var text = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))T"
        text += "\(padded(rest / 3_600_000, 2)):\(padded(rest / 60_000 % 60, 2)):\(padded(rest / 1000 % 60, 2))"
        if rest % 1000 != 0 { text += "." + padded(rest % 1000, 3) }
        return text + "Z"
    }

    /// Parses a text as a date: `2026-01-31`, `2026-01-31T12:00`, `2026-01-31 12:00:00.5Z`,
    /// `…+02:00`.
    static func date(from text: String) -> Date? {
        var reader = DigitReader(text)
        guard let year = reader.number(digits: 4), reader.skip("-"), let month = reader.number(digits: 2),
            reader.skip("-"), let day = reader.number(digits: 2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        guard civil(daysSince1970: days) == (year, month, day) else { return nil }
        var seconds = Double(days) * 86_400
        if reader.isAtEnd { return Date(timeIntervalSince1970: seconds) }
        guard reader.skip("T") || reader.skip(" "), let hour = reader.number(digits: 2), reader.skip(":"),
            let minute = reader.number(digits: 2), hour < 24, minute < 60
        else { return nil }
        seconds += Double(hour * 3600 + minute * 60)
        if reader.skip(":") {
            guard let second = reader.number(digits: 2), second <= 60 else { return nil }
            seconds += Double(second)
            if reader.skip(".") {
                guard let fraction = reader.fraction() else { return nil }
                seconds += fraction
            }
        }
        if reader.isAtEnd || (reader.skip("Z") && reader.isAtEnd) { return Date(timeIntervalSince1970: seconds) }
        let sign: Int64 = reader.skip("-") ? 1 : -1
        if sign < 0, !reader.skip("+") { return nil }
        guard let zoneHour = reader.number(digits: 2) else { return nil }
        _ = reader.skip(":")
        let zoneMinute = reader.number(digits: 2) ?? 0
        guard reader.isAtEnd else { return nil }
        return Date(timeIntervalSince1970: seconds + Double(sign * (zoneHour * 3600 + zoneMinute * 60)))
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

        mutating func fraction() -> Double? {
            let head = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
            guard !head.isEmpty, head.count <= 9 else { return nil }
            rest = rest.dropFirst(head.count)
            return Double("0." + String(decoding: head, as: UTF8.self))
        }
    }
}
