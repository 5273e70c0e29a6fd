import Foundation

/// A derived attribute: its expression, and the SQL of its value. Each dialect keeps the value
/// current with its own triggers.
package struct SQLDerivation {
    package let mapping: SQLMapping
    package let entity: SQLEntity
    let slot: PropertySlot
    let expression: NSExpression
    /// The name from which the names of its triggers are made.
    package let name: String
    /// The dialect that writes its expressions; nil for the mapping's dialect.
    package var writer: (any SQLDialect)?

    /// The meaning of the derivation expression.
    package enum Kind {
        case now
        /// The number of destination rows that hold the owner's key in a column.
        case count(key: SQLColumn, of: SQLEntity)
        case joinCount(SQLJoinTable, isFirst: Bool)
        /// The sum of a column over such destination rows.
        case sum(SQLColumn, key: SQLColumn, of: SQLEntity)
        /// A column of the entity, or one reached through a to-one relationship, and a change to
        /// its text.
        case value(through: SQLColumn?, column: SQLColumn, of: SQLEntity, change: SQLTextChange?)
    }

    private var dialect: any SQLDialect { writer ?? mapping.dialect }

    /// The attribute's quoted column name; nil when it has no column.
    package var column: String? { entity.columns[slot.index].map { dialect.identifier($0.name) } }

    /// The quoted table name.
    package var table: String { dialect.identifier(entity.table.name) }

    /// Returns a statement that recomputes the attribute for all rows whose stored value differs.
    ///
    /// The time of the last change is set only where there is none.
    ///
    /// - Returns: nil when the attribute has no column.
    func recomputation() throws -> String? {
        guard let column else { return nil }
        let kind = try kind()
        let value = value(of: kind, row: "NEW")
        var conditions: [String] = []
        if case .now = kind {
            conditions = ["\(column) IS NULL"]
        } else {
            conditions = [dialect.isDifferent(SQLText(column), SQLText(value)).statement(dialect).sql]
        }
        if let members = members(row: "NEW") { conditions.append(members) }
        // The alias lets this statement use the same expressions as the triggers.
        return "UPDATE \(table) AS NEW SET \(column) = \(value) WHERE \(conditions.joined(separator: " AND "))"
    }

    // MARK: Reading the expression

    package func kind() throws -> Kind {
        let kind = try kind(of: expression, change: nil)
        if case .value(_, _, _, let change?) = kind, let reason = dialect.refusal(of: change) {
            throw unsupported(reason)
        }
        return kind
    }

    private func kind(of expression: NSExpression, change: SQLTextChange?) throws -> Kind {
        switch expression.expressionType {
        case .keyPath: return try kind(ofPath: expression.keyPath.components(separatedBy: "."), change: change)
        case .function where expression.methodTarget == nil:
            let name = expression.function.lowercased()
            let arguments = expression.arguments ?? []
            switch name {
            case "now", "now:", "now()": return .now
            case "canonical:", "uppercase:", "lowercase:":
                guard change == nil, let argument = arguments.first else { break }
                return try kind(
                    of: argument,
                    change: name == "canonical:" ? .canonical : name == "uppercase:" ? .uppercase : .lowercase)
            case "count:", "sum:":
                guard let argument = arguments.first, argument.expressionType == .keyPath else { break }
                let path = argument.keyPath.components(separatedBy: ".")
                if name == "count:" { return try kind(ofPath: path + ["@count"], change: nil) }
                guard path.count == 2 else { break }
                return try kind(ofPath: [path[0], "@sum", path[1]], change: nil)
            default: break
            }
        default: break
        }
        throw unsupported("the expression is of an unsupported kind")
    }

    private func kind(ofPath path: [String], change: SQLTextChange?) throws -> Kind {
        if let element = entity.layout.slotByPath[path.joined(separator: ".")].flatMap({ entity.columns[$0] }) {
            return .value(through: nil, column: element, of: entity, change: change)
        }
        guard let first = path.first, let firstSlot = entity.layout.slotByName[first] else {
            throw unsupported("'\(path.first ?? "")' is no property of the entity")
        }
        if let toMany = entity.toMany[firstSlot] { return try kind(toMany, firstSlot, path) }
        guard let column = entity.columns[firstSlot] else { throw unsupported("'\(first)' is not stored") }
        if path.count == 1 { return .value(through: nil, column: column, of: entity, change: change) }
        guard column.kind == .toOne,
            let destination = mapping.entities[entity.layout.slots[firstSlot].destinationIndex],
            let source = destination.layout.slotByPath[path.dropFirst().joined(separator: ".")].flatMap({
                destination.columns[$0]
            })
        else { throw unsupported("a key path may lead through one to-one relationship to an attribute") }
        return .value(through: column, column: source, of: destination, change: change)
    }

    private func kind(_ toMany: SQLToMany, _ slot: Int, _ path: [String]) throws -> Kind {
        if path.count == 2, path[1] == "@count" {
            switch toMany {
            case .inverse(let key, let destination, _): return .count(key: key, of: destination)
            case .join(let join, let isFirst): return .joinCount(join, isFirst: isFirst)
            }
        }
        if path.count == 3, path[1] == "@sum" || path[2] == "@sum",
            let destination = mapping.entities[entity.layout.slots[slot].destinationIndex],
            let column = destination.layout.slotByName[path[1] == "@sum" ? path[2] : path[1]].flatMap({
                destination.columns[$0]
            })
        {
            guard case .inverse(let key, let destination, _) = toMany else {
                throw unsupported("sums over many-to-many relationships are not supported")
            }
            return .sum(column, key: key, of: destination)
        }
        throw unsupported("only @count and @sum can be derived from a to-many relationship")
    }

    private func unsupported(_ reason: String) -> NSError {
        CoreDataErrors.underivable(slot.name, of: entity.layout.name, "\(expression)", reason, store: dialect.storeName)
    }

    // MARK: Values

    /// Returns the attribute's value for the row with a given name (such as `NEW`).
    package func value(of kind: Kind, row: String) -> String {
        let key = "\(row).\(dialect.identifier(mapping.naming.key))"
        switch kind {
        case .now: return dialect.now
        case .count(let column, let destination):
            let foreign = dialect.derivationColumn(column.name)
            let source = dialect.derivationSource(destination.table.name)
            return "(SELECT \(orZero("COUNT(\(foreign))")) FROM \(source) WHERE \(foreign) = \(key))"
        case .joinCount(let join, let isFirst):
            let owner = dialect.derivationColumn(join.ownerColumn(isFirst: isFirst))
            return "(SELECT COUNT(*) FROM \(dialect.derivationSource(join.name)) WHERE \(owner) = \(key))"
        case .sum(let summed, let column, let destination):
            return sum(of: summed, by: column, in: destination, of: key)
        case .value(nil, let source, _, let change): return applied(change, "\(row).\(dialect.identifier(source.name))")
        case .value(let relationship?, let source, let destination, let change):
            return "(SELECT \(applied(change, dialect.derivationColumn(source.name))) "
                + "FROM \(dialect.derivationSource(destination.table.name)) "
                + "WHERE \(dialect.derivationColumn(mapping.naming.key)) = "
                + "\(row).\(dialect.identifier(relationship.name)))"
        }
    }

    /// Returns the sum of a column over the rows that hold a key.
    func sum(of summed: SQLColumn, by column: SQLColumn, in destination: SQLEntity, of key: String) -> String {
        let value = SQLTerm(text: SQLText(dialect.derivationColumn(summed.name)), kind: summed.kind)
        let sum = dialect.storedAggregate(.sum, value).statement(dialect).sql
        return "(SELECT \(orZero(sum)) FROM \(dialect.derivationSource(destination.table.name)) "
            + "WHERE \(dialect.derivationColumn(column.name)) = \(key))"
    }

    private func orZero(_ value: String) -> String {
        dialect.value(SQLText(value), orElse: SQLText("0")).statement(dialect).sql
    }

    /// Returns a text with the attribute's change applied.
    func applied(_ change: SQLTextChange?, _ value: String) -> String {
        change.map { dialect.text(SQLText(value), $0).statement(dialect).sql } ?? value
    }

    /// Returns the condition of rows that have the attribute; nil when all rows of the table have
    /// it.
    package func members(row: String) -> String? {
        guard entity.layout.superIndex >= 0 else { return nil }
        let numbers = entity.layout.familyIndexes.compactMap { mapping.entities[$0]?.number }.map(String.init)
        return "\(row).\(dialect.identifier(mapping.naming.entity)) IN (\(numbers.joined(separator: ", ")))"
    }
}
