import Foundation

/// What a store must do for contexts: the one interface between the object graph and any kind of store.
///
/// Everything crosses it as row snapshots, row references and typed values; no managed object does. Calls come from any
/// thread, many at once; a store serialises what it must.
protocol SnapshotStore: AnyObject, Sendable {
    /// Row caches, indexed by the layout index of the root entity.
    var rowCaches: [RowCache] { get }

    /// Writes metadata that were set since the last save, in a save that changes no row of this store.
    func saveMetadata() throws

    /// Runs a fetch. Rows of the result are published in the row cache by the store.
    func fetch(_ plan: StoreFetch) throws -> StoreFetchResult

    /// Reads rows again from the store itself, past the row cache, and publishes them. Missing rows are left out; order
    /// is unspecified.
    func readRows(_ keys: [Int64], of entity: EntityLayout) throws -> FetchedRows

    /// The rows related to one row through a to-many relationship, in order where it is ordered.
    func relatedRows(to key: Int64, through slot: PropertySlot, of entity: EntityLayout) throws -> FetchedRows

    /// The rows related to many rows through a relationship (of any cardinality).
    func relatedRows(toAll keys: [Int64], through slot: PropertySlot, of entity: EntityLayout) throws -> RelatedRows

    /// Reserves primary keys for new rows, so that no other user of the store hands them out again.
    /// - Returns: the first of `count` consecutive keys.
    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64

    /// Whether `SaveBatch` must carry the managed objects beside the changes, because the store hands them to a subclass.
    var needsObjects: Bool { get }

    /// Whether reading rows costs input or output, so that a fetch may leave them to be read in batches.
    var readsRowsInBatches: Bool { get }

    /// The primary keys for new objects of one entity, in the same order. `reserveKeys` where the store does not look at
    /// the objects.
    func obtainKeys(for objects: [NSManagedObject], of entity: EntityLayout) throws -> [Int64]

    /// Writes all changes in one transaction or none.
    ///
    /// - Throws: `SaveConflicts` when rows changed underneath or uniqueness constraints fail; other errors for the rest.
    /// - Returns: snapshots of all inserted and updated rows.
    func save(_ batch: SaveBatch) throws -> SaveOutcome
}

extension SnapshotStore {
    var needsObjects: Bool { false }

    var readsRowsInBatches: Bool { false }

    func saveMetadata() throws {}

    func obtainKeys(for objects: [NSManagedObject], of entity: EntityLayout) throws -> [Int64] {
        let first = try reserveKeys(objects.count, for: entity)
        return Array(first..<(first + Int64(objects.count)))
    }
}

/// A fetch request resolved for one store.
struct StoreFetch {
    var entity: EntityLayout
    var includesSubentities = true
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor] = []
    var limit = 0
    var offset = 0
    /// Keys of rows that do not count: they are neither given nor counted, nor is the limit or offset spent on them.
    var excludedKeys: Set<Int64> = []
    var shape = Shape.rows
    /// How dictionary results are made; nil for other shapes.
    var columns: DictionaryColumns?
    /// The request itself; custom incremental stores get it.
    var request: AnyObject?
    /// The context that fetches; custom incremental stores get it.
    var context: NSManagedObjectContext?

    enum Shape {
        case rows
        /// Keys and entities only.
        case references
        case count
        case dictionaries
    }

    /// How many of the first results have to be known to cut them by offset and limit; 0 for all.
    var lastNeeded: Int {
        guard limit > 0 else { return 0 }
        let (sum, overflow) = limit.addingReportingOverflow(max(0, offset))
        return overflow ? 0 : sum
    }

    /// The fetch for one of several stores, each of which may have all of the first results.
    var ofOneAmongSeveral: StoreFetch {
        var fetch = self
        fetch.limit = lastNeeded
        fetch.offset = 0
        return fetch
    }

    struct DictionaryColumns {
        /// Attribute, to-one and expression descriptions, or key path strings.
        var properties: [Any]
        var groupBy: [Any] = []
        var having: NSPredicate?
        var isDistinct = false

        /// The name of a column: that of its description, or its key path.
        static func name(of property: Any) -> String? { (property as? NSPropertyDescription)?.name ?? property as? String }

        /// Whether rows are grouped by a column, whose value is then that of each row.
        func groups(by property: Any) -> Bool {
            let names = groupBy.compactMap(Self.name)
            if let name = Self.name(of: property), names.contains(name) { return true }
            guard let expression = (property as? NSExpressionDescription)?.expression, expression.expressionType == .keyPath else {
                return false
            }
            return names.contains(expression.keyPath)
        }
    }
}

enum StoreFetchResult {
    case rows(FetchedRows)
    /// Also the answer to a fetch of rows by a store that reads a row only when its object is used.
    case references([RowReference])
    case count(Int)
    case dictionaries([[String: Any]])
}

/// Rows in result order and the pages that keep them alive.
struct FetchedRows: @unchecked Sendable {
    // Sendable: rows are immutable, and their pages are retained beside them.
    var rows: ContiguousArray<RowPointer> = []
    var pages: [RowPage] = []
    /// Whether no two of the rows have the same key.
    var areDistinct = false

    init() {}

    init(rows: ContiguousArray<RowPointer>, pages: [RowPage]) {
        self.rows = rows
        self.pages = pages
    }

    /// All rows of pages, page after page.
    init(pagesInOrder pages: [RowPage]) {
        self.pages = pages
        let count = pages.reduce(0) { $0 + $1.rowCount }
        // An initializer for no elements would write to the storage that all empty arrays share.
        if count == 0 {
            rows = []
            return
        }
        rows = ContiguousArray(unsafeUninitializedCapacity: count) { buffer, initialized in
            for page in pages {
                for index in 0..<page.rowCount {
                    buffer.initializeElement(at: initialized, to: page.row(at: index))
                    initialized += 1
                }
            }
        }
    }
}

/// Rows found through a relationship, each with the key of the row it belongs to.
struct RelatedRows {
    var rows = FetchedRows()
    /// As many as rows: the owner's primary key of each.
    var ownerKeys: ContiguousArray<Int64> = []
}

/// The unsaved values of one row, by slot.
///
/// For a store: values are in the store's form (`PropertyConversion.storeValue`): no `.object`, no `.custom`.
///
/// The values lie behind the header, in the same allocation; only slots of the mask are initialized.
final class PendingValues: ManagedBuffer<PendingValues.Header, PropertyValue> {
    struct Header {
        let slotCount: Int
        /// Bit n: slot n has a value here.
        var mask: SlotMask
        /// For a managed object: properties changed through accessors (not primitive setters) since the last save.
        var tracked: SlotMask
        /// For a managed object: properties changed since the last `processPendingChanges`.
        var eventMask: SlotMask
    }

    /// - Parameters:
    ///   - slotCount: how many slots may have values.
    ///   - propertyCount: how many properties changes are tracked of; 0 for none.
    static func make(slotCount: Int, propertyCount: Int = 0) -> PendingValues {
        let made = create(minimumCapacity: slotCount) { _ in
            Header(
                slotCount: slotCount, mask: SlotMask(count: slotCount), tracked: SlotMask(count: propertyCount),
                eventMask: SlotMask(count: propertyCount))
        }
        return unsafeDowncast(made, to: PendingValues.self)
    }

    deinit {
        withUnsafeMutablePointers { header, values in
            header.pointee.mask.forEach(below: header.pointee.slotCount) { (values + $0).deinitialize(count: 1) }
        }
    }

    var slotCount: Int {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.slotCount } }
    }

    var mask: SlotMask {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.mask } }
    }

    var tracked: SlotMask {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.tracked } }
    }

    var eventMask: SlotMask {
        @inline(__always) get { withUnsafeMutablePointerToHeader { $0.pointee.eventMask } }
    }

    @inline(__always)
    func noteChange(_ property: Int) {
        withUnsafeMutablePointerToHeader {
            $0.pointee.tracked.insert(property)
            $0.pointee.eventMask.insert(property)
        }
    }

    func track(_ property: Int) { withUnsafeMutablePointerToHeader { $0.pointee.tracked.insert(property) } }

    @inline(__always)
    func endEvent() { withUnsafeMutablePointerToHeader { $0.pointee.eventMask.removeAll() } }

    @inline(__always)
    func has(_ slot: Int) -> Bool { withUnsafeMutablePointerToHeader { $0.pointee.mask.contains(slot) } }

    /// A slot's value: `.null` for one that has none.
    @inline(__always)
    subscript(slot: Int) -> PropertyValue {
        get { withUnsafeMutablePointers { header, values in header.pointee.mask.contains(slot) ? values[slot] : .null } }
        set {
            withUnsafeMutablePointers { header, values in
                if header.pointee.mask.contains(slot) {
                    values[slot] = newValue
                } else {
                    (values + slot).initialize(to: newValue)
                    header.pointee.mask.insert(slot)
                }
            }
        }
    }

    /// The value of a slot that is an integer now; nil for any other value, and for none.
    @inline(__always)
    func integer(_ slot: Int) -> Int64? {
        withUnsafeMutablePointers { header, values in
            guard header.pointee.mask.contains(slot), case .integer(let integer) = values[slot] else { return nil }
            return integer
        }
    }

    func remove(_ slot: Int) {
        withUnsafeMutablePointers { header, values in
            guard header.pointee.mask.contains(slot) else { return }
            (values + slot).deinitialize(count: 1)
            header.pointee.mask.remove(slot)
        }
    }

    func copy() -> PendingValues {
        let copy = PendingValues.make(slotCount: slotCount)
        mask.forEach(below: slotCount) { copy[$0] = self[$0] }
        return copy
    }
}

/// A set of slots: one word for entities of up to 64 properties.
struct SlotMask: Equatable, Sendable {
    private var low: UInt64 = 0
    /// The words above the first; nil, not empty, where there are none, so that a mask costs no reference counting.
    private var high: [UInt64]?

    init(count: Int) {
        high = count > 64 ? Array(repeating: 0, count: (count - 1) / 64) : nil
    }

    @inline(__always)
    func contains(_ slot: Int) -> Bool {
        if slot < 64 { return low & (1 << UInt64(slot)) != 0 }
        return highWord(slot) & (1 << UInt64(slot & 63)) != 0
    }

    @inline(never)
    private func highWord(_ slot: Int) -> UInt64 { high.map { $0[(slot >> 6) - 1] } ?? 0 }

    @inline(__always)
    mutating func insert(_ slot: Int) {
        if slot < 64 { low |= 1 << UInt64(slot) } else { insertHigh(slot) }
    }

    @inline(never)
    private mutating func insertHigh(_ slot: Int) { high?[(slot >> 6) - 1] |= 1 << UInt64(slot & 63) }

    mutating func remove(_ slot: Int) {
        if slot < 64 { low &= ~(1 << UInt64(slot)) } else { high?[(slot >> 6) - 1] &= ~(1 << UInt64(slot & 63)) }
    }

    @inline(__always)
    mutating func removeAll() {
        low = 0
        if high != nil { removeHigh() }
    }

    @inline(never)
    private mutating func removeHigh() { high = high.map { Array(repeating: 0, count: $0.count) } }

    var isEmpty: Bool { low == 0 && (high?.allSatisfy { $0 == 0 } ?? true) }

    /// Calls the block with each slot of the set, in order.
    @inline(__always)
    func forEach(below count: Int, _ body: (Int) -> Void) {
        var word = low
        while word != 0 {
            body(word.trailingZeroBitCount)
            word &= word - 1
        }
        if high != nil {
            for slot in 64..<max(count, 64) where contains(slot) { body(slot) }
        }
    }
}

/// One row to insert, update or delete.
struct RowChange {
    // unowned(unsafe): a save keeps the model of its objects alive.
    unowned(unsafe) let layout: EntityLayout
    let key: Int64
    /// The committed row the change is based on; nil for an insert.
    let base: Snapshot?
    /// New values in the store's form; slots that are not present keep the base's value (nil in an insert).
    let values: PendingValues?
    /// Set when the row changed only through to-many relationships: its version still grows.
    var touchesVersionOnly = false
    /// The version of an inserted row: 1, or that of a row that takes the place of a deleted one.
    var insertedVersion: Int64 = 1
    /// The slots of the to-many relationships that changed, in an update.
    var changedToMany: [Int] = []
}

/// A change of one to-many relationship that is not kept by the destinations' to-one columns alone:
/// rows of a join table, or positions in an ordered relationship.
struct RelationshipChange {
    let layout: EntityLayout
    let slot: Int
    let ownerKey: Int64
    var added: [RowReference] = []
    var removed: [RowReference] = []
    /// All destinations in order, for an ordered relationship whose order changed; nil for appended ones.
    var order: [RowReference]?
}

/// All changes of one save to one store.
final class SaveBatch {
    @exclusivity(unchecked) var inserts: [RowChange] = []
    @exclusivity(unchecked) var updates: [RowChange] = []
    @exclusivity(unchecked) var deletes: [RowChange] = []
    /// Unchanged rows whose version must still be the same (`detectConflicts(for:)`).
    var versionChecks: [RowChange] = []
    @exclusivity(unchecked) var relationshipChanges: [RelationshipChange] = []
    /// The context's name and transaction author, for persistent history.
    var contextName: String?
    var transactionAuthor: String?
    /// The context that saves; custom incremental stores get it.
    var context: NSManagedObjectContext?
    /// The objects behind `inserts`, `updates`, `deletes` and `versionChecks`, in the same order; empty unless the store
    /// asks for them (`SnapshotStore.needsObjects`).
    var insertedObjects: [NSManagedObject] = []
    var updatedObjects: [NSManagedObject] = []
    var deletedObjects: [NSManagedObject] = []
    var checkedObjects: [NSManagedObject] = []

    var isEmpty: Bool {
        inserts.isEmpty && updates.isEmpty && deletes.isEmpty && versionChecks.isEmpty && relationshipChanges.isEmpty
    }
}

struct SaveOutcome {
    /// Snapshots of `SaveBatch.inserts`, in the same order.
    var inserted = FetchedRows()
    /// Snapshots of `SaveBatch.updates`, in the same order.
    var updated = FetchedRows()
}

/// Why a store refused a save although it works: others changed the rows, or a uniqueness constraint would be violated.
/// Nothing was written.
struct SaveConflicts: Error, @unchecked Sendable {
    // Sendable: thrown by a store and caught by the context that called it, on one thread.

    /// An update, delete or version check whose row has another version now, or an insert whose key has a row already.
    struct RowConflict {
        enum Change { case insert, update, delete, check }
        let change: Change
        /// Index into the batch's array of that change.
        let index: Int
        /// The row as it is now; nil when it was deleted.
        let current: Snapshot?
    }

    /// An insert or update that would give two rows the same values of a uniqueness constraint.
    struct ConstraintViolation {
        /// Attribute names of the constraint.
        let constraint: [String]
        let values: [PropertyValue]
        /// Layout of the entity that declares the constraint.
        let layout: EntityLayout
        /// The row in the store that already has the values; nil when both are in the batch.
        let existing: Snapshot?
        /// Indexes into `SaveBatch.inserts`.
        let inserts: [Int]
        /// Indexes into `SaveBatch.updates`.
        let updates: [Int]
    }

    var rows: [RowConflict] = []
    var violations: [ConstraintViolation] = []
}
