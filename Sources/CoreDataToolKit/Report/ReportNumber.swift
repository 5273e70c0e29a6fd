/// Numbers for people.
enum ReportNumber {
    /// Returns `1,234,567`.
    static func grouped(_ number: Int64) -> String {
        var digits = String(number.magnitude)
        var groups: [Substring] = []
        while digits.count > 3 {
            groups.insert(digits.suffix(3), at: 0)
            digits.removeLast(3)
        }
        return (number < 0 ? "-" : "") + ([digits[...]] + groups).joined(separator: ",")
    }

    /// Returns `1.2 MB`.
    static func bytes(_ count: Int64) -> String {
        count < 1000 ? "\(count) bytes" : String(StoreReport.bytes(count).prefix { $0 != "(" }.dropLast())
    }
}
