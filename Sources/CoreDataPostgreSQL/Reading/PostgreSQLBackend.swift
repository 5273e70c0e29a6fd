import CoreData
import Synchronization

/// Everything an open store needs for requests: connections, mapping, caches and prepared plans.
final class PostgreSQLBackend: Sendable {
    let pool: PostgreSQLPool
    let mapping: SQLMapping
    /// The types of the tables' columns.
    let schema: PostgreSQLCatalog
    /// What is known of tables that others have made; nil for those of a store.
    let external: ExternalTables?
    /// By layout index, then by whether subentities are included. The lock guards the table of plans.
    private let plans: Mutex<[[SelectPlan<PostgreSQLDecoder>?]]>
    /// By layout index. The lock guards the table of plans.
    private let writePlans: Mutex<[PostgreSQLWritePlan?]>
    /// Guards the table of plans for relationships.
    private let relatedRowsPlans = Mutex<[RelatedPlanKey: PostgreSQLRelatedRowsPlan]>([:])
    /// Statements of fetches that were made before.
    let fetchStatements: FetchStatements
    /// The row caches, by layout index of the root entity.
    let rowCaches: [RowCache]
    /// The places of tables among the mapping's whose rows the server may change while they are saved: they are read again.
    let derivingTables: Set<Int>
    /// Whether it is looked before the commit, in a round trip of its own, whether all rows were written.
    var comparesRowsBeforeCommit: Bool { comparesRows.load(ordering: .relaxed) }
    private let comparesRows: Atomic<Bool>
    /// The tables and views of which the server may leave out rows; none where that is not looked for.
    private let omittingTables: Set<String>
    /// By layout index: whether rows of the entity have values that have to be unique.
    private let constrained: [Bool]
    /// How new keys are made: as the URL says, else as the profile of the server.
    let keyPolicy: PostgreSQLKeys.Policy
    /// Keys that were taken for new rows and not handed out yet.
    let keys: PostgreSQLKeys
    /// How many bytes of values a statement that writes rows takes: the server refuses a message of one GiB. Tests lower it.
    let bytesOfStatement = Atomic<Int>(64 << 20)

    init(pool: PostgreSQLPool, mapping: SQLMapping, schema: PostgreSQLCatalog, external: ExternalTables? = nil) {
        self.pool = pool
        self.mapping = mapping
        self.schema = schema
        self.external = external
        // The numbers of a server's transactions do not say which of two has changed a row last; nor do the last 32 bits of wider numbers.
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
        // What others' triggers, defaults and types make of values is not known either.
        derivingTables = Set(mapping.tables.indices.filter { external != nil || !layout.derivations(of: mapping.tables[$0]).isEmpty })
        let ownTriggers = layout.derivations().flatMap(PostgreSQLDialect.triggerNames)
        let omissions = schema.omissions.filter { $0.trigger.map { !ownTriggers.contains($0) } ?? true }
        let compares = external != nil || omissions.contains { !$0.isElsewhere }
        comparesRows = Atomic(compares)
        omittingTables = compares ? Set(omissions.map(\.table)) : []
        fetchStatements = FetchStatements(layoutCount: mapping.layouts.layouts.count)
        plans = Mutex(Array(repeating: [nil, nil], count: mapping.layouts.layouts.count))
        writePlans = Mutex(Array(repeating: nil, count: mapping.layouts.layouts.count))
    }

    /// How rows of an entity are written, made at first use.
    func writePlan(_ entity: SQLEntity) -> PostgreSQLWritePlan {
        let index = entity.layout.index
        if let known = writePlans.withLock({ $0[index] }) { return known }
        let plan = PostgreSQLWritePlan(entity, mapping, schema, isExternal: external != nil)
        writePlans.withLock { $0[index] = plan }
        return plan
    }

    /// The result columns for whole rows of an entity.
    func selectPlan(_ entity: SQLEntity, includesSubentities: Bool) -> SelectPlan<PostgreSQLDecoder> {
        let index = entity.layout.index
        let column = includesSubentities ? 1 : 0
        if let known = plans.withLock({ $0[index][column] }) { return known }
        let selected = SelectColumns(entity, includesSubentities: includesSubentities, in: mapping)
        let plan = SelectPlan(selected, mapping: mapping) { entity in
            PostgreSQLDecoder(entity: entity, mapping: mapping, schema: schema, columnIndex: selected.positions)
        }
        plans.withLock { $0[index][column] = plan }
        return plan
    }

    private struct RelatedPlanKey: Hashable {
        let layoutIndex: Int
        let slot: Int
        let owners: SQLKeys.Form
    }

    /// A plan for the destination rows of some owners, made at first use.
    func relatedRowsPlan(_ slot: PropertySlot, of entity: EntityLayout, _ owners: SQLKeys.Form) throws -> PostgreSQLRelatedRowsPlan {
        let key = RelatedPlanKey(layoutIndex: entity.index, slot: slot.index, owners: owners)
        if let known = relatedRowsPlans.withLock({ $0[key] }) { return known }
        let owner = try self.entity(entity)
        let select = selectPlan(try mapping.destination(of: slot, of: entity), includesSubentities: true)
        let statement = try mapping.relatedRows(slot, of: owner, to: select.columns, owners: owners)
        let plan = PostgreSQLRelatedRowsPlan(statement, select)
        relatedRowsPlans.withLock { $0[key] = plan }
        return plan
    }

    /// Whether the server may leave out rows that are written into a table or view, as it seemed when the store was opened.
    func mayExcludeRows(of table: String) -> Bool { omittingTables.contains(table) }

    /// Has all rows be read anew, and saves look before their commits from now on: one was not written whole, which was noticed behind it.
    func noticeExcludedRows() {
        comparesRows.store(true, ordering: .relaxed)
        for cache in rowCaches { cache.removeAll() }
    }

    func isConstrained(_ layout: EntityLayout) -> Bool { constrained[layout.index] }

    func rowCache(of layout: EntityLayout) -> RowCache { rowCaches[layout.rootIndex] }

    /// The mapping of an entity.
    func entity(_ layout: EntityLayout) throws -> SQLEntity { try mapping.requiredEntity(layout) }

    /// The mapping of the root of an entity's hierarchy.
    func root(of layout: EntityLayout) throws -> SQLEntity { try entity(mapping.layouts.layouts[layout.rootIndex]) }
}

/// How the rows related to one row, or to many, through one relationship are read.
final class PostgreSQLRelatedRowsPlan: Sendable {
    let sql: String
    let select: SelectPlan<PostgreSQLDecoder>
    /// Whether the rows are found by their own foreign key, so that none belongs to two owners.
    let isInverse: Bool
    /// Where the key of each row's owner stands.
    let owner: OwnerKey

    init(_ statement: RelatedRowsStatement, _ select: SelectPlan<PostgreSQLDecoder>) {
        sql = statement.sql
        self.select = select
        isInverse = statement.isInverse
        owner = statement.owner
    }
}
