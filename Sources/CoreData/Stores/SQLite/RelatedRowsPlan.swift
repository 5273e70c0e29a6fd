import Synchronization

/// The statement that reads the rows related to one row, or to many, through one relationship.
final class RelatedRowsPlan: Sendable {
    let sql: String
    let select: SelectPlan
    /// Whether the rows are found by their own foreign key, so that none belongs to two owners.
    let isInverse: Bool
    /// The slot of each row that holds its owner's key; nil when that is the last column of the result.
    let ownerSlot: Int?
    /// How many rows the last owner had.
    private let lastCount = Atomic<Int>(16)

    init(sql: String, select: SelectPlan, isInverse: Bool, ownerSlot: Int? = nil) {
        self.sql = sql
        self.select = select
        self.isInverse = isInverse
        self.ownerSlot = ownerSlot
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
    func relatedRowsPlan(_ slot: PropertySlot, of entity: EntityLayout, _ owners: SelectedKeys.Form) throws -> RelatedRowsPlan {
        let key = RelatedRowsPlanKey(layoutIndex: entity.index, slot: slot.index, owners: owners)
        if let known = relatedRowsPlans.withLock({ $0[key] }) { return known }
        let plan = try makeRelatedRowsPlan(slot, of: entity, condition: owners.condition)
        relatedRowsPlans.withLock { $0[key] = plan }
        return plan
    }

    private func makeRelatedRowsPlan(
        _ slot: PropertySlot, of entity: EntityLayout, condition: String
    ) throws -> RelatedRowsPlan {
        let owner = try self.entity(entity)
        guard slot.destinationIndex >= 0, let destination = mapping.entities[slot.destinationIndex] else {
            throw CoreDataErrors.make(
                .coreData,
                "The destination of '\(slot.name)' of entity '\(entity.name)' is not kept in this store.")
        }
        let select = selectPlan(destination, includesSubentities: true)
        let table = SQLSchema.identifier(destination.table.name)
        if let column = owner.columns[slot.index], slot.kind == .toOne {
            let key = SQLSchema.identifier(column.name)
            return RelatedRowsPlan(
                sql: "SELECT \(select.columns), o.Z_PK FROM \(SQLSchema.identifier(owner.table.name)) o JOIN \(table) t0 "
                    + "ON o.\(key) = t0.Z_PK WHERE o.Z_PK \(condition)", select: select, isInverse: false)
        }
        switch owner.toMany[slot.index] {
        case .inverse(let column, _, let isOrdered)?:
            let key = "t0." + SQLSchema.identifier(column.name)
            var order = ""
            if isOrdered, let position = column.orderColumn {
                order = " ORDER BY \(key), t0.\(SQLSchema.identifier(position)), t0.Z_PK"
            }
            let rows = "FROM \(table) t0 WHERE \(key) \(condition)\(order)"
            if select.only != nil {
                let ownerSlot = slot.inverseSlot(in: destination.layout)
                if ownerSlot >= 0 {
                    return RelatedRowsPlan(
                        sql: "SELECT \(select.columns) \(rows)", select: select, isInverse: true, ownerSlot: ownerSlot)
                }
            }
            return RelatedRowsPlan(sql: "SELECT \(select.columns), \(key) \(rows)", select: select, isInverse: true)
        case .join(let join, let isFirst)?:
            let key = "j." + SQLSchema.identifier(join.ownerColumn(isFirst: isFirst))
            let link = "j." + SQLSchema.identifier(join.destinationColumn(isFirst: isFirst))
            var order = ""
            if let position = join.orderColumn(isFirst: isFirst) {
                order = " ORDER BY \(key), j.\(SQLSchema.identifier(position)), t0.Z_PK"
            }
            return RelatedRowsPlan(
                sql: "SELECT \(select.columns), \(key) FROM \(SQLSchema.identifier(join.name)) j JOIN \(table) t0 "
                    + "ON \(link) = t0.Z_PK WHERE \(key) \(condition)\(order)", select: select, isInverse: false)
        case nil:
            throw CoreDataErrors.make(
                .coreData,
                "'\(slot.name)' of entity '\(entity.name)' is no stored relationship.")
        }
    }
}

/// Names a plan: the owner's entity, the relationship, and how owners are told.
struct RelatedRowsPlanKey: Hashable, Sendable {
    let layoutIndex: Int
    let slot: Int
    let owners: SelectedKeys.Form
}
