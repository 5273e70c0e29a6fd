import Foundation

// Join tables: pairs from join tables or to-one columns.
extension SQLMigrationPlan {
    /// What fills a join table, from a join table or a to-one column; nil when it starts empty.
    func pairs(of join: SQLJoinTable) -> SQLRowCopy? {
        let first = join.firstRelationship
        guard let links = inference.links[ObjectIdentifier(first)], let newDestination = first.destinationEntity else { return nil }
        let storage: Storage?
        let owner: NSEntityDescription?
        let destination: NSEntityDescription?
        switch links {
        case .relationship(let former):
            storage = self.storage(of: former)
            (owner, destination) = (former.entity, former.destinationEntity)
        case .reversed(let former):
            storage = self.storage(of: former)?.reversed
            (owner, destination) = (former.destinationEntity, former.entity)
        }
        guard let storage, let owner, let destination else { return nil }
        var copy = SQLRowCopy(target: join.name, source: storage.table)
        copy.isJoin = true
        copy.add(join.firstColumn, .column(storage.owner))
        copy.add(join.secondColumn, .column(storage.destination))
        if let column = join.firstOrderColumn, let position = storage.position { copy.add(column, .column(position)) }
        if let column = join.secondOrderColumn, let position = storage.inversePosition {
            copy.add(column, .column(position))
        }
        let ownerKey = "s." + SQLSchema.identifier(storage.owner)
        let destinationKey = "s." + SQLSchema.identifier(storage.destination)
        var conditions = [
            Ends(owner, first.entity, self).condition(on: ownerKey),
            Ends(destination, newDestination, self).condition(on: destinationKey),
        ].compactMap { $0 }
        copy.takesAllRows = conditions.isEmpty
        if !storage.isJoin { conditions.append(SQLText("\(ownerKey) IS NOT NULL AND \(destinationKey) IS NOT NULL")) }
        copy.condition = conditions.isEmpty ? nil : .joined(conditions, by: " AND ")
        return copy
    }

    /// The columns that hold the pairs of a relationship.
    private struct Storage {
        var table: String
        var owner: String
        var destination: String
        /// The position among the owner's destinations.
        var position: String?
        /// The position among the destination's owners.
        var inversePosition: String?
        var isJoin = false

        var reversed: Storage {
            Storage(
                table: table, owner: destination, destination: owner, position: inversePosition,
                inversePosition: position, isJoin: isJoin)
        }
    }

    private func storage(of relationship: NSRelationshipDescription) -> Storage? {
        guard let entity = source.layouts.layoutByName[relationship.entity.name ?? ""].flatMap({ source.entity($0) }),
            let slot = entity.layout.slotByName[relationship.name]
        else { return nil }
        if let column = entity.columns[slot] {
            return Storage(
                table: entity.table.name, owner: "Z_PK", destination: column.name, inversePosition: column.orderColumn)
        }
        switch entity.toMany[slot] {
        case .inverse(let column, let destination, _):
            return Storage(
                table: destination.table.name, owner: column.name, destination: "Z_PK", position: column.orderColumn)
        case .join(let join, let isFirst):
            return Storage(
                table: join.name, owner: join.ownerColumn(isFirst: isFirst),
                destination: join.destinationColumn(isFirst: isFirst), position: join.orderColumn(isFirst: isFirst),
                inversePosition: join.otherOrderColumn(isFirst: isFirst), isJoin: true)
        case nil: return nil
        }
    }
}
