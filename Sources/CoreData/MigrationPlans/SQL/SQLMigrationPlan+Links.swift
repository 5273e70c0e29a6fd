import Foundation

// To-one columns: keys, entity numbers and positions.
extension SQLMigrationPlan {
    struct Link {
        var key = SQLRowCopy.Value.null
        var entity = SQLRowCopy.Value.null
        var position = SQLRowCopy.Value.null
    }

    /// Returns the former column of a to-one relationship in the member's rows; nil where there is
    /// none.
    private func formerColumn(_ slot: PropertySlot, _ member: Member) -> (SQLColumn, NSRelationshipDescription)? {
        guard let relationship = slot.relationship,
            case .relationship(let former)? = inference.links[ObjectIdentifier(relationship)],
            let index = member.source.layout.slotByName[former.name],
            member.source.layout.slots[index].relationship === former,
            let column = member.source.columns[index], column.kind == .toOne
        else { return nil }
        return (column, former)
    }

    func link(_ slot: PropertySlot, _ column: SQLColumn, _ member: Member) -> Link {
        guard let (former, relationship) = formerColumn(slot, member),
            let destination = relationship.destinationEntity, let newDestination = slot.relationship?.destinationEntity
        else { return Link() }
        let ends = Ends(destination, newDestination, self)
        guard !ends.kept.isEmpty, let table = ends.table else { return Link() }
        let key = "s." + dialect.identifier(former.name)
        let condition = ends.condition(on: key)
        func limited(_ value: SQLRowCopy.Value) -> SQLRowCopy.Value {
            guard let condition else { return value }
            return .sql("CASE WHEN " + condition + " THEN " + value.text(target) + " END")
        }
        var link = Link(key: limited(.column(former.name)))
        if let order = former.orderColumn { link.position = limited(.column(order)) }
        if column.entityColumn != nil {
            if let name = former.entityColumn {
                link.entity = limited(renumbered(name, ends.kept, alone: false))
            } else if ends.members == 1, let number = ends.kept.values.first {
                link.entity = limited(.sql(SQLText("CASE WHEN \(key) IS NOT NULL THEN \(number) END")))
            } else {
                let number = renumbered(naming.entity, ends.kept, alone: false, alias: "d")
                link.entity = .sql(
                    "(SELECT " + number.text(target) + " FROM " + SQLText(table: table.name)
                        + " d WHERE d.\(dialect.identifier(naming.key)) = \(key))")
            }
        }
        return link
    }

    /// Whether a to-one column's positions come from an ordered relationship of the source.
    func keepsPositions(_ column: SQLColumn, of table: SQLTable) -> Bool {
        if column.isHiddenKey {
            if case .null = hiddenLink(column, in: table).position {} else { return true }
            return target.hiddenKeys.contains { $0.column === column && hiddenKeys($0)?.formerPosition != nil }
        }
        return members(of: table).contains { member in
            guard let slot = member.target.columns.firstIndex(where: { $0 === column }) else { return false }
            return formerColumn(member.target.layout.slots[slot], member)?.0.orderColumn != nil
        }
    }

    /// The rows at one end of a relationship that became rows of the new end.
    struct Ends {
        /// The new entity numbers by former ones.
        var kept: [Int: Int] = [:]
        /// The number of former entities.
        var members = 0
        /// Whether there may be objects that did not become objects of the new end.
        var losesObjects = false
        var table: SQLTable?
        private let mapping: SQLMapping

        init(_ former: NSEntityDescription, _ now: NSEntityDescription, _ plan: SQLMigrationPlan) {
            mapping = plan.target
            guard let layout = plan.source.layouts.layoutByName[former.name ?? ""] else { return }
            for index in layout.familyIndexes {
                guard let entity = plan.source.entities[index] else { continue }
                table = entity.table
                members += 1
                guard let destination = plan.inference.destination(of: entity.layout.entity),
                    destination.isKindOf(entity: now),
                    let target = plan.target.layouts.layoutByName[destination.name ?? ""].flatMap({
                        plan.target.entity($0)
                    })
                else {
                    if !entity.layout.isAbstract { losesObjects = true }
                    continue
                }
                kept[entity.number] = target.number
            }
        }

        /// Returns the condition that a key must satisfy; nil where all keys satisfy it.
        func condition(on key: String) -> SQLText? {
            guard kept.count < members, let table else { return nil }
            if kept.isEmpty { return SQLText(mapping.dialect.truth(false)) }
            let (dialect, naming) = (mapping.dialect, mapping.naming)
            return "EXISTS (SELECT 1 FROM " + SQLText(table: table.name)
                + (" d WHERE d.\(dialect.identifier(naming.key)) = \(key) "
                    + "AND d.\(dialect.identifier(naming.entity)) IN (\(SQLMigrationPlan.list(kept.keys))))")
        }
    }
}
