import Foundation

/// The condition of a partial index: a predicate on the row's own columns, with its constants written out.
///
/// SQLite takes no placeholders, subqueries or functions of a connection in an index. What can be said only with them has no
/// condition, and the index then holds all rows: an index is for speed, and a larger one gives the same answers.
struct SQLIndexCondition {
    let entity: SQLEntity

    /// The condition as SQL; nil when it cannot be said.
    func sql(_ predicate: NSPredicate) -> String? {
        if let compound = predicate as? NSCompoundPredicate { return sql(compound) }
        guard let comparison = predicate as? NSComparisonPredicate, comparison.options.isEmpty,
            comparison.comparisonPredicateModifier == .direct
        else { return nil }
        if let column = column(comparison.leftExpression) {
            return sql(column, comparison.predicateOperatorType, comparison.rightExpression)
        }
        guard let column = column(comparison.rightExpression), let type = comparison.predicateOperatorType.mirrored else {
            return nil
        }
        return sql(column, type, comparison.leftExpression)
    }

    private func sql(_ compound: NSCompoundPredicate) -> String? {
        let parts = compound.subpredicates.compactMap { ($0 as? NSPredicate).flatMap(sql) }
        guard !parts.isEmpty, parts.count == compound.subpredicates.count else { return nil }
        switch compound.compoundPredicateType {
        case .and: return "(" + parts.joined(separator: " AND ") + ")"
        case .or: return "(" + parts.joined(separator: " OR ") + ")"
        case .not: return "((\(parts[0])) IS NOT 1)"
        }
    }

    private func sql(_ column: SQLColumn, _ type: NSComparisonPredicate.Operator, _ expression: NSExpression) -> String? {
        guard expression.expressionType == .constantValue, let literal = literal(expression.constantValue, column) else {
            return nil
        }
        let name = SQLSchema.identifier(column.name)
        switch type {
        case .equalTo: return literal == "NULL" ? "\(name) IS NULL" : "\(name) = \(literal)"
        // A nil is unequal to every value, as in a fetch.
        case .notEqualTo: return literal == "NULL" ? "\(name) IS NOT NULL" : "\(name) IS NOT \(literal)"
        case .lessThan where literal != "NULL": return "\(name) < \(literal)"
        case .lessThanOrEqualTo where literal != "NULL": return "\(name) <= \(literal)"
        case .greaterThan where literal != "NULL": return "\(name) > \(literal)"
        case .greaterThanOrEqualTo where literal != "NULL": return "\(name) >= \(literal)"
        default: return nil
        }
    }

    private func column(_ expression: NSExpression) -> SQLColumn? {
        guard expression.expressionType == .keyPath else { return nil }
        return entity.layout.slotByPath[expression.keyPath].flatMap { entity.columns[$0] }
    }

    private func literal(_ constant: Any?, _ column: SQLColumn) -> String? {
        switch PropertyConversion.value(from: constant, kind: column.kind) {
        case .null: return "NULL"
        case .integer(let number): return String(number)
        case .double(let number): return number.isFinite ? "\(number)" : nil
        case .string(let text) where !text.contains("\0"): return "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
        default: return nil
        }
    }
}
