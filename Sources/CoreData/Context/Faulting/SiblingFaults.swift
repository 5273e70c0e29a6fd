// Loading a relationship for many objects, once a program reads it for one after the other.

/// Notices that a program reads a relationship of adjacent objects in their order.
///
/// Objects that were fetched together share pages of rows, in the order of the result.
struct SiblingFaults {
    private struct Relationship: Hashable {
        let layoutIndex: Int
        let slot: Int
    }

    /// The row of the last object for which each relationship was read. Rows are only compared:
    /// they may have been freed.
    private var lastRows: [Relationship: RowPointer] = [:]
    /// The to-one relationship that last led to an object whose row is not known.
    private var toOne: (owner: Snapshot, slot: Int, destination: RowReference)?

    /// Notes that a relationship was read.
    ///
    /// - Parameter skipped: The number of objects after this one for which it is loaded, too.
    mutating func note(_ row: RowPointer, _ slot: Int, of layout: EntityLayout, skipped: Int = 0) {
        lastRows[Relationship(layoutIndex: layout.index, slot: slot)] = row + skipped * layout.rowStrideInWords
    }

    /// Whether a row is the next one after that of the last object for which a relationship was
    /// read.
    func follows(_ row: RowPointer, _ slot: Int, of layout: EntityLayout) -> Bool {
        guard let last = lastRows[Relationship(layoutIndex: layout.index, slot: slot)] else { return false }
        return last + layout.rowStrideInWords == row
    }

    /// Notes that a to-one relationship leads to an object whose row is not known.
    mutating func noteToOne(_ owner: NSManagedObject, _ slot: Int, _ destination: RowReference) {
        guard let row = owner.committedRow else { return }
        toOne = (Snapshot(retaining: row), slot, destination)
    }

    /// Returns the relationship that has just led to an object whose row was read; nil if none did.
    mutating func takeToOne(to destination: NSManagedObject) -> (owner: Snapshot, slot: Int)? {
        guard let last = toOne, last.destination.key == destination.key,
            destination.layout.model.layouts[last.destination.layoutIndex].rootIndex == destination.layout.rootIndex
        else { return nil }
        toOne = nil
        return (last.owner, last.slot)
    }
}

extension NSManagedObjectContext {
    /// About the number of rows that are read for siblings at once.
    private static let siblingRows = 8_192

    /// Whether rows may be read before they are used: not in a context that limits their age.
    private var readsAhead: Bool { batchesFaults && stalenessInterval < 0 }

    /// Loads a to-many relationship of the objects after one for which it was read, if the one
    /// before that was read, too.
    ///
    /// - Parameter count: The number of members that the relationship of the object has.
    func loadSiblings(of object: NSManagedObject, toMany slot: Int, count: Int) {
        guard readsAhead, let row = object.committedRow, let source = rows(near: object), source.readsRowsInBatches
        else { return }
        let layout = object.layout
        let isWalk = siblingFaults.follows(row, slot, of: layout)
        siblingFaults.note(row, slot, of: layout)
        guard isWalk else { return }
        let siblings = siblings(after: row, of: object, atMost: max(8, Self.siblingRows / max(1, count)))
        let owners = siblings.objects.filter { !($0.extras?.toMany(slot)?.isLoaded ?? false) }
        // An error is reported when one of them is read by itself.
        guard !owners.isEmpty,
            let related = try? source.relatedRows(toAll: owners.map(\.key), through: layout.slots[slot], of: layout)
        else { return }
        siblingFaults.note(row, slot, of: layout, skipped: siblings.count)
        recordFault(of: layout, slot, count: related.rows.rows.count)
        loadMembers(related, of: owners, slot: slot, store: Int(object.storeNumber))
    }

    /// Loads the destinations of the objects after one whose destination was read, if that of the
    /// one before was read, too.
    func loadSiblings(ofOwnerOf destination: NSManagedObject) {
        guard readsAhead, let (owner, slot) = siblingFaults.takeToOne(to: destination) else { return }
        let layout = owner.layout
        let isWalk = siblingFaults.follows(owner.row, slot, of: layout)
        siblingFaults.note(owner.row, slot, of: layout)
        guard isWalk, let source = rows(near: destination), source.readsRowsInBatches,
            let object = registry.object(
                store: Int(destination.storeNumber), root: layout.rootIndex, key: owner.row.rowKey)
        else { return }
        let siblings = siblings(after: owner.row, of: object, atMost: Self.siblingRows)
        if siblings.objects.isEmpty { return }
        siblingFaults.note(owner.row, slot, of: layout, skipped: siblings.count)
        guard let read = try? prefetchToOne(layout.slots[slot], siblings.objects, Int(destination.storeNumber), source)
        else { return }
        recordFault(of: destination.layout, count: read.count)
    }

    /// Returns the objects of the rows after one on its page, and the number of these rows.
    private func siblings(
        after row: RowPointer, of object: NSManagedObject, atMost limit: Int
    ) -> (objects: [NSManagedObject], count: Int) {
        let layout = object.layout
        let page = row.rowPage.object
        let index = (row - page.row(at: 0)) / layout.rowStrideInWords
        let count = min(limit, page.rowCount - index - 1)
        if count <= 0 { return ([], 0) }
        // Kept until the registry's lock is released: the last reference to an object must not be
        // released under it.
        var found: [NSManagedObject] = []
        found.reserveCapacity(count)
        let place = Int(object.registryPlace)
        registry.withTable(store: Int(object.storeNumber), root: layout.rootIndex) { table in
            for offset in 1...count {
                let key = page.row(at: index + offset).rowKey
                if let sibling = table.find(key, waitingAt: place < 0 ? -1 : place + offset)?.retained {
                    found.append(sibling)
                }
            }
        }
        // One that was saved or refreshed meanwhile has another row.
        let objects = found.filter {
            $0.committedRow?.rowPage.pointer == row.rowPage.pointer && !$0.hasLeftItsRow
        }
        return (objects, count)
    }
}

extension NSManagedObject {
    /// Whether the object's row can no longer be read.
    fileprivate var hasLeftItsRow: Bool {
        !flags.isDisjoint(with: [.inaccessible, .invalid, .deletionSaved, .inserted])
    }
}
