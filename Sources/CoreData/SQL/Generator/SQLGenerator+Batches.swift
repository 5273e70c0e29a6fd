import Foundation

// Updates and deletions of many rows.
extension SQLGenerator {
    /// Returns the statement that sets new values in the rows that a fetch would return.
    ///
    /// Expressions read the values from before the update, also those of other rows.
    package func update(_ update: RowUpdate, _ entity: SQLEntity, returning: String) throws -> SQLText {
        let isSimple = update.assignments.allSatisfy { _, value in
            guard case .expression(let expression) = value else { return true }
            return isOfOwnRow(expression, entity)
        }
        let scope = newScope(entity)
        let environment = SQLEnvironment(scope: scope)
        let condition = try update.rows.predicate.map { try self.condition($0, in: environment) }
        guard isSimple, scope.joins.isEmpty else { return try joinedUpdate(update, scope, condition, returning) }
        var assignments = versionRaised(entity, row: scope.alias)
        for (slot, value) in update.assignments {
            for (column, text) in try assignment(slot, value, in: environment) {
                assignments.append(dialect.identifier(column) + " = " + text)
            }
        }
        return "UPDATE \(dialect.identifier(entity.table.name)) \(asAlias(scope)) SET "
            + SQLText.joined(assignments, by: ", ")
            + whereClause(scope, condition, includesSubentities: update.rows.includesSubentities) + returning
    }

    /// Returns the update where its expressions or its condition read other rows, by key paths or
    /// in subqueries.
    ///
    /// All values are computed before the first one is written.
    private func joinedUpdate(_ update: RowUpdate, _ scope: SQLScope, _ condition: SQLText?, _ returning: String) throws
        -> SQLText
    {
        let entity = scope.entity
        let environment = SQLEnvironment(scope: scope)
        var assignments = versionRaised(entity, row: dialect.identifier(entity.table.name))
        var values: [SQLText] = [SQLText(key(scope) + " AS k")]
        for (slot, value) in update.assignments {
            for (column, text) in try assignment(slot, value, in: environment) {
                assignments.append(SQLText("\(dialect.identifier(column)) = b.v\(values.count)"))
                values.append(text + " AS v\(values.count)")
            }
        }
        let rows = source(scope, where: [condition], includesSubentities: update.rows.includesSubentities)
        let table = dialect.identifier(entity.table.name)
        return "UPDATE \(table) SET " + SQLText.joined(assignments, by: ", ") + " FROM (SELECT "
            + SQLText.joined(values, by: ", ") + rows
            + ") AS b WHERE \(table).\(dialect.identifier(entity.table.keyColumn)) = b.k" + returning
    }

    /// Returns the statement that deletes the rows that a fetch would return.
    func delete(_ fetch: StoreFetch, _ entity: SQLEntity) throws -> SQLText {
        let scope = newScope(entity)
        let environment = SQLEnvironment(scope: scope)
        let condition = try fetch.predicate.map { try self.condition($0, in: environment) }
        let table = dialect.identifier(entity.table.name)
        guard scope.joins.isEmpty, fetch.limit <= 0, fetch.offset <= 0 else {
            let order = try self.order(fetch.sortDescriptors, in: scope)
            let source = source(scope, where: [condition], includesSubentities: fetch.includesSubentities)
            return "DELETE FROM \(table) WHERE \(dialect.identifier(entity.table.keyColumn)) IN (SELECT \(key(scope))"
                + source + order
                + dialect.limits(fetch.limit, offset: fetch.offset) + ")"
        }
        return "DELETE FROM \(table) \(asAlias(scope))"
            + whereClause(scope, condition, includesSubentities: fetch.includesSubentities)
    }

    private func asAlias(_ scope: SQLScope) -> String { "AS \(scope.alias)" }

    /// Returns the assignment that raises the version of each row; none where the database does so
    /// itself.
    private func versionRaised(_ entity: SQLEntity, row: String) -> [SQLText] {
        guard entity.table.writesVersions else { return [] }
        let version = dialect.identifier(entity.table.versionColumn)
        return [SQLText("\(version) = \(dialect.version("\(row).\(version)")) + 1")]
    }

    /// Returns the ` WHERE …` of a statement that writes a table under an alias.
    private func whereClause(_ scope: SQLScope, _ condition: SQLText?, includesSubentities: Bool) -> SQLText {
        let limit = mapping.entityCondition(scope.entity, alias: scope.alias, includesSubentities: includesSubentities)
            .map { SQLText($0) }
        let all = [limit, condition].compactMap { $0 }
        return all.isEmpty ? SQLText("") : " WHERE " + SQLText.joined(all, by: " AND ")
    }

    // MARK: Assignments

    /// Whether an expression reads only columns of the row that it is evaluated for.
    private func isOfOwnRow(_ expression: NSExpression, _ entity: SQLEntity) -> Bool {
        switch expression.expressionType {
        case .constantValue: true
        case .keyPath: entity.layout.slotByPath[expression.keyPath].flatMap { entity.columns[$0] } != nil
        case .function: (expression.arguments ?? []).allSatisfy { isOfOwnRow($0, entity) }
        default: false
        }
    }

    /// Returns the columns of a property, each with its new value.
    private func assignment(
        _ slot: Int, _ value: RowUpdate.Assignment, in environment: SQLEnvironment
    ) throws -> [(column: String, value: SQLText)] {
        let entity = environment.scope.entity
        let property = entity.layout.slots[slot]
        guard let column = entity.columns[slot] else {
            throw refuse(property.name, "the entity '\(entity.layout.name)' has no column for it")
        }
        var result: [(column: String, value: SQLText)]
        switch value {
        case .constant(let constant):
            result = [(column.name, SQLText(value: constant, kind: column.kind(of: property)))]
            if let name = column.entityColumn {
                var number = StoredValue.null
                if case .reference(let reference) = constant, let destination = mapping.entities[reference.layoutIndex]
                {
                    number = .integer(Int64(destination.number))
                }
                result.append((name, SQLText(value: number, kind: .int64)))
            }
        case .expression(let expression):
            result = [(column.name, try self.value(of: expression, for: property, column, in: environment))]
        }
        // A row that leaves an ordered relationship loses its position in it.
        if let order = column.orderColumn { result.append((order, SQLText("NULL"))) }
        return result
    }

    /// Returns an expression as the value of a column.
    private func value(
        of expression: NSExpression, for property: PropertySlot, _ column: SQLColumn, in environment: SQLEnvironment
    ) throws -> SQLText {
        let context = RequestPart.words("\(property.name) = \(expression)")
        let wanted = column.kind(of: property)
        let target = SQLTerm(text: SQLText(""), kind: wanted, slot: property, isColumn: true)
        let term = try single(self.term(expression, in: environment, like: target, context), context)
        if term.isNull { return SQLText("NULL") }
        guard let kind = term.kind else {
            throw refuse(context, "it is not known what kind of value the expression gives")
        }
        if dialect.hasStaticTypes, kind.isNumber, property.kind.isNumber,
            let text = dialect.value(term, as: property.kind)
        {
            return text
        }
        switch wanted {
        case .int16, .int32, .int64, .boolean:
            if kind.isInteger { return term.text }
            if kind.isNumber { return dialect.truncated(term.text) }
        case .double, .float: if kind.isNumber { return term.text }
        case .decimal: if kind.isNumber { return term.exact ?? term.text }
        case .date: if kind == .date { return term.text }
        case .string, .uri: if kind == .string || kind == .uri { return term.text }
        case .data: if kind == .data, !column.allowsExternalStorage, term.stored == nil { return term.text }
        case .json: if kind == .json { return term.text }
        case .uuid: if kind == .uuid { return term.text }
        case .toOne:
            let root = mapping.layouts.layouts[property.destinationIndex].rootIndex
            if kind == .toOne, term.rootIndex == root, column.entityColumn == nil { return term.text }
        default: break
        }
        throw refuse(
            context, "the expression does not give what the property takes; set a constant, or change the objects")
    }
}
