import Foundation

/// The statement of a fetch for dictionaries, and the conversion of its rows to dictionaries.
///
/// It selects chosen properties and computed columns, and groups the rows if the request asks for
/// groups.
package struct DictionaryStatement {
    /// One entry of the result dictionaries.
    private struct Column {
        let name: String
        let text: SQLText
        let kind: ValueKind?
        /// Whether the entry is the plain column of an attribute.
        var isColumn = false
        /// The attribute whose transformer makes the value from the bytes.
        var transformable: NSAttributeDescription?
        /// The entity of the row, if the entry's value is a row.
        var rowEntity: SQLRowEntity?
        /// The composite attribute that has this value, and the columns of its elements in declared
        /// order.
        var composite: CompositeLayout?
        var elements: [Column] = []

        /// The SQL terms that the statement selects for the entry.
        var texts: [SQLText] {
            if composite != nil { return elements.map(\.text) }
            if case .number(let number)? = rowEntity { return [text, number] }
            return [text]
        }
    }

    package let text: SQLText
    private let columns: [Column]
    private let mapping: SQLMapping

    package init(_ fetch: StoreFetch, _ generator: SQLGenerator) throws {
        let scope = generator.newScope(try generator.entity(fetch.entity))
        let environment = SQLEnvironment(scope: scope)
        let properties: [Any] =
            fetch.columns.map(\.properties).flatMap { $0.isEmpty ? nil : $0 }
            ?? fetch.entity.propertySlots.filter { $0.isFetched && $0.kind != .toOne }.map { $0.name }
        let isGrouped =
            fetch.columns?.groupBy.isEmpty == false
            || properties.contains {
                ($0 as? NSExpressionDescription)?.expression?.holdsRowAggregate(of: fetch.entity) == true
            }
        let columns = try properties.map { property in
            try Self.column(
                property, generator, environment, isGrouped: isGrouped && fetch.columns?.groups(by: property) != true)
        }
        func result(_ name: String) -> SQLTerm? {
            columns.first { $0.name == name }.map { SQLTerm(text: $0.text, kind: $0.kind, isColumn: $0.isColumn) }
        }
        let groups = try (fetch.columns?.groupBy ?? []).map { try Self.column($0, generator, environment) }
        let condition = try fetch.predicate.map { try generator.condition($0, in: environment) }
        let having = try fetch.columns?.having.map {
            try generator.havingCondition($0, in: environment, column: result)
        }
        let order = try generator.order(fetch.sortDescriptors, in: scope, column: result)
        let source = generator.source(scope, where: [condition], includesSubentities: fetch.includesSubentities)
        let limits = generator.dialect.limits(fetch.limit, offset: fetch.offset)
        self.columns = columns
        mapping = generator.mapping
        let isDistinct = fetch.columns?.isDistinct == true
        let hasOtherOrder = fetch.sortDescriptors.contains { descriptor in
            descriptor.key.flatMap(result) == nil
                || !generator.dialect.ordersDistinctRowsByExpressions
                    && (generator.dialect.ordersColumnsByLanguage || descriptor.selector?.name != "compare:")
        }
        if isDistinct, !isGrouped, hasOtherOrder {
            text = Self.firstRows(columns.flatMap(\.texts), source, order) + limits
            return
        }
        var text =
            "SELECT " + (isDistinct ? "DISTINCT " : "") + SQLText.joined(columns.flatMap(\.texts), by: ", ") + source
        if !groups.isEmpty {
            let terms = groups.flatMap { group in
                generator.dialect.groupsByPlaces ? Self.places(of: group, in: columns) ?? group.texts : group.texts
            }
            text = text + " GROUP BY " + SQLText.joined(terms, by: ", ")
        }
        if let having { text = text + " HAVING " + having }
        self.text = text + order + limits
    }

    /// Returns a query for distinct rows that are ordered by values that are not selected.
    ///
    /// Of equal rows it keeps the first one in that order.
    private static func firstRows(_ values: [SQLText], _ source: SQLText, _ order: SQLText) -> SQLText {
        let names = values.indices.map { "v\($0)" }
        let named = zip(values, names).map { $0 + " AS " + $1 }
        let windows: [SQLText] = [
            "ROW_NUMBER() OVER (PARTITION BY " + SQLText.joined(values, by: ", ") + order + ") AS turn",
            "ROW_NUMBER() OVER (" + order + ") AS place",
        ]
        let rows = "SELECT " + SQLText.joined(named + windows, by: ", ") + source
        return "SELECT " + names.joined(separator: ", ") + " FROM (" + rows + ") AS d WHERE turn = 1 ORDER BY place"
    }

    /// Returns the positions of a column's values among the results, counted from 1.
    ///
    /// - Returns: nil where the column is not among the results.
    private static func places(of column: Column, in columns: [Column]) -> [SQLText]? {
        guard let index = columns.firstIndex(where: { $0.name == column.name }) else { return nil }
        let before = columns[..<index].reduce(0) { $0 + $1.texts.count }
        return columns[index].texts.indices.map { SQLText(String(before + $0 + 1)) }
    }

    // MARK: Columns

    /// - Parameter isGrouped: whether each row of the result represents a group of rows, which may
    ///   have different values.
    private static func column(
        _ property: Any, _ generator: SQLGenerator, _ environment: SQLEnvironment, isGrouped: Bool = false
    ) throws -> Column {
        if let description = property as? NSExpressionDescription {
            guard let expression = description.expression else {
                throw generator.refuse(description.name, "the expression description has no expression")
            }
            let wanted = ValueKind(resultOf: description.expressionResultType)
            let row = try generator.resultTerm(expression, in: environment)
            let term =
                isGrouped ? generator.ofGroup(row, expression.groupFunction(of: environment.scope.entity.layout)) : row
            if term.kind == .toOne, wanted == nil || expression.expressionType == .evaluatedObject {
                return Column(
                    name: description.name, text: term.text, kind: .toOne, isColumn: term.isColumn,
                    rowEntity: term.rowEntity)
            }
            guard let kind = wanted == .data && term.kind == .json ? .json : wanted ?? term.kind else {
                return Column(name: description.name, text: term.text, kind: nil)
            }
            guard let text = generator.dialect.value(term, as: kind) else {
                throw generator.refuse(
                    "\(expression)",
                    "its value is of another kind than the result type of '\(description.name)' and does not become one"
                )
            }
            return Column(
                name: description.name, text: text, kind: kind, isColumn: term.isColumn && kind == term.kind,
                transformable: kind == .transformable ? term.slot?.attribute : nil)
        }
        guard let name = StoreFetch.DictionaryColumns.name(of: property) else {
            throw generator.refuse("\(property)", "propertiesToFetch takes property descriptions and names")
        }
        let path = name.pathNames
        let row = try generator.term(path: path, in: environment.scope, .words(name))
        if let composite = row.composite {
            return Column(
                name: name, text: row.text, kind: nil, composite: composite.layout,
                elements: composite.elements.map { Column(name: "", text: $0.text, kind: $0.kind) })
        }
        let function =
            isGrouped ? NSExpression(forKeyPath: name).groupFunction(of: environment.scope.entity.layout) : nil
        let term = generator.ofGroup(row, function)
        return Column(
            name: name, text: term.text, kind: term.kind, isColumn: term.isColumn,
            transformable: term.kind == .transformable ? term.slot?.attribute : nil,
            rowEntity: term.rowEntity)
    }

    // MARK: Values

    /// Returns the dictionary of a row.
    ///
    /// - Parameter objectID: returns the value that represents a row in dictionaries.
    package func dictionary(of row: some SQLRow, objectID: (RowReference) -> Any) throws -> [String: Any] {
        var result: [String: Any] = [:]
        var index: Int32 = 0
        for column in columns {
            if let value = try value(of: column, row, index, objectID) { result[column.name] = value }
            index += Int32(column.texts.count)
        }
        return result
    }

    private func value(
        of column: Column, _ row: some SQLRow, _ index: Int32, _ objectID: (RowReference) -> Any
    ) throws -> Any? {
        if let composite = column.composite {
            var places: [Int: Int] = [:]
            for (place, slot) in composite.slots.enumerated() { places[slot] = place }
            return try composite.dictionary { slot in
                try places[slot].flatMap { try value(of: column.elements[$0], row, index + Int32($0), objectID) }
            }
        }
        if row.isNull(index) { return nil }
        guard column.kind == .toOne else {
            let value = row.storedValue(index, as: column.kind)
            if case .data(let data) = value, let attribute = column.transformable {
                return Transformation.value(from: data, attribute: attribute)
            }
            return PropertyConversion.object(from: value, kind: column.kind ?? .undefined)
        }
        let layout: Int? =
            switch column.rowEntity {
            case .one(let index)?: index
            case .number?: mapping.layoutIndex(forNumber: row.int64(index + 1))
            case nil: nil
            }
        // A row whose entity is not in the model counts as no row.
        guard let layout else { return nil }
        return objectID(RowReference(key: row.int64(index), layoutIndex: layout))
    }
}
