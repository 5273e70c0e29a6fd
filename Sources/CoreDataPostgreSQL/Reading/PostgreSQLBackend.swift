import CoreData
import Synchronization

/// Everything an open store needs for requests: connections, mapping, caches and prepared plans.
final class PostgreSQLBackend: SQLBackend {
    let pool: PostgreSQLPool
    let mapping: SQLMapping
    /// The types of the tables' columns.
    let schema: PostgreSQLCatalog
    /// It changes when another program begins the history of an open store.
    var history: PostgreSQLHistory.Use {
        get { useOfHistory.load(ordering: .acquiring) }
        set { useOfHistory.store(newValue, ordering: .releasing) }
    }
    private let useOfHistory: Atomic<PostgreSQLHistory.Use>
    /// The facts about external tables; nil for a store's own tables.
    let external: ExternalTables?
    let plans: ReadingPlans<PostgreSQLDecoder>
    /// The plans for writing, by layout index. The lock guards the table of plans.
    private let writePlans: Mutex<[PostgreSQLWritePlan?]>
    let rowCaches: [RowCache]
    /// The indexes of the mapping's tables whose rows the server may change while they are saved.
    /// These rows are read again.
    let derivingTables: Set<Int>
    /// Whether saves check before the commit, in a separate round trip, that all rows were written.
    var comparesRowsBeforeCommit: Bool { comparesRows.load(ordering: .relaxed) }
    private let comparesRows: Atomic<Bool>
    /// The tables and views whose rows the server may leave out; none where that is not checked.
    private let omittingTables: Set<String>
    /// Whether rows of an entity have values that must be unique, by layout index.
    private let constrained: [Bool]
    /// The policy for new keys: from the URL, or else from the profile of the server.
    let keyPolicy: PostgreSQLKeys.Policy
    /// Keys that were taken for new rows and not handed out yet.
    let keys: PostgreSQLKeys
    /// The largest number of bytes of values in a statement that writes rows: the server refuses a
    /// message of one GiB. Tests lower it.
    let bytesOfStatement = Atomic<Int>(64 << 20)

    init(
        pool: PostgreSQLPool, mapping: SQLMapping, schema: PostgreSQLCatalog,
        history: PostgreSQLHistory.Use = .none, external: ExternalTables? = nil
    ) {
        self.pool = pool
        self.mapping = mapping
        self.schema = schema
        useOfHistory = Atomic(history)
        self.external = external
        // A server's transaction numbers do not show which of two transactions has changed a row
        // last, and neither do the last 32 bits of wider numbers.
        rowCaches = mapping.layouts.layouts.map { layout in
            guard let table = mapping.entity(mapping.layouts.layouts[layout.rootIndex])?.table else {
                return RowCache(ordersVersions: true)
            }
            let isWide = schema.type(table.versionColumn, of: table.name) == WireType.int8
            return RowCache(ordersVersions: table.writesVersions && !isWide)
        }
        let address = pool.configuration.address
        keyPolicy = address.keys ?? (address.server ?? schema.profile).keys
        keys = PostgreSQLKeys()
        constrained = mapping.layouts.layouts.map { !mapping.constraints(of: $0).isEmpty }
        let layout = SQLSchema(mapping: mapping)
        // Triggers, defaults and types of external tables may change values too.
        derivingTables = Set(
            mapping.tables.indices.filter { external != nil || !layout.derivations(of: mapping.tables[$0]).isEmpty })
        let ownTriggers = layout.derivations().flatMap(PostgreSQLDialect.triggerNames)
        let omissions = schema.omissions.filter { $0.trigger.map { !ownTriggers.contains($0) } ?? true }
        let compares = external != nil || omissions.contains { !$0.isElsewhere }
        comparesRows = Atomic(compares)
        omittingTables = compares ? Set(omissions.map(\.table)) : []
        plans = ReadingPlans(mapping)
        writePlans = Mutex(Array(repeating: nil, count: mapping.layouts.layouts.count))
    }

    /// Returns the plan for writing rows of an entity, made at first use.
    func writePlan(_ entity: SQLEntity) -> PostgreSQLWritePlan {
        let index = entity.layout.index
        if let known = writePlans.withLock({ $0[index] }) { return known }
        let plan = PostgreSQLWritePlan(entity, mapping, schema, isExternal: external != nil)
        writePlans.withLock { $0[index] = plan }
        return plan
    }

    func makeSelectPlan(_ entity: SQLEntity, includesSubentities: Bool) -> SelectPlan<PostgreSQLDecoder> {
        let selected = SelectColumns(entity, includesSubentities: includesSubentities, in: mapping)
        return SelectPlan(selected, mapping: mapping) { entity in
            PostgreSQLDecoder(entity: entity, mapping: mapping, schema: schema, columnIndex: selected.positions)
        }
    }

    /// Whether the server may leave out rows that are written into a table or view, as the catalog
    /// showed when the store was opened.
    func mayExcludeRows(of table: String) -> Bool { omittingTables.contains(table) }

    /// Empties the row caches, and makes saves check their rows before they commit. Called when a
    /// committed save turns out to lack rows.
    func noticeExcludedRows() {
        comparesRows.store(true, ordering: .relaxed)
        for cache in rowCaches { cache.removeAll() }
    }

    func isConstrained(_ layout: EntityLayout) -> Bool { constrained[layout.index] }

    /// Returns the mapping of the root of an entity's hierarchy.
    func root(of layout: EntityLayout) throws -> SQLEntity { try entity(mapping.layouts.layouts[layout.rootIndex]) }
}
