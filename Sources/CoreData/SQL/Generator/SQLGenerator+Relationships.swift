import Foundation

extension SQLGenerator {
    /// Rows of a to-many relationship.
    struct RelatedRowSource {
        /// The FROM and WHERE of a subquery.
        let text: SQLText
        /// The key column of the destination in it.
        let key: String
    }

    /// Returns the rows of a to-many relationship as the FROM and WHERE of a subquery.
    ///
    /// - Parameter body: returns the conditions on the destination, and may extend its joins.
    func relatedRows(
        ownerKey: String, _ toMany: SQLToMany, slot: PropertySlot, _ context: RequestPart,
        _ body: (SQLScope) throws -> [SQLText]
    ) throws -> SQLText {
        try rowSource(ownerKey: ownerKey, toMany, slot: slot, context, body).text
    }

    private func rowSource(
        ownerKey: String, _ toMany: SQLToMany, slot: PropertySlot, _ context: RequestPart,
        _ body: (SQLScope) throws -> [SQLText]
    ) throws -> RelatedRowSource {
        guard let destination = mapping.entities[slot.destinationIndex] else {
            throw refuse(context, "the destination of '\(slot.name)' is not kept in this store")
        }
        let scope = newScope(destination)
        switch toMany {
        case .inverse(let column, _, _):
            let conditions = try body(scope)
            let link = SQLText("\(self.column(scope.alias, column.name)) = \(ownerKey)")
            let from = " FROM \(dialect.identifier(destination.table.name)) \(scope.alias)\(scope.joins) WHERE "
            return RelatedRowSource(text: from + SQLText.joined([link] + conditions, by: " AND "), key: key(scope))
        case .join(let join, let isFirst):
            let alias = newAlias()
            let conditions = try body(scope)
            let link = SQLText("\(column(alias, join.ownerColumn(isFirst: isFirst))) = \(ownerKey)")
            let from =
                " FROM \(dialect.identifier(join.name)) \(alias) JOIN \(dialect.identifier(destination.table.name)) "
                + "\(scope.alias) ON \(column(alias, join.destinationColumn(isFirst: isFirst))) = "
                + "\(key(scope))\(scope.joins) WHERE "
            return RelatedRowSource(text: from + SQLText.joined([link] + conditions, by: " AND "), key: key(scope))
        }
    }

    /// Returns a collection operator, such as `@count` or `@sum`, at the end of a path through a
    /// to-many relationship.
    func aggregate(
        ownerKey: String, _ toMany: SQLToMany, slot: PropertySlot, rest: [String], _ context: RequestPart
    ) throws -> SQLTerm {
        guard let operatorIndex = rest.firstIndex(where: { $0.hasPrefix("@") }) else {
            throw refuse(
                context, "'\(slot.name)' leads to many objects where one value is needed; use ANY, ALL or @count")
        }
        let name = rest[operatorIndex]
        let path = rest.filter { !$0.hasPrefix("@") }
        // `items.price.@count` counts the different prices; `items.@count.price` counts the items.
        if name == "@count", operatorIndex == 0 {
            return SQLTerm(
                text: try count(ownerKey: ownerKey, toMany, slot: slot, context), kind: .int64, canBeNull: false)
        }
        guard name == "@count" || Self.aggregates[name] != nil, !path.isEmpty else {
            throw refuse(context, "the collection operator '\(name)' has no equivalent in SQL")
        }
        var value = SQLTerm(text: SQLText(""))
        let from = try relatedRows(ownerKey: ownerKey, toMany, slot: slot, context) { scope in
            value = try self.single(self.term(path: path, in: scope, context), context)
            return []
        }
        if name == "@count" {
            return SQLTerm(
                text: "(SELECT COUNT(DISTINCT " + value.text + ")" + from + ")", kind: .int64, canBeNull: false)
        }
        var result = try aggregate(name, of: value, context)
        result.text = "(SELECT " + result.text + from + ")"
        result.exact = result.exact.map { "(SELECT " + $0 + from + ")" }
        return result
    }

    private static let aggregates: [String: SQLAggregate] = [
        "@sum": .sum, "@min": .minimum, "@max": .maximum, "@avg": .average,
    ]

    /// Returns a collection operator over the values of rows, without the FROM clause of these
    /// rows.
    ///
    /// Sums and averages of values that are not numbers are nil, as in memory; only the sum of no
    /// values is 0.
    ///
    /// - Throws: for values to which the operator does not apply.
    func aggregate(_ name: String, of value: SQLTerm, _ context: RequestPart) throws -> SQLTerm {
        switch (name, value.valueClass) {
        case (_, .object), (_, .archived), (_, .entity):
            throw refuse(context, "\(name) needs values that have an order")
        case ("@sum", .number), ("@avg", .number), ("@sum", .unknown), ("@avg", .unknown): break
        case ("@sum", _): return SQLTerm(text: "(CASE WHEN COUNT(" + value.text + ") = 0 THEN 0 END)", kind: .int64)
        case ("@avg", _):
            return SQLTerm(text: "NULLIF(COUNT(" + value.text + "), COUNT(" + value.text + "))", kind: .double)
        default: break
        }
        guard let aggregate = Self.aggregates[name] else {
            throw refuse(context, "the collection operator '\(name)' has no equivalent in SQL")
        }
        func text(_ call: SQLText) -> SQLText { aggregate == .sum ? dialect.value(call, orElse: SQLText("0")) : call }
        return SQLTerm(
            text: text(dialect.aggregate(aggregate, value)), kind: aggregateKind(name, of: value),
            canBeNull: aggregate != .sum,
            exact: dialect.exactAggregate(aggregate, value).map(text), rootIndex: value.rootIndex)
    }

    /// Returns the kind of a collection operator's result.
    private func aggregateKind(_ name: String, of value: SQLTerm) -> ValueKind? {
        switch name {
        case "@avg": value.kind == .decimal ? .decimal : .double
        case "@sum" where value.kind?.isInteger == true: .int64
        case "@sum" where value.kind == .float: .double
        default: value.kind
        }
    }

    private func count(ownerKey: String, _ toMany: SQLToMany, slot: PropertySlot, _ context: RequestPart) throws
        -> SQLText
    {
        switch toMany {
        case .inverse:
            return "(SELECT COUNT(*)" + (try relatedRows(ownerKey: ownerKey, toMany, slot: slot, context) { _ in [] })
                + ")"
        case .join(let join, let isFirst):
            let alias = newAlias()
            return SQLText(
                "(SELECT COUNT(*) FROM \(dialect.identifier(join.name)) \(alias) "
                    + "WHERE \(column(alias, join.ownerColumn(isFirst: isFirst))) = \(ownerKey))")
        }
    }

    /// Returns the rows of `SUBQUERY(collection, $x, condition)`.
    func subqueryRows(_ expression: NSExpression, in environment: SQLEnvironment) throws -> RelatedRowSource {
        let context = RequestPart.words("\(expression)")
        guard let collection = expression.collection as? NSExpression, collection.expressionType == .keyPath else {
            throw refuse(context, "a subquery must range over a to-many relationship")
        }
        let (scope, path) = try scopeAndPath(of: collection, in: environment)
        guard case .toMany(let key, _, let slot, let toMany, let rest) = try resolve(path, in: scope, context),
            rest.isEmpty
        else { throw refuse(context, "a subquery must range over a to-many relationship") }
        return try rowSource(ownerKey: key, toMany, slot: slot, context) { inner in
            var variables = environment.variables
            variables[expression.variable] = inner
            return [
                try self.condition(
                    expression.predicate, in: SQLEnvironment(scope: environment.scope, variables: variables))
            ]
        }
    }

    /// Returns the row source and the components of a key path expression.
    func scopeAndPath(of expression: NSExpression, in environment: SQLEnvironment) throws -> (SQLScope, [String]) {
        let path = expression.keyPath.pathNames
        let operand = expression.operand
        switch operand.expressionType {
        case .evaluatedObject: return (environment.scope, path)
        case .variable:
            guard let scope = environment.variables[operand.variable] else {
                throw refuse("\(expression)", "the variable $\(operand.variable) has no value")
            }
            return (scope, path)
        case .keyPath where operand !== expression:
            let (scope, first) = try scopeAndPath(of: operand, in: environment)
            return (scope, first + path)
        default:
            // A plain key path.
            if operand === expression { return (environment.scope, path) }
            throw refuse("\(expression)", "a key path cannot start there")
        }
    }
}
