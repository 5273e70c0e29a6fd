import CoreData
import Foundation

// The checks that forbid a save: for rows that other transactions have changed, and for unique
// values that other rows have.
extension PostgreSQLSave {
    /// Returns the row as it is now. It is not published, because it may be a part of this
    /// unfinished save.
    private func currentRow(_ key: Int64, of layout: EntityLayout) throws -> Snapshot? {
        let select = backend.selectPlan(try backend.root(of: layout), includesSubentities: true)
        var collector = PostgreSQLRowCollector(select, expectedRows: 1)
        let arguments = WireArguments(key: key)
        try send([WireStatement(select.columns.statement(for: .one), arguments, isKept: true)]) { _, row in
            collector.append(row)
        }
        let rows = collector.finishUnpublished()
        guard let row = rows.rows.first, let page = rows.pages.first else { return nil }
        return Snapshot(row: row, page: page)
    }

    /// - Throws: an error if the row is as the save knows it, but cannot be locked: a policy
    ///   forbids to change it.
    func addConflict(_ change: SaveConflicts.RowConflict.Change, _ index: Int, _ row: RowChange) throws {
        let current = try currentRow(row.key, of: row.layout)
        if change != .insert, lockedVersions[row.layout.rootIndex]?[row.key] == nil, let current,
            current.version == row.base?.version
        {
            let forbidden = PostgreSQLExpectedRows(
                place: 0, kind: change == .delete ? .deleted : .updated(nil), keys: [row.key],
                entity: try backend.root(of: row.layout))
            throw forbidden.failure(written: 0, isCommitted: false, store: store.url)
        }
        conflicts.rows.append(.init(change: change, index: index, current: current))
    }

    /// Returns the locked rows that have the values which the save is based on, although the server
    /// has given them other versions.
    ///
    /// Another program has written columns that the model does not know, or a save has written
    /// positions or keys of other rows into them.
    ///
    /// - Parameter versions: the versions of the rows, by the tables' roots.
    /// - Returns: the rows' keys, by the tables' roots.
    func rowsWithSameValues(_ versions: [Int: [Int64: UInt32]]) throws -> [Int: Set<Int64>] {
        guard backend.external != nil else { return [:] }
        var bases: [Int: [Int64: Snapshot]] = [:]
        for changes in [batch.versionChecks, batch.deletes, batch.updates] {
            for change in changes {
                guard let base = change.base, let version = versions[change.layout.rootIndex]?[change.key],
                    UInt32(truncatingIfNeeded: base.version) != version
                else { continue }
                bases[change.layout.rootIndex, default: [:]][change.key] = base
            }
        }
        var same: [Int: Set<Int64>] = [:]
        for (root, bases) in bases.sorted(by: { $0.key < $1.key }) {
            let entity = try backend.entity(backend.mapping.layouts.layouts[root])
            if entity.table.writesVersions { continue }
            let select = backend.selectPlan(entity, includesSubentities: true)
            var collector = PostgreSQLRowCollector(select, expectedRows: bases.count)
            let arguments = WireArguments(keys: bases.keys)
            try send([WireStatement(select.columns.statement(for: .list), arguments, isKept: true)]) { _, row in
                collector.append(row)
            }
            let rows = collector.finishUnpublished()
            // Rows are read by address: their pages must live until all are compared.
            defer { withExtendedLifetime(rows) {} }
            for row in rows.rows {
                let now = Snapshot(retaining: row)
                if let base = bases[row.rowKey], now.hasSameValues(as: base, comparesDerived: false) {
                    same[root, default: []].insert(row.rowKey)
                }
            }
        }
        return same
    }

    /// Finds new rows whose keys other rows have.
    func findTakenKeys() throws {
        var indexes: [Int: [Int64: Int]] = [:]
        for (index, change) in batch.inserts.enumerated() {
            indexes[change.layout.rootIndex, default: [:]][change.key] = index
        }
        for (root, byKey) in indexes.sorted(by: { $0.key < $1.key }) {
            let entity = try backend.entity(backend.mapping.layouts.layouts[root])
            var taken: [Int64] = []
            let select =
                "SELECT \(statements.key(entity)) FROM \(statements.table(entity)) WHERE \(statements.key(entity)) = "
                + "ANY($1) ORDER BY 1"
            try send([WireStatement(select, WireArguments(keys: byKey.keys))]) { _, row in taken.append(row.int64(0)) }
            for key in taken { if let index = byKey[key] { try addConflict(.insert, index, batch.inserts[index]) } }
        }
    }

    // MARK: Uniqueness

    private enum Change: Hashable {
        case insert(Int)
        case update(Int)
    }

    /// A row that the save writes, as a uniqueness constraint sees it.
    private struct Claim {
        let change: Change
        let key: Int64
        let values: [StoredValue]
        /// The values as bytes, for the comparison of claims.
        let bytes: [UInt8]
    }

    /// The rows that claim values of one constraint, and the rows whose former values do not count.
    private struct Claims {
        let constraint: SQLConstraint
        let types: [UInt32]
        var claims: [Claim] = []
        var released: [Int64] = []
    }

    /// Finds all rows that would have the same unique values when the save is done.
    func findViolations() throws {
        var all: [Claims] = []
        var places: [ObjectIdentifier: [String: Int]] = [:]
        func add(_ change: Change, _ row: RowChange) throws {
            for constraint in backend.mapping.constraints(of: row.layout) {
                let slots = constraint.names.compactMap { row.layout.slotByPath[$0] }
                let name = constraint.columns.joined(separator: "\0")
                let entity = try backend.entity(constraint.layout)
                let place: Int
                if let known = places[ObjectIdentifier(constraint.layout)]?[name] {
                    place = known
                } else {
                    place = all.count
                    places[ObjectIdentifier(constraint.layout), default: [:]][name] = place
                    let types = constraint.columns.map {
                        backend.schema.type($0, of: entity.table.name) ?? WireType.text
                    }
                    all.append(Claims(constraint: constraint, types: types))
                }
                if case .update = change {
                    guard let values = row.values, slots.contains(where: values.has) else { continue }
                    all[place].released.append(row.key)
                }
                let values = slots.map { slot -> StoredValue in
                    if let values = row.values, values.has(slot) { return values[slot] }
                    return row.base?.value(slot) ?? .null
                }
                if values.contains(where: \.isNull) { continue }
                var bytes = WireBytes()
                for (value, type) in zip(values, all[place].types) {
                    let start = bytes.beginValue()
                    try? WireValue.append(value, as: type, to: &bytes)
                    bytes.endValue(start)
                }
                all[place].claims.append(Claim(change: change, key: row.key, values: values, bytes: bytes.bytes))
            }
        }
        for (index, change) in batch.updates.enumerated() { try add(.update(index), change) }
        for (index, change) in batch.inserts.enumerated() { try add(.insert(index), change) }
        for claims in all { try find(claims) }
    }

    private func find(_ claims: Claims) throws {
        let constraint = claims.constraint
        let entity = try backend.entity(constraint.layout)
        let root = constraint.layout.rootIndex
        var owners: [[UInt8]: Claim] = [:]
        var open: [Claim] = []
        for claim in claims.claims {
            if let first = owners[claim.bytes] {
                add([first.change, claim.change], claim, constraint, existing: nil)
            } else {
                owners[claim.bytes] = claim
                open.append(claim)
            }
        }
        guard !open.isEmpty else { return }
        let released = claims.released + batch.deletes.filter { $0.layout.rootIndex == root }.map(\.key)
        var arguments = WireArguments(keys: released)
        arguments.append(keys: open.indices.lazy.map(Int64.init))
        for (column, type) in claims.types.enumerated() {
            do throws(WireValue.Refusal) { try arguments.append(list: open.map { $0.values[column] }, of: type) } catch
            {
                // A value that cannot be written gets an error of its own.
                return
            }
        }
        let join = PostgreSQLWritePlan.joinOwners(of: constraint.columns, claims.types, first: 2, dialect)
        let key = "t.\(statements.key(entity))"
        let query = WireStatement(
            "SELECT d.n, \(key) FROM \(statements.table(entity)) t \(join) WHERE \(key) <> ALL($1) ORDER BY 1",
            arguments)
        var found: [(claim: Claim, owner: Int64)] = []
        try send([query]) { _, row in
            let index = Int(row.int64(0))
            if open.indices.contains(index), open[index].key != row.int64(1) {
                found.append((open[index], row.int64(1)))
            }
        }
        for (claim, owner) in found {
            let changes = batch.updates.indices.filter {
                batch.updates[$0].key == owner && batch.updates[$0].layout.rootIndex == root
            }
            if let update = changes.first {
                add([.update(update), claim.change], claim, constraint, existing: nil)
            } else {
                add([claim.change], claim, constraint, existing: try currentRow(owner, of: constraint.layout))
            }
        }
    }

    private func add(_ changes: [Change], _ claim: Claim, _ constraint: SQLConstraint, existing: Snapshot?) {
        var inserts: [Int] = []
        var updates: [Int] = []
        for change in changes {
            switch change {
            case .insert(let index): inserts.append(index)
            case .update(let index): updates.append(index)
            }
        }
        conflicts.violations.append(
            .init(
                constraint: constraint.names, values: claim.values, layout: constraint.layout, existing: existing,
                inserts: inserts,
                updates: updates))
    }
}
