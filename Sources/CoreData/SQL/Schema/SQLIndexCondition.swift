import Foundation

/// The condition of a partial index: a predicate on the row's own columns, with its constants
/// written out.
///
/// An index cannot use placeholders, subqueries or functions of a connection. A predicate that
/// needs them gives no condition, and the index then holds all rows. An index only adds speed, and
/// a larger one gives the same answers.
struct SQLIndexCondition {
    let entity: SQLEntity
    let dialect: any SQLDialect

    /// Returns the condition as SQL; nil when it cannot be expressed.
    func sql(_ predicate: NSPredicate) -> String? { condition(predicate)?.statement(dialect).sql }

    /// - Parameter isPart: whether the condition is part of a larger one, so that alternatives need
    ///   parentheses.
    private func condition(_ predicate: NSPredicate, isPart: Bool = false) -> SQLText? {
        if let compound = predicate as? NSCompoundPredicate { return condition(compound, isPart: isPart) }
        guard let comparison = predicate as? NSComparisonPredicate, comparison.options.isEmpty,
            comparison.comparisonPredicateModifier == .direct
        else { return nil }
        if let column = column(comparison.leftExpression) {
            return condition(column, comparison.predicateOperatorType, comparison.rightExpression)
        }
        guard let column = column(comparison.rightExpression), let type = comparison.predicateOperatorType.mirrored
        else {
            return nil
        }
        return condition(column, type, comparison.leftExpression)
    }

    private func condition(_ compound: NSCompoundPredicate, isPart: Bool) -> SQLText? {
        let parts = compound.subpredicates.compactMap { ($0 as? NSPredicate).flatMap { condition($0, isPart: true) } }
        guard !parts.isEmpty, parts.count == compound.subpredicates.count else { return nil }
        switch compound.compoundPredicateType {
        case .and: return "(" + SQLText.joined(parts, by: " AND ") + ")"
        case .or:
            let alternatives = SQLText.joined(parts, by: " OR ")
            return isPart ? "(" + alternatives + ")" : alternatives
        case .not: return dialect.isNotTrue(parts[0])
        }
    }

    private func condition(_ column: SQLColumn, _ type: NSComparisonPredicate.Operator, _ expression: NSExpression)
        -> SQLText?
    {
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
        // Rows with nil are not in the index, as in Core Data. A fetch that wants them reads the
        // table.
        case .notEqualTo: return SQLText("\(name) <> \(literal)")
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
