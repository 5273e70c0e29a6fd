import Foundation

/// A row as predicates, expressions and sort descriptors see it.
///
/// Properties are read by name; relationships give views of other rows.
final class RowView: KeyValueCoding, PredicateComparable, RankedIdentity, KeyPathDestinations, Hashable {
    private(set) var row: Snapshot
    private let tables: MemoryTables
    private unowned let store: NSPersistentStore

    init(row: Snapshot, tables: MemoryTables, store: NSPersistentStore) {
        self.row = row
        self.tables = tables
        self.store = store
    }

    /// Shows another row, for a loop that reuses one view.
    func show(_ row: Snapshot) { self.row = row }

    func value(forKey key: String) -> Any? {
        guard let number = row.layout.slotByPath[key] else { return ownValue(key) }
        let slot = row.layout.slots[number]
        if slot.kind.isToMany {
            return tables.destinations(of: row.key, through: slot, of: row.layout).map(view)
        }
        if let composite = slot.composite { return row.dictionary(composite) }
        guard number < row.layout.storedCount, !row.isNull(number) else { return nil }
        switch slot.kind {
        case .int16, .int32, .int64: return Int64(bitPattern: row.row[number])
        case .boolean: return row.row[number] != 0
        case .double, .float: return Double(bitPattern: row.row[number])
        case .date: return Date(timeIntervalSinceReferenceDate: Double(bitPattern: row.row[number]))
        case .string: return row.string(number)
        case .toOne: return tables.row(row.reference(number)).map(view)
        case .transformable: return row.object(number)
        default: return PropertyConversion.object(from: row.value(number), kind: slot.kind)
        }
    }

    /// A value of a row as users see it: rows as object IDs, numbers as NSNumber.
    static func published(_ value: Any?) -> Any? {
        guard let value else { return nil }
        // By type, as a cast would create an NSNumber for each of these.
        switch Swift.type(of: value) {
        case is Int64.Type, is Int.Type, is Double.Type, is Bool.Type: return value as? NSNumber
        case is Decimal.Type: return (value as? Decimal).map { NSDecimalNumber(decimal: $0) }
        default: break
        }
        switch value {
        case let view as RowView: return view.objectID
        case let views as [RowView]: return views.map(\.objectID)
        default: return value
        }
    }

    private func ownValue(_ key: String) -> Any? {
        switch key {
        case "objectID": objectID
        case "entity": row.layout.entity
        default: nil
        }
    }

    /// Does nothing: only saves change rows.
    func setValue(_ value: Any?, forKey key: String) {}

    var objectID: NSManagedObjectID { NSManagedObjectID(key: row.key, layout: row.layout, store: store) }

    func leadsToMany(_ keys: [String]) -> Bool { row.layout.crossesToMany(keys) }

    var identityRank: IdentityRank { IdentityRank(store: store.number, table: row.layout.rootIndex, key: row.key) }

    private func view(_ row: Snapshot) -> RowView { RowView(row: row, tables: tables, store: store) }

    /// A row equals the objects and object IDs that represent it.
    func isEqualInPredicate(to other: Any) -> Bool {
        switch other {
        case let other as RowView: return self == other
        case let object as any RowIdentity:
            guard let reference = object.rowReference(in: store) else { return false }
            return reference.key == row.key
                && tables.layouts.layouts[reference.layoutIndex].rootIndex == row.layout.rootIndex
        default: return false
        }
    }

    static func == (first: RowView, second: RowView) -> Bool {
        first.row.key == second.row.key && first.row.layout.rootIndex == second.row.layout.rootIndex
            && first.store === second.store
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(row.key)
        hasher.combine(row.layout.rootIndex)
    }
}
