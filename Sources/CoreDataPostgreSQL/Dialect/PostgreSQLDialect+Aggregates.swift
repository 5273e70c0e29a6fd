import CoreData

// Aggregates.
extension PostgreSQLDialect {
    func aggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText {
        let own = form(value)
        let number = own == .boolean ? "CAST(" + value.text + " AS integer)" : value.text
        switch aggregate {
        case .sum where own.isWhole || own == .computed && value.kind?.isInteger == true:
            return "CAST(SUM(" + number + ") AS bigint)"
        case .sum where own == .decimal: return "SUM(" + number + ")"
        case .sum: return "SUM(CAST(" + number + " AS double precision))"
        case .average where value.kind == .decimal: return "ocd_plain(" + average(ofDecimal: value) + ")"
        case .average where own == .double:
            return "(SUM(CAST(" + number + " AS double precision)) / NULLIF(COUNT(" + number + "), 0))"
        case .average: return "(CAST(SUM(" + number + ") AS double precision) / NULLIF(COUNT(" + number + "), 0))"
        case .minimum, .maximum: return extreme(value, isLeast: aggregate == .minimum)
        }
    }

    /// Returns MIN or MAX of a term. PostgreSQL has neither for some types that have an order.
    private func extreme(_ value: SQLTerm, isLeast: Bool) -> SQLText {
        switch value.kind {
        case .boolean?: (isLeast ? "bool_and(" : "bool_or(") + value.text + ")"
        case .uuid?, .data?, .json?, .transformable?:
            "(array_agg(" + value.text + " ORDER BY " + value.text + (isLeast ? "" : " DESC NULLS LAST") + "))[1]"
        default: (isLeast ? "MIN(" : "MAX(") + ordered(value) + ")"
        }
    }

    private func average(ofDecimal value: SQLTerm) -> SQLText {
        "ocd_calculate('/', ocd_decimal(SUM(" + value.text + ")), CAST(COUNT(" + value.text + ") AS numeric))"
    }

    func storedAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText { self.aggregate(aggregate, value) }

    func exactAggregate(_ aggregate: SQLAggregate, _ value: SQLTerm) -> SQLText? {
        if !hasFunctions && aggregate == .sum { return nil }
        switch aggregate {
        case .average: return value.kind == .decimal ? average(ofDecimal: value) : nil
        // The sum of no values is the whole number 0: dividing it and another whole number is a
        // division of whole numbers.
        case .sum where form(value) == .decimal: return "ocd_decimal(SUM(" + value.text + "))"
        case .sum where form(value) == .double: return "ocd_double(" + self.aggregate(.sum, value) + ")"
        case .sum, .minimum, .maximum: return nil
        }
    }
}
