import Foundation

// Columns of dictionary results: expressions that may be aggregates over the rows of the query.
extension SQLGenerator {
    /// Returns an expression as a result column.
    ///
    /// An aggregate of a plain key path is computed over the query's rows; an aggregate of a
    /// to-many key path is computed over each row's destinations.
    func resultTerm(_ expression: NSExpression, in environment: SQLEnvironment) throws -> SQLTerm {
        let context = RequestPart.words("\(expression)")
        let expression = expression.withRowAggregate
        if expression.expressionType == .function, expression.methodTarget == nil,
            let function = RowAggregate.Function(rawValue: expression.function.lowercased()),
            let argument = expression.arguments?.first
        {
            if argument.expressionType == .evaluatedObject, function == .count {
                return SQLTerm(text: SQLText("COUNT(*)"), kind: .int64, canBeNull: false)
            }
            if argument.expressionType == .evaluatedObject {
                throw refuse(context, "'\(function.rawValue)' needs values, and SELF is an object")
            }
            if argument.expressionType == .keyPath, !argument.isToManyPath(of: environment.scope.entity.layout) {
                let value = try term(argument, in: environment, like: nil, context)
                if function == .count {
                    return SQLTerm(text: "COUNT(" + (value.stored ?? value.text) + ")", kind: .int64, canBeNull: false)
                }
                _ = try single(value, context)
                return try aggregate(function.collectionOperator, of: value, context)
            }
        }
        return try term(expression, in: environment, like: nil, context)
    }

    /// Returns a condition on groups, in which key paths may name result columns.
    func havingCondition(
        _ predicate: NSPredicate, in environment: SQLEnvironment, column: @escaping (String) -> SQLTerm?
    ) throws -> SQLText {
        resultColumn = column
        defer { resultColumn = nil }
        return try condition(predicate, in: environment)
    }

    /// Returns ` ORDER BY …`, in which keys may name result columns.
    func order(
        _ descriptors: [NSSortDescriptor], in scope: SQLScope, column: @escaping (String) -> SQLTerm?
    ) throws -> SQLText {
        resultColumn = column
        defer { resultColumn = nil }
        return try order(descriptors, in: scope)
    }
}

extension SQLGenerator {
    /// Returns the value of a group of rows, computed from the rows' values; without a function,
    /// the term itself.
    func ofGroup(_ term: SQLTerm, _ function: RowAggregate.Function?) -> SQLTerm {
        switch function {
        case nil: term
        case .count?: SQLTerm(text: "COUNT(" + term.text + ")", kind: term.kind)
        case .sum?: SQLTerm(text: dialect.aggregate(.sum, term), kind: term.kind)
        case .min?: SQLTerm(text: dialect.aggregate(.minimum, term), kind: term.kind)
        case .max?: SQLTerm(text: dialect.aggregate(.maximum, term), kind: term.kind)
        case .average?: SQLTerm(text: dialect.aggregate(.average, term), kind: term.kind)
        }
    }
}
