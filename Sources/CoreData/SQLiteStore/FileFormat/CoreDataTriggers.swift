import Foundation

/// The triggers that keep one derived attribute up to date.
///
/// A count of a to-many relationship is maintained exactly as in Core Data, so that both can share
/// a store. The other derivations are computed again whenever their sources change.
struct CoreDataTriggers {
    private let derivation: SQLDerivation
    /// The attribute's column, quoted.
    private let column: String

    private var table: String { derivation.table }
    private var entity: SQLEntity { derivation.entity }

    /// - Returns: nil when the attribute has no column.
    init?(_ derivation: SQLDerivation) {
        guard let column = derivation.column else { return nil }
        self.derivation = derivation
        self.column = column
    }

    func statements() throws -> [String] {
        let kind = try derivation.kind()
        let value = derivation.value(of: kind, row: "NEW")
        switch kind {
        // Every change of a row increments its version.
        case .now: return [sourceInsert(value), sourceUpdate(value, of: "Z_OPT")]
        case .count(let key, let destination): return count(value, key, destination)
        case .joinCount(let join, let isFirst): return joinCount(value, join, isFirst)
        case .sum(let summed, let key, let destination): return sum(value, key, destination, summed)
        case .value(let relationship, let source, let sourceEntity, let change):
            return self.value(value, relationship, source, sourceEntity, change)
        }
    }

    private func quoted(_ name: String) -> String { SQLiteDialect.identifier(name) }

    /// Notifies the connection which row got a new value.
    private func notice(_ function: String, _ condition: String) -> String {
        func text(_ name: String) -> String { "'" + name.replacingOccurrences(of: "'", with: "''") + "'" }
        return "SELECT \(function)(\(text(entity.table.name)), Z_ENT, Z_PK, \(text(derivation.slot.name)), \(column)) "
            + "FROM \(table) WHERE \(condition);"
    }

    private static let updated = SQLFunctionName.updatedRow
    private static let inserted = SQLFunctionName.insertedRow

    private func trigger(_ onTable: String, _ role: String, _ event: String, _ condition: String?, _ body: String)
        -> String
    {
        let name = quoted("Z_DA_\(onTable)_\(entity.layout.name)_\(derivation.slot.name)_\(role)")
        let when = condition.map { "WHEN (\($0)) " } ?? ""
        return "CREATE TRIGGER \(name) AFTER \(event) ON \(quoted(onTable)) FOR EACH ROW \(when)BEGIN \(body) END"
    }

    private func sourceInsert(_ value: String) -> String {
        trigger(
            entity.table.name, "SOURCE_INSERT", "INSERT", derivation.members(row: "NEW"),
            "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = NEW.Z_PK; "
                + notice(Self.inserted, "Z_PK = NEW.Z_PK"))
    }

    /// Computes the attribute again when a column of its own row changes.
    private func sourceUpdate(_ value: String, of changed: String) -> String {
        trigger(
            entity.table.name, "SOURCE_UPDATE", "UPDATE OF \(changed)", derivation.members(row: "NEW"),
            "UPDATE \(table) SET \(column) = \(value) WHERE Z_PK = NEW.Z_PK; " + notice(Self.updated, "Z_PK = NEW.Z_PK")
        )
    }

    private func count(_ value: String, _ key: SQLColumn, _ destination: SQLEntity) -> [String] {
        let source = destination.table.name
        let foreign = quoted(key.name)
        func body(_ change: String, _ row: String) -> String {
            "UPDATE \(table) SET \(column) = \(change) WHERE Z_PK = \(row).\(foreign); "
                + notice(Self.updated, "Z_PK = \(row).\(foreign)")
        }
        return [
            trigger(
                source, "PARAMETER_INSERT", "INSERT", "NEW.\(foreign) NOT NULL", body("IFNULL(\(column), 0) + 1", "NEW")
            ),
            trigger(
                source, "PARAMETER_UPDATE_INCREMENT", "UPDATE OF \(foreign)", "NEW.\(foreign) NOT NULL",
                body("\(column) + 1", "NEW")),
            trigger(
                source, "PARAMETER_UPDATE_DECREMENT", "UPDATE OF \(foreign)", "OLD.\(foreign) NOT NULL",
                body("\(column) - 1", "OLD")),
            trigger(source, "PARAMETER_DELETE", "DELETE", "OLD.\(foreign) NOT NULL", body("\(column) - 1", "OLD")),
            sourceInsert(value),
        ]
    }

    private func joinCount(_ value: String, _ join: SQLJoinTable, _ isFirst: Bool) -> [String] {
        let owner = quoted(join.ownerColumn(isFirst: isFirst))
        let count = "(SELECT COUNT(*) FROM \(quoted(join.name)) WHERE \(owner) = "
        func body(_ row: String) -> String {
            "UPDATE \(table) SET \(column) = \(count)\(row).\(owner)) WHERE Z_PK = \(row).\(owner); "
                + notice(Self.updated, "Z_PK = \(row).\(owner)")
        }
        return [
            trigger(join.name, "PARAMETER_INSERT", "INSERT", nil, body("NEW")),
            trigger(join.name, "PARAMETER_DELETE", "DELETE", nil, body("OLD")), sourceInsert(value),
        ]
    }

    private func sum(_ value: String, _ key: SQLColumn, _ destination: SQLEntity, _ summed: SQLColumn) -> [String] {
        let source = destination.table.name
        let foreign = quoted(key.name)
        func body(_ row: String) -> String {
            let sum = derivation.sum(of: summed, by: key, in: destination, of: "\(row).\(foreign)")
            return "UPDATE \(table) SET \(column) = \(sum) WHERE Z_PK = \(row).\(foreign); "
                + notice(Self.updated, "Z_PK = \(row).\(foreign)")
        }
        let changed = "UPDATE OF \(foreign), \(quoted(summed.name))"
        return [
            trigger(source, "PARAMETER_INSERT", "INSERT", "NEW.\(foreign) NOT NULL", body("NEW")),
            trigger(source, "PARAMETER_UPDATE_NEW", changed, "NEW.\(foreign) NOT NULL", body("NEW")),
            trigger(source, "PARAMETER_UPDATE_OLD", changed, "OLD.\(foreign) NOT NULL", body("OLD")),
            trigger(source, "PARAMETER_DELETE", "DELETE", "OLD.\(foreign) NOT NULL", body("OLD")),
            sourceInsert(value),
        ]
    }

    private func value(
        _ value: String, _ relationship: SQLColumn?, _ source: SQLColumn, _ sourceEntity: SQLEntity,
        _ change: SQLTextChange?
    ) -> [String] {
        let sourceColumn = quoted(source.name)
        guard let relationship else { return [sourceInsert(value), sourceUpdate(value, of: sourceColumn)] }
        let key = quoted(relationship.name)
        func body(_ function: String) -> String {
            "UPDATE \(table) SET \(column) = \(derivation.applied(change, "NEW.\(sourceColumn)")) WHERE \(key) = "
                + "NEW.Z_PK; "
                + notice(function, "\(key) = NEW.Z_PK")
        }
        return [
            sourceInsert(value), sourceUpdate(value, of: key),
            trigger(sourceEntity.table.name, "PARAMETER_INSERT", "INSERT", nil, body(Self.inserted)),
            trigger(sourceEntity.table.name, "PARAMETER_UPDATE", "UPDATE OF \(sourceColumn)", nil, body(Self.updated)),
        ]
    }
}
