import CoreData

/// The outcome for each row of an insertion whose unique values other rows may have. Rows are
/// handled one after the other, as if each was written at once.
final class PostgreSQLInsertionPlan {
    /// A row of the store that has unique values.
    struct Owner {
        let key: Int64
        let version: Int64
        /// Nil for an entity that the model does not know.
        let layoutIndex: Int?
    }

    /// New values of a row, and the version that it gets.
    struct Change {
        let values: RowValues
        var version: Int64
    }

    private enum Place: Equatable {
        /// The index of the row among those of the insertion.
        case new(Int)
        case existing(Int64)
        /// A row that is neither of the entity nor of a subentity.
        case foreign(Int64)
    }

    private let insertion: PostgreSQLInsertion
    /// The owners of unique values, by constraint, then by the row's index.
    private let known: [[Int: Owner]]
    /// The store's rows by key, where a constraint may be changed in a part.
    private let rows: [Int64: Snapshot]
    /// The rows to insert, by their indexes.
    private(set) var new: [Int] = []
    /// The rows to insert that later ones have changed, with all values.
    private(set) var merged: [Int: Change] = [:]
    /// The rows of the store that change, in the order in which they were found, with their new
    /// values.
    private(set) var changed: [(row: RowReference, change: Change)] = []
    /// The number of changes to rows.
    private(set) var updatedCount = 0
    private var changedPlaces: [Int64: Int] = [:]
    /// The rows of the batch that have unique values, by constraint, then by the values.
    private var owners: [[[UInt8]: Place]]

    /// - Parameters:
    ///   - known: the owners of the rows' unique values.
    ///   - rows: the owners' rows, where the written values are not all that the constraints check.
    init(_ insertion: PostgreSQLInsertion, _ known: [[Int: Owner]], _ rows: [Int64: Snapshot]) {
        self.insertion = insertion
        self.known = known
        self.rows = rows
        owners = Array(repeating: [:], count: insertion.uniques.count)
    }

    /// - Throws: `UniquenessFailure` where the rule is to refuse, or a row would have the unique
    ///   values of two.
    func make() throws {
        for index in 0..<insertion.count { try add(index) }
    }

    private func add(_ index: Int) throws {
        let keys = try insertion.uniques.map { try insertion.key(of: index, $0) }
        guard let number = keys.indices.first(where: { place(of: index, $0, keys[$0]) != nil }),
            let place = place(of: index, number, keys[number])
        else {
            new.append(index)
            for (number, key) in keys.enumerated() { if let key { owners[number][key] = .new(index) } }
            return
        }
        switch insertion.uniques[number].isMeant ? insertion.insertion.rule : .refuse {
        case .keepExisting: return
        case .refuse: throw failure(number, index, place)
        case .updateGivenValues, .replaceValues: try change(place, by: index, keys, meeting: number)
        }
    }

    /// Returns the row that has a row's unique values before the row is written.
    private func place(of index: Int, _ number: Int, _ key: [UInt8]?) -> Place? {
        guard let key else { return nil }
        if let place = owners[number][key] { return place }
        guard let owner = known[number][index] else { return nil }
        // The batch may have given the row other values.
        if let changed = changedPlaces[owner.key].map({ changed[$0].change }),
            insertion.uniques[number].targets.contains(where: { changed.values.has($0.slot) })
        {
            return nil
        }
        let isChanged = owner.layoutIndex.map(insertion.layout.familyIndexes.contains) ?? false
        return isChanged ? .existing(owner.key) : .foreign(owner.key)
    }

    private func change(_ place: Place, by index: Int, _ keys: [[UInt8]?], meeting number: Int) throws {
        for (other, unique) in insertion.uniques.enumerated()
        where other != number && unique.targets.contains(where: { insertion.replaces($0.slot, by: index) }) {
            if let owner = self.place(of: index, other, keys[other]), owner != place {
                throw failure(other, index, owner)
            }
        }
        let values: RowValues
        var row: Snapshot?
        switch place {
        case .foreign: throw failure(number, index, place)
        case .new(let first):
            var change = merged[first] ?? Change(values: allValues(of: first), version: 1)
            change.version += 1
            merged[first] = change
            values = change.values
        case .existing(let key):
            row = rows[key]
            if let known = changedPlaces[key] {
                values = changed[known].change.values
            } else {
                values = RowValues.make(slotCount: insertion.layout.slots.count)
                changedPlaces[key] = changed.count
                let owner = known[number][index]
                let reference = RowReference(key: key, layoutIndex: owner?.layoutIndex ?? insertion.layout.index)
                changed.append((reference, Change(values: values, version: (owner?.version ?? 0) + 1)))
            }
        }
        let former = insertion.uniques.map { key(of: values, above: row, $0) }
        for target in insertion.targets where insertion.replaces(target.slot, by: index) {
            values[target.slot] = insertion.value(target.slot, of: index)
        }
        updatedCount += 1
        for (number, unique) in insertion.uniques.enumerated() {
            let key = key(of: values, above: row, unique)
            if let former = former[number], former != key { owners[number][former] = nil }
            if let key { owners[number][key] = place }
        }
        // The values by which the rows conflict belong to the row even where a part of them was not
        // written.
        if let key = keys[number] { owners[number][key] = place }
    }

    private func allValues(of index: Int) -> RowValues {
        let values = RowValues.make(slotCount: insertion.layout.slots.count)
        for target in insertion.targets { values[target.slot] = insertion.value(target.slot, of: index) }
        return values
    }

    /// Returns unique values as they are known, in the server's format.
    private func key(of values: RowValues, above row: Snapshot?, _ unique: PostgreSQLInsertion.Unique) -> [UInt8]? {
        var bytes = WireBytes()
        for target in unique.targets {
            let value = values.has(target.slot) ? values[target.slot] : row?.value(target.slot) ?? .null
            if value.isNull { return nil }
            let start = bytes.beginValue()
            // A value that cannot be written was refused with its row.
            do throws(WireValue.Refusal) { try WireValue.append(value, as: target.type, to: &bytes) } catch {
                return nil
            }
            bytes.endValue(start)
        }
        return bytes.bytes
    }

    private func failure(_ number: Int, _ index: Int, _ place: Place) -> UniquenessFailure {
        let unique = insertion.uniques[number]
        var existing: RowReference?
        if let owner = known[number][index] {
            switch place {
            case .existing(owner.key), .foreign(owner.key):
                existing = owner.layoutIndex.map { RowReference(key: owner.key, layoutIndex: $0) }
            default: break
            }
        }
        return UniquenessFailure(
            constraint: unique.constraint.names, values: unique.targets.map { insertion.value($0.slot, of: index) },
            layout: unique.constraint.layout, existing: existing)
    }
}
