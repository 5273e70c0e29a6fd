import Foundation

/// A value of a group: the columns in the stores' result rows from which it is computed.
enum GroupValue {
    /// The value of the first row that has one, which is valid for the group.
    case first(String)
    case aggregate(RowAggregate.Function, String, ValueKind?)
    case average(sum: String, count: String, ValueKind?)

    /// - Parameter rows: One dictionary for each store that has rows of the group.
    func value(in rows: [[String: Any]]) -> Any? {
        switch self {
        case .first(let name):
            for row in rows { if let value = row[name] { return value } }
            return nil
        case .aggregate(let function, let name, let kind):
            let parts = rows.compactMap { $0[name] }
            switch function {
            case .min, .max:
                if parts.isEmpty { return nil }
                return Self.converted(function.value(of: parts), kind)
            default: return Self.converted(Self.sum(parts), kind)
            }
        case .average(let sum, let count, let kind):
            guard let total = Self.sum(rows.compactMap { $0[sum] }),
                let count = Self.sum(rows.compactMap { $0[count] }),
                count.int64Value > 0
            else { return nil }
            if let decimal = total as? NSDecimalNumber {
                return Self.converted(decimal.dividing(by: NSDecimalNumber(value: count.int64Value)), kind)
            }
            return Self.converted(NSNumber(value: total.doubleValue / count.doubleValue), kind)
        }
    }

    /// Converts a value to the declared kind of the column.
    private static func converted(_ value: Any?, _ kind: ValueKind?) -> Any? {
        PropertyConversion.object(value, as: kind) ?? value
    }

    /// Returns the sum: an integer if all are and it fits; nil without numbers.
    private static func sum(_ values: [Any]) -> NSNumber? {
        let numbers = values.compactMap { $0 as? NSNumber }
        guard var total = numbers.first else { return nil }
        for number in numbers.dropFirst() {
            if total is NSDecimalNumber || number is NSDecimalNumber {
                total = NSDecimalNumber(decimal: total.decimalValue + number.decimalValue)
                continue
            }
            let sum = total.int64Value.addingReportingOverflow(number.int64Value)
            let isFraction = [total, number].contains { ["d", "f"].contains(String(cString: $0.objCType)) }
            total =
                isFraction || sum.overflow
                ? NSNumber(value: total.doubleValue + number.doubleValue) : NSNumber(value: sum.partialValue)
        }
        return total
    }
}
