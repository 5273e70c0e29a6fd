import Synchronization

/// How the rows related to one row, or to many, through one relationship are read.
final class RelatedRowsPlan: Sendable {
    let sql: String
    let select: SelectPlan
    /// Whether the rows are found by their own foreign key, so that none belongs to two owners.
    let isInverse: Bool
    private let ownerSlot: Int?
    /// How many rows the last owner had.
    private let lastCount = Atomic<Int>(16)

    init(_ statement: RelatedRowsStatement, _ select: SelectPlan) {
        sql = statement.sql
        self.select = select
        isInverse = statement.isInverse
        ownerSlot = statement.ownerSlot
    }

    /// Where the key of each row's owner stands.
    var owner: RowCollector.OwnerKey { ownerSlot.map { .slot($0) } ?? .lastColumn }

    /// How many rows one owner is likely to have.
    var expectedRows: Int { lastCount.load(ordering: .relaxed) }

    func noteRows(_ count: Int) {
        lastCount.store(max(1, count), ordering: .relaxed)
    }
}

extension SQLiteBackend {
    /// A plan for the destination rows of some owners, made at first use.
    func relatedRowsPlan(_ slot: PropertySlot, of entity: EntityLayout, _ owners: SQLKeys.Form) throws -> RelatedRowsPlan {
        let key = RelatedRowsPlanKey(layoutIndex: entity.index, slot: slot.index, owners: owners)
        if let known = relatedRowsPlans.withLock({ $0[key] }) { return known }
        let owner = try self.entity(entity)
        let select = selectPlan(try mapping.destination(of: slot, of: entity), includesSubentities: true)
        let plan = RelatedRowsPlan(try mapping.relatedRows(slot, of: owner, to: select.columns, owners: owners), select)
        relatedRowsPlans.withLock { $0[key] = plan }
        return plan
    }
}

/// Names a plan: the owner's entity, the relationship, and how owners are told.
struct RelatedRowsPlanKey: Hashable, Sendable {
    let layoutIndex: Int
    let slot: Int
    let owners: SQLKeys.Form
}
