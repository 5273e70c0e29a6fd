import Foundation

/// The triggers that keep one derived attribute up to date.
///
/// A count of a to-many relationship is kept exactly as Core Data keeps it, so that both can share a store. The other
/// derivations are computed anew whenever what they depend on changes.
struct SQLDerivation {
    let mapping: SQLMapping
    let entity: SQLEntity
    let slot: PropertySlot
    let expression: NSExpression

    private var table: String { SQLSchema.identifier(entity.table.name) }
    private var prefix: String { "\(entity.layout.name)_\(slot.name)" }

    /// What the expression says.
    private enum Kind {
        case now
        case count(PropertySlot, SQLToMany)
        case sum(PropertySlot, SQLToMany, SQLColumn, of: SQLEntity)
        /// An own column, or one reached through a to-one relationship, and a function on it.
        case value(through: SQLColumn?, column: SQLColumn, of: SQLEntity, function: String?)
    }

    func triggers() throws -> [String] {
        guard let column = entity.columns[slot.index].map({ SQLSchema.identifier($0.name) }) else { return [] }
        switch try kind(of: expression, function: nil) {
        case .now: return nowTriggers(column)
        case .count(_, .inverse(let key, let destination, _)): return countTriggers(column, key, destination)
        case .count(_, .join(let join, let isFirst)): return joinCountTriggers(column, join, isFirst)
        case .sum(_, .inverse(let key, let destination, _), let summed, _):
            return sumTriggers(column, key, destination, summed)
        case .sum: throw unsupported("sums over many-to-many relationships are not supported")
        case .value(let relationship, let source, let sourceEntity, let function):
            return valueTriggers(column, relationship, source, sourceEntity, function)
        }
    }

    /// Computes the attribute anew for all rows of the entity that have another value; nil when it has no column.
    ///
    /// A time of the last change is set only where there is none.
    func recomputation() throws -> String? {
        guard let column = entity.columns[slot.index].map({ SQLSchema.identifier($0.name) }) else { return nil }
        let kind = try kind(of: expression, function: nil)
        let value = try initialValue(of: kind)
        var conditions: [String] = []
        if case .now = kind { conditions = ["\(column) IS NULL"] } else { conditions = ["\(column) IS NOT \(value)"] }
        let members = ofThisEntity("NEW")
        if !members.isEmpty { conditions.append(members) }
        // The alias lets the expressions of the triggers serve here too.
        return "UPDATE \(table) AS NEW SET \(column) = \(value) WHERE \(conditions.joined(separator: " AND "))"
    }

    // MARK: Reading the expression

    private func kind(of expression: NSExpression, function: String?) throws -> Kind {
        switch expression.expressionType {
        case .keyPath: return try kind(ofPath: expression.keyPath.components(separatedBy: "."), function: function)
        case .function:
            let name = expression.function.lowercased()
            let arguments = expression.arguments ?? []
            switch name {
            case "now", "now:", "now()": return .now
            case "canonical:", "uppercase:", "lowercase:":
                guard function == nil, let argument = arguments.first else { break }
                return try kind(of: argument, function: name)
            case "count:", "sum:":
                guard let argument = arguments.first, argument.expressionType == .keyPath else { break }
                let path = argument.keyPath.components(separatedBy: ".")
                if name == "count:" { return try kind(ofPath: path + ["@count"], function: nil) }
                guard path.count == 2 else { break }
                return try kind(ofPath: [path[0], "@sum", path[1]], function: nil)
            default: break
            }
        default: break
        }
        throw unsupported("the expression is of an unsupported kind")
    }

    private func kind(ofPath path: [String], function: String?) throws -> Kind {
        if let element = entity.layout.slotByPath[path.joined(separator: ".")].flatMap({ entity.columns[$0] }) {
            return .value(through: nil, column: element, of: entity, function: function)
        }
        guard let first = path.first, let firstSlot = entity.layout.slotByName[first] else {
            throw unsupported("'\(path.first ?? "")' is no property of the entity")
        }
        if let toMany = entity.toMany[firstSlot] {
            if path.count == 2, path[1] == "@count" { return .count(entity.layout.slots[firstSlot], toMany) }
            if path.count == 3, path[1] == "@sum" || path[2] == "@sum",
                let destination = mapping.entities[entity.layout.slots[firstSlot].destinationIndex],
                let column = destination.layout.slotByName[path[1] == "@sum" ? path[2] : path[1]]
                    .flatMap({ destination.columns[$0] })
            {
                return .sum(entity.layout.slots[firstSlot], toMany, column, of: destination)
            }
            throw unsupported("only @count and @sum can be derived from a to-many relationship")
        }
        guard let column = entity.columns[firstSlot] else { throw unsupported("'\(first)' is not stored") }
        if path.count == 1 { return .value(through: nil, column: column, of: entity, function: function) }
        guard column.kind == .toOne,
            let destination = mapping.entities[entity.layout.slots[firstSlot].destinationIndex],
            let source = destination.layout.slotByPath[path.dropFirst().joined(separator: ".")].flatMap({ destination.columns[$0] })
        else { throw unsupported("a key path may lead through one to-one relationship to an attribute") }
        return .value(through: column, column: source, of: destination, function: function)
    }

    private func unsupported(_ reason: String) -> NSError {
        CoreDataErrors.make(
            .coreData,
            "The derived attribute '\(slot.name)' of entity '\(entity.layout.name)' cannot be kept by a SQLite store: "
                + "\(reason) (\(expression)). Change its derivation expression.")
    }

    // MARK: Triggers

    /// Tells the connection which row got a new value.
    private func notice(_ function: String, _ column: String, _ condition: String) -> String {
        func text(_ name: String) -> String { "'" + name.replacingOccurrences(of: "'", with: "''") + "'" }
        return
            "SELECT \(function)(\(text(entity.table.name)), Z_ENT, Z_PK, \(text(slot.name)), \(column)) FROM \(table) WHERE \(condition);"
    }

    private static let updated = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    private static let inserted = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"

    private func trigger(_ onTable: String, _ role: String, _ event: String, _ condition: String, _ body: String)
        -> String
    {
        let name = SQLSchema.identifier("Z_DA_\(onTable)_\(prefix)_\(role)")
        let when = condition.isEmpty ? "" : "WHEN (\(condition)) "
        return
            "CREATE TRIGGER \(name) AFTER \(event) ON \(SQLSchema.identifier(onTable)) FOR EACH ROW \(when)BEGIN \(body) END"
    }

    private func countTriggers(_ column: String, _ key: SQLColumn, _ destination: SQLEntity) -> [String] {
        let source = destination.table.name
        let foreign = SQLSchema.identifier(key.name)
        func body(_ change: String, _ row: String) -> String {
            "UPDATE \(table) SET \(column) = \(change) WHERE Z_PK = \(row).\(foreign); "
                + notice(Self.updated, column, "Z_PK = \(row).\(foreign)")
        }
        return [
            trigger(
                source, "PARAMETER_INSERT", "INSERT", "NEW.\(foreign) NOT NULL",
                body("IFNULL(\(column), 0) + 1", "NEW")),
            trigger(
                source, "PARAMETER_UPDATE_INCREMENT", "UPDATE OF \(foreign)", "NEW.\(foreign) NOT NULL",
                body("\(column) + 1", "NEW")),
            trigger(
                source, "PARAMETER_UPDATE_DECREMENT", "UPDATE OF \(foreign)", "OLD.\(foreign) NOT NULL",
                body("\(column) - 1", "OLD")),
            trigger(
                source, "PARAMETER_DELETE", "DELETE", "OLD.\(foreign) NOT NULL", body("\(column) - 1", "OLD")),
            sourceInsert(column, Self.count(of: foreign, in: source)),
        ]
    }

    private func sourceInsert(_ column: String, _ value: String) -> String {
        trigger(
            entity.table.name, "SOURCE_INSERT", "INSERT", ofThisEntity("NEW"),
            "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = NEW.Z_PK; "
                + notice(Self.inserted, column, "Z_PK = NEW.Z_PK"))
    }

    /// Sets the attribute anew when a column of the own row changes.
    private func sourceUpdate(_ column: String, _ value: String, of changed: String) -> String {
        trigger(
            entity.table.name, "SOURCE_UPDATE", "UPDATE OF \(changed)", ofThisEntity("NEW"),
            "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = NEW.Z_PK; "
                + notice(Self.updated, column, "Z_PK = NEW.Z_PK"))
    }

    /// Limits a trigger on the own table to rows that have the attribute.
    private func ofThisEntity(_ row: String) -> String {
        guard entity.layout.superIndex >= 0 else { return "" }
        let numbers = entity.layout.familyIndexes.compactMap { mapping.entities[$0]?.number }.map(String.init)
        return "\(row).Z_ENT IN (\(numbers.joined(separator: ", ")))"
    }

    private func joinCountTriggers(_ column: String, _ join: SQLJoinTable, _ isFirst: Bool) -> [String] {
        let owner = SQLSchema.identifier(join.ownerColumn(isFirst: isFirst))
        let count = "(SELECT COUNT(*) FROM \(SQLSchema.identifier(join.name)) WHERE \(owner) = "
        func body(_ row: String) -> String {
            "UPDATE \(table) SET \(column) = \(count)\(row).\(owner)) WHERE Z_PK = \(row).\(owner); "
                + notice(Self.updated, column, "Z_PK = \(row).\(owner)")
        }
        return [
            trigger(join.name, "PARAMETER_INSERT", "INSERT", "", body("NEW")),
            trigger(join.name, "PARAMETER_DELETE", "DELETE", "", body("OLD")),
            sourceInsert(column, Self.count(of: owner, inJoin: join)),
        ]
    }

    private func sumTriggers(
        _ column: String, _ key: SQLColumn, _ destination: SQLEntity, _ summed: SQLColumn
    ) -> [String] {
        let source = destination.table.name
        let foreign = SQLSchema.identifier(key.name)
        let addend = SQLSchema.identifier(summed.name)
        let sum = "(SELECT IFNULL(SUM(\(addend)), 0) FROM \(SQLSchema.identifier(source)) WHERE \(foreign) = "
        func body(_ row: String) -> String {
            "UPDATE \(table) SET \(column) = \(sum)\(row).\(foreign)) WHERE Z_PK = \(row).\(foreign); "
                + notice(Self.updated, column, "Z_PK = \(row).\(foreign)")
        }
        let changed = "UPDATE OF \(foreign), \(addend)"
        return [
            trigger(source, "PARAMETER_INSERT", "INSERT", "NEW.\(foreign) NOT NULL", body("NEW")),
            trigger(source, "PARAMETER_UPDATE_NEW", changed, "NEW.\(foreign) NOT NULL", body("NEW")),
            trigger(source, "PARAMETER_UPDATE_OLD", changed, "OLD.\(foreign) NOT NULL", body("OLD")),
            trigger(source, "PARAMETER_DELETE", "DELETE", "OLD.\(foreign) NOT NULL", body("OLD")),
            sourceInsert(column, Self.sum(of: addend, by: foreign, in: source)),
        ]
    }

    private func valueTriggers(
        _ column: String, _ relationship: SQLColumn?, _ source: SQLColumn, _ sourceEntity: SQLEntity,
        _ function: String?
    ) -> [String] {
        let sourceColumn = SQLSchema.identifier(source.name)
        let value = Self.value(through: relationship, source, sourceEntity, function)
        guard let relationship else {
            return [
                sourceInsert(column, value), sourceUpdate(column, value, of: sourceColumn),
            ]
        }
        let key = SQLSchema.identifier(relationship.name)
        let changed = Self.applied(function, "NEW.\(sourceColumn)")
        return [
            sourceInsert(column, value), sourceUpdate(column, value, of: key),
            trigger(
                sourceEntity.table.name, "PARAMETER_INSERT", "INSERT", "",
                "UPDATE \(table) SET \(column) = \(changed) WHERE \(key) = NEW.Z_PK; "
                    + notice(Self.updated, column, "\(key) = NEW.Z_PK")),
            trigger(
                sourceEntity.table.name, "PARAMETER_UPDATE", "UPDATE OF \(sourceColumn)", "",
                "UPDATE \(table) SET \(column) = \(changed) WHERE \(key) = NEW.Z_PK; "
                    + notice(Self.updated, column, "\(key) = NEW.Z_PK")),
        ]
    }

    private func nowTriggers(_ column: String) -> [String] {
        // Every change of a row counts its version up.
        [sourceInsert(column, Self.now), sourceUpdate(column, Self.now, of: "Z_OPT")]
    }

    // MARK: Values of the row NEW

    private func initialValue(of kind: Kind) throws -> String {
        switch kind {
        case .now: return Self.now
        case .count(_, .inverse(let key, let destination, _)):
            return Self.count(of: SQLSchema.identifier(key.name), in: destination.table.name)
        case .count(_, .join(let join, let isFirst)):
            return Self.count(of: SQLSchema.identifier(join.ownerColumn(isFirst: isFirst)), inJoin: join)
        case .sum(_, .inverse(let key, let destination, _), let summed, _):
            return Self.sum(
                of: SQLSchema.identifier(summed.name), by: SQLSchema.identifier(key.name), in: destination.table.name)
        case .sum: throw unsupported("sums over many-to-many relationships are not supported")
        case .value(let relationship, let source, let sourceEntity, let function):
            return Self.value(through: relationship, source, sourceEntity, function)
        }
    }

    private static let now = "(julianday('now') - 2451910.5) * 86400.0"

    private static func count(of key: String, in table: String) -> String {
        "(SELECT IFNULL(COUNT(\(key)), 0) FROM \(SQLSchema.identifier(table)) WHERE \(key) = NEW.Z_PK)"
    }

    private static func count(of owner: String, inJoin join: SQLJoinTable) -> String {
        "(SELECT COUNT(*) FROM \(SQLSchema.identifier(join.name)) WHERE \(owner) = NEW.Z_PK)"
    }

    private static func sum(of addend: String, by key: String, in table: String) -> String {
        "(SELECT IFNULL(SUM(\(addend)), 0) FROM \(SQLSchema.identifier(table)) WHERE \(key) = NEW.Z_PK)"
    }

    private static func value(
        through relationship: SQLColumn?, _ source: SQLColumn, _ sourceEntity: SQLEntity, _ function: String?
    ) -> String {
        let column = SQLSchema.identifier(source.name)
        guard let relationship else { return applied(function, "NEW.\(column)") }
        return "(SELECT \(applied(function, column)) FROM \(SQLSchema.identifier(sourceEntity.table.name)) "
            + "WHERE Z_PK = NEW.\(SQLSchema.identifier(relationship.name)))"
    }

    private static func applied(_ function: String?, _ value: String) -> String {
        switch function {
        case "canonical:": "\(SQLFunctionName.canonical)(\(value))"
        case "uppercase:": "\(SQLFunctionName.uppercase)(\(value))"
        case "lowercase:": "\(SQLFunctionName.lowercase)(\(value))"
        default: value
        }
    }
}
