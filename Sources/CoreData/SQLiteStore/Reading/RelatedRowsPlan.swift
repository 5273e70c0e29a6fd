import Synchronization

/// The plan that reads the rows related to one row, or to many, through one relationship.
final class RelatedRowsPlan: Sendable {
    let sql: String
    let select: SelectPlan<RowDecoder>
    /// Whether the rows are found by their own foreign key, so that no row belongs to two owners.
    let isInverse: Bool
    /// The position of the owner's key in each result row.
    let owner: OwnerKey
    /// Measures whether reading the whole table is faster; nil where that is not measured.
    private let share: ShareOfTable?
    /// The number of rows of the last owner.
    private let lastCount = Atomic<Int>(16)

    /// - Parameter share: set for a plan that reads rows by an index of their foreign key.
    init(_ statement: RelatedRowsStatement, _ select: SelectPlan<RowDecoder>, _ share: ShareOfTable?) {
        sql = statement.sql
        self.select = select
        self.share = share
        isInverse = statement.isInverse
        owner = statement.owner
    }

    /// The expected number of rows of one owner.
    var expectedRows: Int { lastCount.load(ordering: .relaxed) }

    func noteRows(_ count: Int) {
        lastCount.store(max(1, count), ordering: .relaxed)
    }

    /// Whether reading the whole table is faster than finding each row of the owners by an index.
    ///
    /// True where the owners have most of the table's rows. The index would find each in another
    /// place.
    func isMostOfTable(_ keys: SQLKeys, _ connection: SQLiteConnection) throws -> Bool {
        guard let share, keys.count >= ShareOfTable.fewestOwners, keys.arguments.count == 1 else { return false }
        return try share.isMost(keys.arguments[0].map(\.value), connection)
    }
}

/// Measures how many rows of a table belong to a range of owners.
struct ShareOfTable {
    /// The minimum number of owners: with fewer, measuring takes longer than it saves.
    static let fewestOwners = 64

    private let lastKey: String
    private let rows: String

    /// Nil for rows with an explicit order, and where the owners are no range.
    init?(_ statement: RelatedRowsStatement, _ owners: SQLKeys.Form, _ mapping: SQLMapping) {
        guard owners == .range, let foreignKey = statement.foreignKey else { return nil }
        let dialect = mapping.dialect
        let table = dialect.identifier(foreignKey.table)
        lastKey = "SELECT max(\(dialect.identifier(mapping.naming.key))) FROM \(table)"
        // Counted in the index alone, and only as far as needed.
        rows =
            "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE \(dialect.identifier(foreignKey.column)) "
            + "\(dialect.keyCondition(owners)) LIMIT ?)"
    }

    /// Whether the owners in a range have at least half of the table's rows.
    ///
    /// - Parameter range: the first and the last owner.
    func isMost(_ range: [StoredValue], _ connection: SQLiteConnection) throws -> Bool {
        // A table has at most as many rows as its last key.
        guard let lastKey = try connection.integer(lastKey), lastKey > 0 else { return false }
        let half = lastKey / 2 + 1
        return try connection.integer(rows, range + [.integer(half)]) == half
    }
}

extension SQLiteBackend {
    /// Returns the plan for the destination rows of some owners; created at first use.
    ///
    /// - Parameter readsTable: whether to read the whole table in order.
    func relatedRowsPlan(
        _ slot: PropertySlot, of entity: EntityLayout, _ owners: SQLKeys.Form, readsTable: Bool = false
    ) throws -> RelatedRowsPlan {
        let key = RelatedRowsPlanKey(layoutIndex: entity.index, slot: slot.index, owners: owners, readsTable: readsTable)
        if let known = relatedRowsPlans.withLock({ $0[key] }) { return known }
        let owner = try self.entity(entity)
        let select = selectPlan(try mapping.destination(of: slot, of: entity), includesSubentities: true)
        let statement = try mapping.relatedRows(slot, of: owner, to: select.columns, owners: owners, readsTable: readsTable)
        let plan = RelatedRowsPlan(statement, select, readsTable ? nil : ShareOfTable(statement, owners, mapping))
        relatedRowsPlans.withLock { $0[key] = plan }
        return plan
    }
}

/// The key of a plan: the owner's entity, the relationship, and how owners are specified.
struct RelatedRowsPlanKey: Hashable, Sendable {
    let layoutIndex: Int
    let slot: Int
    let owners: SQLKeys.Form
    let readsTable: Bool
}
