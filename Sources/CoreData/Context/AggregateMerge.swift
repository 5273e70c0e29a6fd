import Foundation

/// Aggregates over all rows of several stores: each store computes its part, and the parts become one dictionary.
struct AggregateMerge {
    /// What the stores are asked for: the columns of the request, and for an average its sum and count.
    let columns: StoreFetch.DictionaryColumns

    private struct Part {
        let name: String
        /// nil for a column that is no aggregate, of which some row's value is shown.
        let function: String?
    }

    private let parts: [Part]

    private static let functions: Set<String> = ["count:", "sum:", "min:", "max:", "average:"]

    /// nil for a fetch that is grouped or has no aggregates: its rows stand beside each other.
    init?(_ columns: StoreFetch.DictionaryColumns, of entity: EntityLayout) {
        guard columns.groupBy.isEmpty else { return nil }
        var parts: [Part] = []
        var asked = columns
        for property in columns.properties {
            guard let name = (property as? NSPropertyDescription)?.name ?? property as? String else { return nil }
            guard let description = property as? NSExpressionDescription, let expression = description.expression,
                let function = Self.aggregate(expression, of: entity)
            else {
                parts.append(Part(name: name, function: nil))
                continue
            }
            parts.append(Part(name: name, function: function))
            if function == "average:" {
                for part in ["sum:", "count:"] { asked.properties.append(Self.column(part, expression, Self.name(part, name))) }
            }
        }
        guard parts.contains(where: { $0.function != nil }) else { return nil }
        self.parts = parts
        self.columns = asked
    }

    private static func aggregate(_ expression: NSExpression, of entity: EntityLayout) -> String? {
        guard expression.expressionType == .function, let arguments = expression.arguments, arguments.count == 1 else { return nil }
        let function = expression.function.lowercased()
        guard functions.contains(function) else { return nil }
        // Over a to-many relationship the function is computed for each row.
        if arguments[0].expressionType == .keyPath, let first = arguments[0].keyPath.split(separator: ".").first,
            let slot = entity.slotByName[String(first)], entity.slots[slot].kind.isToMany
        {
            return nil
        }
        return function
    }

    private static func name(_ part: String, _ name: String) -> String { "\(part)\(name)" }

    private static func column(_ function: String, _ expression: NSExpression, _ name: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(forFunction: function, arguments: expression.arguments ?? [])
        return description
    }

    /// One dictionary of those that the stores gave.
    func merged(_ rows: [[String: Any]]) -> [String: Any] {
        var result: [String: Any] = [:]
        for part in parts {
            result[part.name] = value(of: part, rows)
        }
        return result
    }

    private func value(of part: Part, _ rows: [[String: Any]]) -> Any? {
        let values = rows.compactMap { $0[part.name] }
        switch part.function {
        case "count:", "sum:": return Self.sum(values)
        case "min:", "max:":
            guard let function = part.function, !values.isEmpty else { return nil }
            return NSExpression(forFunction: function, arguments: [NSExpression(forConstantValue: values)])
                .expressionValue(with: nil, context: nil)
        case "average:":
            let sum = Self.sum(rows.compactMap { $0[Self.name("sum:", part.name)] })
            guard let sum, let count = Self.sum(rows.compactMap { $0[Self.name("count:", part.name)] }), count.doubleValue > 0
            else { return nil }
            if let decimal = sum as? NSDecimalNumber { return decimal.dividing(by: NSDecimalNumber(value: count.int64Value)) }
            return NSNumber(value: sum.doubleValue / count.doubleValue)
        default: return values.first
        }
    }

    /// The sum of numbers, an integer if all are and it fits; nil for none.
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
