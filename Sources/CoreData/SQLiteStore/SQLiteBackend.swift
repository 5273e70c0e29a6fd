import Foundation
import Synchronization

/// Everything an open store needs for requests: connections, mapping, caches and prepared plans.
final class SQLiteBackend: SQLBackend {
    let pool: SQLiteConnectionPool
    let mapping: SQLMapping
    let columns: [String: [String]]
    /// Whether saves write history.
    let tracksHistory: Bool
    let plans: ReadingPlans<RowDecoder>
    /// The tables whose `Z_MAX` was compared with the real keys, by layout index of the root. The
    /// lock guards the set.
    private let checkedKeys = Mutex<Set<Int>>([])
    let rowCaches: [RowCache]

    init(
        pool: SQLiteConnectionPool, mapping: SQLMapping, columns: [String: [String]], tracksHistory: Bool,
        rowCaches: [RowCache]
    ) {
        self.pool = pool
        self.mapping = mapping
        self.columns = columns
        self.tracksHistory = tracksHistory
        self.rowCaches = rowCaches
        plans = ReadingPlans(mapping)
    }

    /// Returns the same store pinned to its current state, with its own row caches.
    ///
    /// A connection with an open read transaction keeps the state.
    func pinned() throws -> SQLiteBackend {
        SQLiteBackend(
            pool: try SQLiteConnectionPool(pinning: pool), mapping: mapping, columns: columns,
            tracksHistory: tracksHistory,
            rowCaches: rowCaches.map { _ in RowCache() })
    }

    func hasCheckedKeys(of root: SQLEntity) -> Bool { checkedKeys.withLock { $0.contains(root.layout.index) } }

    /// Records that a table's `Z_MAX` is not below its real keys.
    ///
    /// Call only after the commit: a rollback also restores `Z_MAX`.
    func noteCheckedKeys(of root: SQLEntity) { _ = checkedKeys.withLock { $0.insert(root.layout.index) } }

    /// The store's external files; nil for a store in memory.
    var externalFiles: ExternalFiles? { pool.supersededFiles?.files }

    func makeSelectPlan(_ entity: SQLEntity, includesSubentities: Bool) -> SelectPlan<RowDecoder> {
        let selected = SelectColumns(
            entity, includesSubentities: includesSubentities, in: mapping,
            present: columns[entity.table.name].map(Set.init))
        return SelectPlan(selected, mapping: mapping) { entity in
            RowDecoder(entity: entity, mapping: mapping, externalFiles: externalFiles, columnIndex: selected.positions)
        }
    }
}
