import Foundation

/// The condition of a partial index: a predicate on the row's own columns, with its constants written out.
///
/// An index takes no placeholders, subqueries or functions of a connection. What can be said only with them has no condition, and the
/// index then holds all rows: an index is for speed, and a larger one gives the same answers.
struct SQLIndexCondition {
    let entity: SQLEntity
    let dialect: any SQLDialect

    /// The condition as SQL; nil when it cannot be said.
    func sql(_ predicate: NSPredicate) -> String? { condition(predicate)?.statement(dialect).sql }

    private func condition(_ predicate: NSPredicate) -> SQLText? {
        if let compound = predicate as? NSCompoundPredicate { return condition(compound) }
        guard let comparison = predicate as? NSComparisonPredicate, comparison.options.isEmpty,
            comparison.comparisonPredicateModifier == .direct
        else { return nil }
        if let column = column(comparison.leftExpression) {
            return condition(column, comparison.predicateOperatorType, comparison.rightExpression)
        }
        guard let column = column(comparison.rightExpression), let type = comparison.predicateOperatorType.mirrored else {
            return nil
        }
        return condition(column, type, comparison.leftExpression)
    }

    private func condition(_ compound: NSCompoundPredicate) -> SQLText? {
        let parts = compound.subpredicates.compactMap { ($0 as? NSPredicate).flatMap(condition) }
        guard !parts.isEmpty, parts.count == compound.subpredicates.count else { return nil }
        switch compound.compoundPredicateType {
        case .and: return "(" + SQLText.joined(parts, by: " AND ") + ")"
        case .or: return "(" + SQLText.joined(parts, by: " OR ") + ")"
        case .not: return dialect.isNotTrue(parts[0])
        }
    }

    private func condition(_ column: SQLColumn, _ type: NSComparisonPredicate.Operator, _ expression: NSExpression) -> SQLText? {
        guard expression.expressionType == .constantValue,
            let value = PropertyConversion.storedValue(from: expression.constantValue, kind: column.kind)
        else { return nil }
        let name = dialect.identifier(column.name)
        if value.isNull {
            switch type {
            case .equalTo: return SQLText("\(name) IS NULL")
            case .notEqualTo: return SQLText("\(name) IS NOT NULL")
            default: return nil
            }
        }
        guard let literal = dialect.literal(value, column.kind) else { return nil }
        switch type {
        case .equalTo: return SQLText("\(name) = \(literal)")
        // A nil is unequal to every value, as in a fetch.
        case .notEqualTo: return dialect.isDifferent(SQLText(name), SQLText(literal))
        case .lessThan: return SQLText("\(name) < \(literal)")
        case .lessThanOrEqualTo: return SQLText("\(name) <= \(literal)")
        case .greaterThan: return SQLText("\(name) > \(literal)")
        case .greaterThanOrEqualTo: return SQLText("\(name) >= \(literal)")
        default: return nil
        }
    }

    private func column(_ expression: NSExpression) -> SQLColumn? {
        guard expression.expressionType == .keyPath else { return nil }
        return entity.layout.slotByPath[expression.keyPath].flatMap { entity.columns[$0] }
    }
}
