import CSQLite
import Foundation

// Dictionary results: chosen properties and computed columns, grouped where asked.
extension SQLiteStore {
    /// One entry of the result dictionaries.
    private struct ResultColumn {
        let name: String
        let text: SQLText
        let kind: ValueKind?
        /// For a to-one relationship: the destination's entity.
        var destination: Int = -1
        var entityColumn: SQLText?
        /// The composite attribute whose value this is, and the columns of its elements in declared order.
        var composite: CompositeLayout?
        var elements: [ResultColumn] = []

        /// What is selected for the entry.
        var texts: [SQLText] { composite == nil ? [text] + [entityColumn].compactMap { $0 } : elements.map(\.text) }
    }

    func fetchDictionaries(_ plan: StoreFetch, _ backend: SQLiteBackend) throws -> [[String: Any]] {
        let generator = SQLGenerator(mapping: backend.mapping, store: self)
        let entity = try generator.entity(plan.entity)
        let scope = generator.newScope(entity)
        let environment = SQLEnvironment(scope: scope)
        let properties: [Any] =
            plan.columns.map(\.properties).flatMap { $0.isEmpty ? nil : $0 }
            ?? plan.entity.propertySlots.filter { $0.isFetched && $0.kind != .toOne }.map { $0.name }
        let isGrouped =
            plan.columns?.groupBy.isEmpty == false
            || properties.contains { ($0 as? NSExpressionDescription)?.expression?.holdsRowAggregate(of: plan.entity) == true }
        let columns = try properties.map { property in
            try column(property, generator, environment, isGrouped: isGrouped && plan.columns?.groups(by: property) != true)
        }
        let groups = try (plan.columns?.groupBy ?? []).map { try column($0, generator, environment) }
        let condition = try plan.predicate.map { try generator.condition($0, in: environment) }
        let having = try plan.columns?.having.map { predicate -> SQLText in
            try generator.havingCondition(predicate, in: environment) { name in
                columns.first { $0.name == name }.map { SQLTerm(text: $0.text, kind: $0.kind) }
            }
        }
        let order = try generator.order(plan.sortDescriptors, in: scope) { name in
            columns.first { $0.name == name }.map { SQLTerm(text: $0.text, kind: $0.kind) }
        }
        let selected = columns.flatMap(\.texts)
        var query =
            "SELECT " + (plan.columns?.isDistinct == true ? "DISTINCT " : "") + SQLText.joined(selected, by: ", ")
            + generator.source(scope, where: [condition], includesSubentities: plan.includesSubentities)
        if !groups.isEmpty { query = query + " GROUP BY " + SQLText.joined(groups.flatMap(\.texts), by: ", ") }
        if let having { query = query + " HAVING " + having }
        query = query + order + Self.limits(plan)

        return try backend.pool.read { connection in
            var results: [[String: Any]] = []
            try connection.query(query.sql, query.arguments) { row in
                var result: [String: Any] = [:]
                var index: Int32 = 0
                for column in columns {
                    if let value = try self.value(of: column, row, index, backend) { result[column.name] = value }
                    index += Int32(column.texts.count)
                }
                results.append(result)
            }
            return results
        }
    }

    // MARK: Columns

    /// - Parameter isGrouped: whether each row of the result stands for a group of rows, which may have different values.
    private func column(
        _ property: Any, _ generator: SQLGenerator, _ environment: SQLEnvironment, isGrouped: Bool = false
    ) throws -> ResultColumn {
        if let description = property as? NSExpressionDescription {
            guard let expression = description.expression else {
                throw generator.refuse(description.name, "the expression description has no expression")
            }
            let wanted = ValueKind(resultOf: description.expressionResultType)
            if expression.expressionType == .evaluatedObject {
                return objectColumn(description.name, environment.scope)
            }
            let row = try generator.resultTerm(expression, in: environment)
            let term = isGrouped ? row.ofGroup(expression.groupFunction(of: environment.scope.entity.layout)) : row
            if description.expressionResultType == .objectIDAttributeType, term.kind == .toOne, let slot = term.slot {
                return ResultColumn(
                    name: description.name, text: term.text, kind: .toOne, destination: slot.destinationIndex)
            }
            return ResultColumn(name: description.name, text: term.text, kind: wanted ?? term.kind)
        }
        guard let name = StoreFetch.DictionaryColumns.name(of: property) else {
            throw generator.refuse("\(property)", "propertiesToFetch takes property descriptions and names")
        }
        if name == "objectID" || name == "self" || name == "SELF" { return objectColumn(name, environment.scope) }
        let path = name.split(separator: ".").map(String.init)
        let row = try generator.term(path: path, in: environment.scope, name)
        if let composite = row.composite {
            return ResultColumn(
                name: name, text: row.text, kind: nil, composite: composite.layout,
                elements: composite.elements.map { ResultColumn(name: "", text: $0.text, kind: $0.kind) })
        }
        let function =
            isGrouped ? NSExpression(forKeyPath: name).groupFunction(of: environment.scope.entity.layout) : nil
        let term = row.ofGroup(function)
        var column = ResultColumn(
            name: name, text: term.text, kind: term.kind, destination: term.slot?.destinationIndex ?? -1)
        if term.kind == .toOne, path.count == 1, let slot = term.slot,
            let entityColumn = environment.scope.entity.columns[slot.index]?.entityColumn
        {
            column.entityColumn = SQLText("\(environment.scope.alias).\(SQLSchema.identifier(entityColumn))")
        }
        return column
    }

    private func objectColumn(_ name: String, _ scope: SQLScope) -> ResultColumn {
        ResultColumn(
            name: name, text: SQLText("\(scope.alias).Z_PK"), kind: .toOne, destination: scope.entity.layout.index,
            entityColumn: SQLText("\(scope.alias).Z_ENT"))
    }

    // MARK: Values

    private func value(of column: ResultColumn, _ row: SQLiteStatement, _ index: Int32, _ backend: SQLiteBackend)
        throws -> Any?
    {
        if let composite = column.composite {
            var places: [Int: Int] = [:]
            for (place, slot) in composite.slots.enumerated() { places[slot] = place }
            return try composite.dictionary { slot in
                try places[slot].flatMap { try value(of: column.elements[$0], row, index + Int32($0), backend) }
            }
        }
        if row.isNull(index) { return nil }
        switch column.kind {
        case .toOne?:
            var layout = column.destination
            if column.entityColumn != nil, let found = backend.mapping.layoutIndex(forNumber: row.int64(index + 1)) {
                layout = found
            }
            guard layout >= 0 else { return NSNumber(value: row.int64(index)) }
            let reference = RowReference(key: row.int64(index), layoutIndex: layout)
            if let makeObjectID { return makeObjectID(reference) }
            return NSManagedObjectID(key: reference.key, layout: backend.mapping.layouts.layouts[layout], store: self)
        case let kind? where kind.isInteger:
            return PropertyConversion.object(from: .integer(row.int64(index)), kind: kind)
        case let kind? where kind.isFloatingPoint:
            return PropertyConversion.object(from: .double(row.double(index)), kind: kind)
        case .decimal?:
            let text =
                sqlite3_column_type(row.handle, index) == SQLITE_FLOAT
                ? DecimalText.text(of: row.double(index)) : row.string(index)
            let decimal = text.flatMap { Decimal(string: $0, locale: .posix) }
            return decimal.map { NSDecimalNumber(decimal: $0) }
        case .string?: return row.string(index)
        case .uri?: return row.string(index).flatMap { URL(string: $0) }
        case .uuid?:
            return row.data(index).flatMap { data in data.withUnsafeBytes { UUID(bytes: $0.bindMemory(to: UInt8.self)) }
            }
        case .data?: return row.data(index)
        case .transformable?: return row.data(index)
        default:
            switch sqlite3_column_type(row.handle, index) {
            case SQLITE_INTEGER: return NSNumber(value: row.int64(index))
            case SQLITE_FLOAT: return NSNumber(value: row.double(index))
            case SQLITE_TEXT: return row.string(index)
            default: return row.data(index)
            }
        }
    }
}
