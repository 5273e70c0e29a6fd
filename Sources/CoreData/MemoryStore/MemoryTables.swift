import Foundation

/// All rows of a store in memory.
///
/// A value type: a reader works on its copy while a save creates the next version.
struct MemoryTables: Sendable {
    /// The rows of one entity, without its subentities.
    struct Table: Sendable {
        private var elements = OrderedElements<Int64, Snapshot>()

        /// In order of insertion; nil where a row was deleted.
        var rows: ContiguousArray<Snapshot?> { elements.places }

        var count: Int { elements.count }

        func row(_ key: Int64) -> Snapshot? { elements[key] }

        mutating func put(_ row: Snapshot) { elements.put(row, for: row.key) }

        mutating func remove(_ key: Int64) { elements.remove(key) { $0.key } }
    }

    /// A to-many relationship in the hierarchy of a root entity, in which primary keys are unique.
    struct Relationship: Hashable, Sendable {
        let rootIndex: Int
        let name: String
    }

    /// The destinations of one owner.
    enum Destinations: Sendable {
        case set(Set<RowReference>)
        case list(OrderedElements<RowReference, RowReference>)

        /// Returns a list of references in the given order.
        static func ordered(_ references: some Sequence<RowReference>) -> Destinations {
            var list = OrderedElements<RowReference, RowReference>()
            for reference in references { list.put(reference, for: reference) }
            return .list(list)
        }

        var references: [RowReference] {
            switch self {
            case .set(let set): set.sorted { ($0.key, $0.layoutIndex) < ($1.key, $1.layoutIndex) }
            case .list(let list): list.places.compactMap(\.self)
            }
        }

        mutating func insert(_ reference: RowReference) {
            switch self {
            case .set(var set):
                // Emptied first, so that the set below is the only reference and is changed in
                // place.
                self = .set([])
                set.insert(reference)
                self = .set(set)
            case .list(var list):
                self = .set([])
                list.put(reference, for: reference)
                self = .list(list)
            }
        }

        mutating func remove(_ reference: RowReference) {
            switch self {
            case .set(var set):
                self = .set([])
                set.remove(reference)
                self = .set(set)
            case .list(var list):
                self = .set([])
                list.remove(reference) { $0 }
                self = .list(list)
            }
        }

        /// Reorders destinations as in `order`. Destinations that it does not name follow, in their
        /// order.
        mutating func put(_ order: [RowReference]) {
            guard case .list(let list) = self else { return }
            let ordered = Set(order)
            self = .ordered(order.filter(list.contains) + references.filter { !ordered.contains($0) })
        }

        /// Moves some of the destinations to the end, in order.
        mutating func moveToEnd(_ references: [RowReference]) {
            guard case .list(var list) = self else { return }
            self = .set([])
            for reference in references where list.contains(reference) {
                list.remove(reference) { $0 }
                list.put(reference, for: reference)
            }
            self = .list(list)
        }
    }

    let layouts: ModelLayout
    /// The rows of each entity, by layout index.
    private(set) var tables: [Table]
    /// To-many relationships by owner's primary key.
    private var related: [Relationship: [Int64: Destinations]] = [:]
    /// The owners of each destination in relationships without an inverse.
    ///
    /// No value of the destination refers to them.
    private var owners: [Relationship: [RowReference: Set<Int64>]] = [:]
    /// Whether the rows are those of a file that is written as a whole.
    ///
    /// Its objects share one sequence of keys, and a destination of a to-many relationship without
    /// an inverse may have several owners. In a database it has one, the last.
    private let isAtomic: Bool
    /// The highest key assigned, by layout index of the root entity.
    private var lastKeys: [Int64]
    let constraints: MemoryConstraints
    /// The row that has each set of unique values, by the constraint's number.
    private var uniqueOwners: [[UniqueValues: RowReference]]

    init(layouts: ModelLayout, isAtomic: Bool) {
        self.layouts = layouts
        self.isAtomic = isAtomic
        tables = Array(repeating: Table(), count: layouts.layouts.count)
        lastKeys = Array(repeating: 0, count: layouts.layouts.count)
        constraints = MemoryConstraints(layouts)
        uniqueOwners = Array(repeating: [:], count: constraints.count)
    }

    // MARK: - Unique values

    func owner(of values: UniqueValues, _ constraint: MemoryConstraints.Constraint) -> RowReference? {
        uniqueOwners[constraint.number][values]
    }

    private mutating func noteUniqueValues(old: Snapshot?, new: Snapshot?) {
        guard constraints.count > 0, let layout = (new ?? old)?.layout else { return }
        for constraint in constraints.byLayout[layout.index] {
            let before = old.flatMap { uniqueValues(constraint, in: $0) }
            let after = new.flatMap { uniqueValues(constraint, in: $0) }
            guard before != after else { continue }
            // Within one save, another row may already have these values.
            if let before, uniqueOwners[constraint.number][before]?.key == old?.key {
                uniqueOwners[constraint.number][before] = nil
            }
            if let after, let new {
                uniqueOwners[constraint.number][after] = RowReference(key: new.key, layoutIndex: layout.index)
            }
        }
    }

    // MARK: - Keys

    /// Reserves `count` new keys and returns the first.
    mutating func reserveKeys(_ count: Int, for entity: EntityLayout) -> Int64 {
        defer { lastKeys[sequence(of: entity)] += Int64(count) }
        return lastKeys[sequence(of: entity)] + 1
    }

    private func sequence(of entity: EntityLayout) -> Int { isAtomic ? 0 : entity.rootIndex }

    /// Reserves a key that came from elsewhere, so that it is not assigned again.
    mutating func noteKey(_ key: Int64, for entity: EntityLayout) {
        lastKeys[sequence(of: entity)] = max(lastKeys[sequence(of: entity)], key)
    }

    /// The highest key assigned for a root entity.
    func lastKey(of root: EntityLayout) -> Int64 { lastKeys[sequence(of: root)] }

    /// The highest key assigned.
    var lastKey: Int64 { lastKeys.max() ?? 0 }

    // MARK: - Rows

    /// The row with a key, of an entity or one of its subentities.
    func row(_ key: Int64, of entity: EntityLayout) -> Snapshot? {
        for index in entity.familyIndexes {
            if let row = tables[index].row(key) { return row }
        }
        return nil
    }

    func row(_ reference: RowReference) -> Snapshot? { tables[reference.layoutIndex].row(reference.key) }

    /// Adds or replaces a row, and updates the to-many inverses of its to-one relationships.
    mutating func put(_ row: Snapshot) {
        let layout = row.layout
        let old = tables[layout.index].row(row.key)
        let own = RowReference(key: row.key, layoutIndex: layout.index)
        for slot in layout.relationshipSlots where layout.slots[slot].kind == .toOne && slot < layout.storedCount {
            let before = old.flatMap { $0.isNull(slot) ? nil : $0.reference(slot) }
            let after = row.isNull(slot) ? nil : row.reference(slot)
            guard before != after else { continue }
            if let before { changeInverse(of: layout.slots[slot], at: before) { $0.remove(own) } }
            if let after { changeInverse(of: layout.slots[slot], at: after) { $0.insert(own) } }
        }
        tables[layout.index].put(row)
        noteUniqueValues(old: old, new: row)
        noteKey(row.key, for: layout)
    }

    /// Removes a row, also from all to-many relationships.
    mutating func remove(_ key: Int64, of layout: EntityLayout) {
        guard let row = tables[layout.index].row(key) else { return }
        let own = RowReference(key: key, layoutIndex: layout.index)
        for slot in layout.relationshipSlots {
            let property = layout.slots[slot]
            if property.kind == .toOne, slot < layout.storedCount {
                if !row.isNull(slot) { changeInverse(of: property, at: row.reference(slot)) { $0.remove(own) } }
            } else if property.kind.isToMany {
                let relationship = Relationship(rootIndex: layout.rootIndex, name: property.name)
                let destinations = related[relationship]?.removeValue(forKey: key)?.references ?? []
                for destination in destinations {
                    changeInverse(of: property, at: destination) { $0.remove(own) }
                    owners[relationship]?[destination]?.remove(key)
                }
            }
        }
        // A new row that replaces this one has no owner.
        for relationship in Array(owners.keys) {
            for owner in owners[relationship]?.removeValue(forKey: own) ?? [] {
                related[relationship]?[owner]?.remove(own)
            }
        }
        tables[layout.index].remove(key)
        noteUniqueValues(old: row, new: nil)
    }

    // MARK: - To-many relationships

    /// The destinations that exist, in order where the relationship is ordered.
    func destinations(of key: Int64, through slot: PropertySlot, of layout: EntityLayout) -> [Snapshot] {
        let relationship = Relationship(rootIndex: layout.rootIndex, name: slot.name)
        return (related[relationship]?[key]?.references ?? []).compactMap { row($0) }
    }

    /// Applies changes of join tables and of orders.
    ///
    /// Destinations that have a to-one column for the inverse are linked by `put(_:)`. All links
    /// come before any order, as the members of an ordered relationship may be linked from their
    /// side.
    mutating func apply(_ changes: [RelationshipChange]) {
        let ordered = changes.filter { $0.layout.slots[$0.slot].kind == .orderedToMany }.map {
            ($0, $0.order == nil ? newMembers(of: $0) : [])
        }
        for change in changes { link(change) }
        for (change, new) in ordered {
            let owner = RowReference(key: change.ownerKey, layoutIndex: change.layout.index)
            self.change(change.layout.slots[change.slot], of: owner) { destinations in
                if let order = change.order { destinations.put(order) } else { destinations.moveToEnd(new) }
            }
        }
    }

    /// The added destinations that were not members before.
    ///
    /// All of them, where the inverse is a to-one column: `put(_:)` has already linked their rows.
    private func newMembers(of change: RelationshipChange) -> [RowReference] {
        let slot = change.layout.slots[change.slot]
        if slot.inverseIsToOne { return change.added }
        let relationship = Relationship(rootIndex: change.layout.rootIndex, name: slot.name)
        guard case .list(let list)? = related[relationship]?[change.ownerKey] else { return change.added }
        return change.added.filter { !list.contains($0) }
    }

    private mutating func link(_ change: RelationshipChange) {
        let slot = change.layout.slots[change.slot]
        let owner = RowReference(key: change.ownerKey, layoutIndex: change.layout.index)
        let hidden =
            slot.relationship?.inverseRelationship == nil
            ? Relationship(rootIndex: change.layout.rootIndex, name: slot.name) : nil
        for destination in change.removed where leads(destination, to: owner, slot) != true {
            self.change(slot, of: owner) { $0.remove(destination) }
            changeInverse(of: slot, at: destination) { $0.remove(owner) }
            if let hidden { owners[hidden]?[destination]?.remove(owner.key) }
        }
        for destination in change.added where hidden == nil || row(destination) != nil {
            if leads(destination, to: owner, slot) == false { continue }
            if let hidden { claim(destination, for: owner.key, hidden) }
            self.change(slot, of: owner) { $0.insert(destination) }
            changeInverse(of: slot, at: destination) { $0.insert(owner) }
        }
    }

    /// Whether a row refers to an owner by the column of the to-one inverse; nil where it has no
    /// such column.
    private func leads(_ destination: RowReference, to owner: RowReference, _ slot: PropertySlot) -> Bool? {
        guard slot.inverseIsToOne else { return nil }
        guard let row = row(destination) else { return false }
        let inverse = slot.inverseSlot(in: row.layout)
        guard inverse < row.layout.storedCount else { return nil }
        return !row.isNull(inverse) && row.reference(inverse) == owner
    }

    /// Records the owner of a destination. Removes the destination from other owners where it may
    /// have only one.
    private mutating func claim(_ destination: RowReference, for owner: Int64, _ relationship: Relationship) {
        if !isAtomic {
            for other in owners[relationship]?.removeValue(forKey: destination) ?? [] where other != owner {
                related[relationship]?[other]?.remove(destination)
            }
        }
        owners[relationship, default: [:]][destination, default: []].insert(owner)
    }

    private mutating func change(
        _ slot: PropertySlot, of owner: RowReference, _ body: (inout Destinations) -> Void
    ) {
        let empty: Destinations = slot.kind == .orderedToMany ? .list(OrderedElements()) : .set([])
        let relationship = Relationship(rootIndex: layouts.layouts[owner.layoutIndex].rootIndex, name: slot.name)
        body(&related[relationship, default: [:]][owner.key, default: empty])
    }

    /// Changes the to-many inverse of a relationship at a destination; does nothing where there is
    /// none.
    private mutating func changeInverse(
        of slot: PropertySlot, at destination: RowReference, _ body: (inout Destinations) -> Void
    ) {
        guard slot.inverseIsToMany, let inverse = slot.relationship?.inverseRelationship?.name,
            let number = layouts.layouts[destination.layoutIndex].slotByName[inverse]
        else { return }
        change(layouts.layouts[destination.layoutIndex].slots[number], of: destination, body)
    }
}
