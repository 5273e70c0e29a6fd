import Foundation

// The storage of to-many relationships: inverse columns, hidden keys and join tables.
extension SQLMapping {
    /// A many-to-many relationship as its entity declares it.
    private struct Side {
        let entity: SQLEntity
        let relationship: NSRelationshipDescription
    }

    /// Returns the relationship that identifies a pair. Where a subentity redeclares a
    /// relationship, it is the one that its inverse refers back to.
    private func known(_ relationship: NSRelationshipDescription) -> NSRelationshipDescription {
        guard let back = relationship.inverseRelationship?.inverseRelationship, back.name == relationship.name else {
            return relationship
        }
        return back
    }

    private func declaringEntity(_ relationship: NSRelationshipDescription) -> SQLEntity? {
        relationship.owningEntity?.name.flatMap { layouts.layoutByName[$0] }.flatMap { entity($0) }
    }

    /// The entities that the store holds, in order.
    private var entitiesInOrder: [SQLEntity] { entities.compactMap { $0 }.sorted { $0.order < $1.order } }

    /// Creates hidden keys for the to-many relationships without an inverse.
    ///
    /// Each relationship has its key where it is first declared. The keys are sorted by the order
    /// of entities and by name.
    func makeHiddenKeys() -> [SQLHiddenKey] {
        var keys: [SQLHiddenKey] = []
        for entity in entitiesInOrder {
            for slot in entity.layout.slots.sorted(by: { $0.name < $1.name }) where isWithoutInverse(slot) {
                guard slot.property.owningEntity === entity.layout.entity, slot.destinationIndex >= 0,
                    let destination = entities[slot.destinationIndex], formerDeclaration(slot, of: entity.layout) == nil
                else { continue }
                let column = SQLColumn(hiddenKeyOf: slot, name: naming.hiddenKey(slot, of: entity))
                keys.append(SQLHiddenKey(owner: entity, destination: destination, slot: slot, column: column))
            }
        }
        return keys
    }

    private func isWithoutInverse(_ slot: PropertySlot) -> Bool {
        slot.kind.isToMany && !slot.isTransient && slot.relationship?.inverseRelationship == nil
    }

    /// Returns the superentity's relationship that a subentity redeclares, if its destination is in
    /// the same table.
    private func formerDeclaration(_ slot: PropertySlot, of layout: EntityLayout) -> PropertySlot? {
        guard layout.superIndex >= 0 else { return nil }
        let parent = layouts.layouts[layout.superIndex]
        guard let former = parent.slotByName[slot.name].map({ parent.slots[$0] }), isWithoutInverse(former),
            former.destinationIndex >= 0, slot.destinationIndex >= 0,
            layouts.layouts[former.destinationIndex].rootIndex == layouts.layouts[slot.destinationIndex].rootIndex
        else { return nil }
        return formerDeclaration(former, of: parent) ?? former
    }

    /// Assigns each to-many relationship its storage. Called when the tables have their columns.
    func makeToManyMappings() {
        let joins = makeJoinTables()
        for case let entity? in entities {
            for slot in entity.layout.slots where slot.kind.isToMany && !slot.isTransient {
                guard let relationship = slot.relationship, slot.destinationIndex >= 0,
                    let destination = entities[slot.destinationIndex]
                else { continue }
                if slot.inverseIsToOne {
                    guard let columns = destination.columns[slot.inverseSlot] else { continue }
                    entity.toMany[slot.index] = .inverse(
                        columns, of: destination, isOrdered: slot.kind == .orderedToMany)
                } else if isWithoutInverse(slot) {
                    let declared = formerDeclaration(slot, of: entity.layout) ?? slot
                    guard let key = hiddenKeys.first(where: { $0.slot.property === declared.property }) else {
                        continue
                    }
                    entity.toMany[slot.index] = .inverse(
                        key.column, of: destination, isOrdered: slot.kind == .orderedToMany)
                } else if let join = joins[ObjectIdentifier(known(relationship))] {
                    entity.toMany[slot.index] = .join(join, isFirst: join.firstRelationship === known(relationship))
                }
            }
        }
    }

    /// Creates the join tables.
    ///
    /// The relationship of a pair whose entity comes first names the table. If one entity declares
    /// both, the relationship whose name comes later names it.
    ///
    /// - Returns: the join table of each many-to-many relationship.
    private func makeJoinTables() -> [ObjectIdentifier: SQLJoinTable] {
        let sides = sidesOfPairs()
        var columnNames = SQLNames()
        var columns: [ObjectIdentifier: String] = [:]
        // The column with an entity's keys is named after the relationship that refers to them.
        // Where a name repeats, the entity's relationships are named in order.
        for side in sides {
            guard let inverse = side.relationship.inverseRelationship else { continue }
            let name = naming.joinColumn(side.relationship, inverse: inverse, of: side.entity)
            columns[ObjectIdentifier(side.relationship)] = naming.numbersJoinColumns ? columnNames.take(name) : name
        }
        var tableNames = SQLNames(taken: Set(tables.map(\.name)).union(naming.reservedTables.keys))
        var joins: [ObjectIdentifier: SQLJoinTable] = [:]
        for side in sides {
            guard let second = side.relationship.inverseRelationship, let other = declaringEntity(second),
                isNaming(side, against: Side(entity: other, relationship: second)),
                let destination = side.relationship.destinationEntity?.name.flatMap({ layouts.layoutByName[$0] })
                    .flatMap({ entity($0) }),
                var firstColumn = columns[ObjectIdentifier(side.relationship)],
                var secondColumn = columns[ObjectIdentifier(second)]
            else { continue }
            if second === side.relationship {
                (firstColumn, secondColumn) = naming.reflexiveColumns(firstColumn)
            } else if firstColumn == secondColumn {
                var names = SQLNames(taken: [firstColumn])
                secondColumn = names.take(secondColumn)
            }
            let join = SQLJoinTable(
                name: tableNames.take(naming.joinTable(side.relationship, of: side.entity)),
                firstColumn: firstColumn, secondColumn: secondColumn, first: side.relationship, second: second,
                owner: side.entity,
                destination: destination, naming: naming)
            joinTables.append(join)
            joins[ObjectIdentifier(side.relationship)] = join
            joins[ObjectIdentifier(second)] = join
        }
        return joins
    }

    /// Returns both sides of each many-to-many pair, by entity and name.
    private func sidesOfPairs() -> [Side] {
        var sides: [Side] = []
        for entity in entitiesInOrder {
            for slot in entity.layout.slots.sorted(by: { $0.name < $1.name })
            where slot.kind.isToMany && slot.inverseIsToMany {
                guard let relationship = slot.relationship, relationship.owningEntity === entity.layout.entity,
                    known(relationship) === relationship, let inverse = relationship.inverseRelationship,
                    !slot.isTransient || !inverse.isTransient, declaringEntity(inverse) != nil
                else { continue }
                sides.append(Side(entity: entity, relationship: relationship))
            }
        }
        return sides
    }

    private func isNaming(_ side: Side, against other: Side) -> Bool {
        if side.relationship === other.relationship { return true }
        if side.entity.order != other.entity.order { return side.entity.order < other.entity.order }
        return side.relationship.name > other.relationship.name
    }
}
