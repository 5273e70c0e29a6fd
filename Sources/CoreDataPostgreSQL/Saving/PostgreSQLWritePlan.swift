import CoreData
import Synchronization

/// The plan for writing rows of one entity: the columns, and the SQL of the statements, which do
/// not change while a store is open.
// Unchecked: the entity is part of the mapping, which does not change once a store is open; all
// else is immutable or behind a lock.
final class PostgreSQLWritePlan: @unchecked Sendable {
    /// A column that a save writes.
    struct Target {
        let slot: Int
        let name: String
        let type: UInt32
        let property: PropertySlot
        /// The column for the number of the destination's entity.
        let entityColumn: String?
        /// The type of that column.
        let entityType: UInt32
        /// The column for the position in the ordered relationship that this column serves.
        let orderColumn: String?
    }

    let entity: SQLEntity
    let mapping: SQLMapping
    /// The types of the columns of keys, entity numbers and versions.
    let keyType: UInt32
    let numberType: UInt32
    let versionType: UInt32
    /// Whether many new rows may be copied into the table.
    let takesCopies: Bool
    /// Whether another version of a row shows that an update has written it. A version that is the
    /// transaction's number does not: other statements of the same save may have written the row.
    let versionsTellUpdates: Bool
    /// The columns, in the order of the slots, without the attributes that triggers set.
    let targets: [Target]
    /// The columns of new rows, in order.
    let insertColumns: [String]
    /// The `COPY` statement, for many rows.
    let copyStatement: String
    /// The statement that takes an array for each column of new rows.
    let insertStatement: String
    private let updates = Mutex<[UpdateKey: Update]>([:])

    init(_ entity: SQLEntity, _ mapping: SQLMapping, _ schema: PostgreSQLCatalog, isExternal: Bool) {
        let table: SQLTable = entity.table
        let dialect = mapping.dialect
        self.entity = entity
        self.mapping = mapping
        keyType = schema.type(table.keyColumn, of: table.name) ?? WireType.int8
        numberType = schema.type(table.numberColumn, of: table.name) ?? WireType.int2
        versionType = schema.type(table.versionColumn, of: table.name) ?? WireType.int4
        takesCopies = !schema.uncopied.contains(table.name)
        versionsTellUpdates = table.writesVersions || !schema.isTable(table.name)
        targets = entity.layout.slots.prefix(entity.layout.storedCount).compactMap { slot in
            guard !slot.isDerived, let column = entity.columns[slot.index],
                let type = schema.type(column.name, of: table.name) ?? WireValue.columnType(column.kind)
            else { return nil }
            return Target(
                slot: slot.index, name: column.name, type: type, property: slot, entityColumn: column.entityColumn,
                entityType: column.entityColumn.flatMap { schema.type($0, of: table.name) } ?? WireType.int2,
                orderColumn: column.orderColumn)
        }
        // The types of the elements in the columns' arrays. The columns' own types may differ.
        var columns: [(name: String, type: UInt32)] = [(table.keyColumn, WireType.int8)]
        if let name = table.entityColumn { columns.append((name, WireType.int2)) }
        if table.writesVersions { columns.append((table.versionColumn, WireType.int4)) }
        for target in targets {
            columns.append((target.name, target.type))
            if let name = target.entityColumn { columns.append((name, WireType.int2)) }
        }
        insertColumns = columns.map(\.name)
        let list = insertColumns.map(dialect.identifier).joined(separator: ", ")
        copyStatement = "COPY \(dialect.identifier(table.name)) (\(list)) FROM STDIN (FORMAT binary)"
        let types = columns.enumerated().map { "$\($0 + 1)::\(Self.arrayName($1.type))" }.joined(separator: ", ")
        // The server may generate the keys otherwise.
        let overriding = isExternal ? "OVERRIDING SYSTEM VALUE " : ""
        insertStatement =
            "INSERT INTO \(dialect.identifier(table.name)) (\(list)) \(overriding)SELECT * FROM unnest(\(types))"
    }

    func targets(in mask: SlotMask) -> [Target] { targets.filter { mask.contains($0.slot) } }

    // MARK: Updates

    /// The statement that writes some columns of rows, and their versions, with an array for each
    /// column.
    struct Update: Sendable {
        let sql: String
        let written: [Target]
    }

    private struct UpdateKey: Hashable {
        let changed: SlotMask
        let checksVersions: Bool
    }

    /// The largest number of sets of columns whose statements are kept.
    private static let mostUpdates = 256

    /// - Parameter checksVersions: whether to write only rows that have the version before; not
    ///   needed where they were locked.
    func update(of changed: SlotMask, checksVersions: Bool) -> Update {
        let key = UpdateKey(changed: changed, checksVersions: checksVersions)
        if let known = updates.withLock({ $0[key] }) { return known }
        let made = makeUpdate(of: changed, checksVersions: checksVersions)
        updates.withLock { updates in
            if updates.count >= Self.mostUpdates { updates = [:] }
            updates[key] = made
        }
        return made
    }

    private func makeUpdate(of changed: SlotMask, checksVersions: Bool) -> Update {
        let written = targets(in: changed)
        let dialect = mapping.dialect
        let (key, version) = (
            dialect.identifier(entity.table.keyColumn), dialect.identifier(entity.table.versionColumn)
        )
        // Of a wider version number, rows in memory keep the last 32 bits.
        let isWide = versionType == WireType.int8
        var assignments: [String] = []
        var types = ["$1::int8[]"]
        if entity.table.writesVersions {
            assignments.append("\(version) = " + (isWide ? "COALESCE(t.\(version), 0) + 1" : "d.c2"))
            types.append("$2::int4[]")
        }
        for target in written {
            types.append("$\(types.count + 1)::\(Self.arrayName(target.type))")
            assignments.append("\(dialect.identifier(target.name)) = d.c\(types.count)")
            if let name = target.entityColumn {
                types.append("$\(types.count + 1)::int2[]")
                assignments.append("\(dialect.identifier(name)) = d.c\(types.count)")
            }
            // The position in an ordered relationship ends with the membership; a new one follows.
            if let name = target.orderColumn { assignments.append("\(dialect.identifier(name)) = NULL") }
        }
        // The server gives a row that is written another version, whatever is written.
        if assignments.isEmpty {
            let name = targets.first.map { dialect.identifier($0.name) } ?? key
            assignments.append("\(name) = t.\(name)")
        }
        let names = (1...types.count).map { "c\($0)" }.joined(separator: ", ")
        let isBase = isWide ? "(t.\(version) - d.c2 + 1) & \(UInt32.max) = 0" : "t.\(version) = d.c2 - 1"
        let sql =
            "UPDATE \(dialect.identifier(entity.table.name)) t SET \(assignments.joined(separator: ", ")) "
            + "FROM unnest(\(types.joined(separator: ", "))) AS d(\(names)) "
            + "WHERE t.\(key) = d.c1" + (checksVersions ? " AND " + isBase : "")
        return Update(sql: sql, written: written)
    }

    // MARK: Lists

    /// Returns the SQL that joins rows `t` with lists of unique values, which are the table `d`.
    /// The column `d.n` has the indexes of the values, and the lists are in the order of the
    /// columns.
    ///
    /// - Parameter first: the number of the parameter with the indexes. The parameters with the
    ///   lists follow it.
    static func joinOwners(of columns: [String], _ types: [UInt32], first: Int, _ dialect: any SQLDialect) -> String {
        let lists = types.enumerated().map { "$\(first + 1 + $0)::\(arrayName($1))" }.joined(separator: ", ")
        let names = columns.indices.map { "c\($0)" }.joined(separator: ", ")
        let conditions = columns.enumerated().map { "t.\(dialect.identifier($1)) = d.c\($0)" }.joined(
            separator: " AND ")
        return "JOIN unnest($\(first)::int8[], \(lists)) AS d(n, \(names)) ON \(conditions)"
    }

    /// Returns the SQL name of an array type.
    static func arrayName(_ type: UInt32) -> String {
        let name =
            switch type {
            case WireType.int2: "int2"
            case WireType.int4: "int4"
            case WireType.int8: "int8"
            case WireType.boolean: "boolean"
            case WireType.float4: "float4"
            case WireType.float8: "float8"
            case WireType.timestamptz: "timestamptz"
            case WireType.numeric: "numeric"
            case WireType.uuid: "uuid"
            case WireType.bytea: "bytea"
            case WireType.jsonb: "jsonb"
            default: "text"
            }
        return name + "[]"
    }
}
