import Synchronization

/// How the rows related to one row, or to many, through one relationship are read.
final class RelatedRowsPlan: Sendable {
    let sql: String
    let select: SelectPlan<RowDecoder>
    /// Whether the rows are found by their own foreign key, so that none belongs to two owners.
    let isInverse: Bool
    /// Where the key of each row's owner stands.
    let owner: OwnerKey
    /// What tells whether reading the whole table is faster; nil where it is not to be asked.
    private let share: ShareOfTable?
    /// How many rows the last owner had.
    private let lastCount = Atomic<Int>(16)

    /// - Parameter share: for a plan that reads rows by an index of their foreign key.
    init(_ statement: RelatedRowsStatement, _ select: SelectPlan<RowDecoder>, _ share: ShareOfTable?) {
        sql = statement.sql
        self.select = select
        self.share = share
        isInverse = statement.isInverse
        owner = statement.owner
    }

    /// How many rows one owner is likely to have.
    var expectedRows: Int { lastCount.load(ordering: .relaxed) }

    func noteRows(_ count: Int) {
        lastCount.store(max(1, count), ordering: .relaxed)
    }

    /// Whether so many rows of the table belong to the owners that reading all of it, in its own order, is faster than finding them
    /// by an index, each in another place.
    func isMostOfTable(_ keys: SQLKeys, _ connection: SQLiteConnection) throws -> Bool {
        guard let share, keys.count >= ShareOfTable.fewestOwners, keys.arguments.count == 1 else { return false }
        return try share.isMost(keys.arguments[0].map(\.value), connection)
    }
}

/// Asks how many rows of a table are those of a range of owners.
struct ShareOfTable {
    /// With fewer owners asking takes longer than it saves.
    static let fewestOwners = 64

    private let lastKey: String
    private let rows: String

    /// Nil for rows in an order of their own, and where owners are not told by a range.
    init?(_ statement: RelatedRowsStatement, _ owners: SQLKeys.Form, _ mapping: SQLMapping) {
        guard owners == .range, let foreignKey = statement.foreignKey else { return nil }
        let dialect = mapping.dialect
        let table = dialect.identifier(foreignKey.table)
        lastKey = "SELECT max(\(dialect.identifier(mapping.naming.key))) FROM \(table)"
        // Counted in the index alone, and no further than needed.
        rows =
            "SELECT count(*) FROM (SELECT 1 FROM \(table) WHERE \(dialect.identifier(foreignKey.column)) "
            + "\(dialect.keyCondition(owners)) LIMIT ?)"
    }

    /// - Parameter range: the first and the last owner.
    func isMost(_ range: [StoredValue], _ connection: SQLiteConnection) throws -> Bool {
        // No table has more rows than its last key says.
        guard let lastKey = try connection.integer(lastKey), lastKey > 0 else { return false }
        let half = lastKey / 2 + 1
        return try connection.integer(rows, range + [.integer(half)]) == half
    }
}

extension SQLiteBackend {
    /// A plan for the destination rows of some owners, made at first use.
    ///
    /// - Parameter readsTable: whether the table is to be read from one end to the other.
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

/// Names a plan: the owner's entity, the relationship, and how owners are told.
struct RelatedRowsPlanKey: Hashable, Sendable {
    let layoutIndex: Int
    let slot: Int
    let owners: SQLKeys.Form
    let readsTable: Bool
}
