import Foundation

/// Points at the first value word of a row snapshot in a `RowPage`.
///
/// Layout of a row, in 8-byte words relative to the pointer:
///
///     -3  primary key
///     -2  row version (low 32 bits), index of the entity's layout (high 32 bits)
///     -1  the page, unretained
///      0  value words, one for each stored slot, then hidden words
///      …  null bitmap, one bit for each stored slot
///
/// The pointer is valid while its page lives. Rows never change once their page is sealed.
@usableFromInline
package typealias RowPointer = UnsafeMutablePointer<UInt64>

extension UnsafeMutablePointer where Pointee == UInt64 {
    static var headerWords: Int { 3 }

    @inlinable @inline(__always) package var rowKey: Int64 { Int64(bitPattern: self[-3]) }
    /// Sets the key of a row that only the code that created it has seen.
    package func setKey(_ key: Int64) { self[-3] = UInt64(bitPattern: key) }
    package var rowVersion: Int64 { Int64(UInt32(truncatingIfNeeded: self[-2])) }
    /// Whether this state of a row is the same as another one, or later. Versions have 32 bits and
    /// restart after the last.
    func isSameOrLater(_ other: RowPointer) -> Bool { Int32(truncatingIfNeeded: self[-2] &- other[-2]) >= 0 }
    @inlinable @inline(__always) var rowLayoutIndex: Int { Int(truncatingIfNeeded: self[-2] >> 32) }

    /// Whether a slot is nil in a row with a given number of words before the bitmap.
    @inlinable @inline(__always)
    package func isNull(_ slot: Int, wordCount: Int) -> Bool {
        self[wordCount &+ slot &>> 6] & (1 &<< UInt64(slot & 63)) != 0
    }

    /// The page that owns this row.
    ///
    /// The caller must own a reference to the page, or hold the lock of a table that the page
    /// leaves before it is freed.
    package var rowPage: Unretained<RowPage> {
        // A page writes its own address here before it hands out a row.
        Unretained(pointer: UnsafeRawPointer(bitPattern: UInt(self[-1])).unsafelyUnwrapped)
    }
}

/// Committed rows of one entity as a store read them: immutable once sealed, shared by contexts and
/// the row cache.
///
/// A page holds many rows in one block of memory and the bytes of all their texts and blobs in a
/// second one, so that a fetched row costs no allocation of its own.
package final class RowPage: @unchecked Sendable {
    // Sendable: every stored property is written by the builder before `seal()`, on the thread that
    // made the page, and only read afterwards. `cache` is set when the page is published, under the
    // cache's lock, which guards `cachePlace`, `cacheBatch` and `isInCache` too.

    let layout: EntityLayout
    private(set) var rowCount = 0
    let capacity: Int
    private let rows: UnsafeMutablePointer<UInt64>
    private(set) var heap: UnsafeMutablePointer<UInt8>
    private(set) var heapCount = 0
    private var heapCapacity: Int
    /// Whether the heap outgrew the block of the rows and has a block of its own.
    private var hasOwnHeap = false
    private let strideInWords: Int
    @usableFromInline let wordCount: Int
    private let bitmapWords: Int
    /// The second header word of a row of version 0.
    private let layoutBits: UInt64
    /// The row cache that lists rows of this page; it is notified when the page is freed.
    var cache: RowCache?
    /// The place among the cache's waiting pages; -1 for a page that does not wait.
    var cachePlace = -1
    /// The number of the publication that the page belongs to, while it waits.
    var cacheBatch = 0
    /// Whether the rows were put into the cache's table.
    var isInCache = false
    /// The reason why a value is missing from the page. The code that fills the page throws this
    /// error instead of using the page.
    var failure: (any Error)?
    /// The time at which the rows were read or saved.
    let time = ReadTime.now()
    /// The batch that loads an object's row, in the page without rows that the object has until
    /// then.
    let batch: FetchBatch?

    /// - Parameters:
    ///   - heapBytes: the number of bytes that texts and blobs are likely to take together.
    ///   - batch: for a page without rows, the batch that loads them.
    init(layout: EntityLayout, capacity: Int, heapBytes: Int = 0, batch: FetchBatch? = nil) {
        self.layout = layout
        self.capacity = capacity
        self.batch = batch
        strideInWords = layout.rowStrideInWords
        wordCount = layout.wordCount
        bitmapWords = layout.bitmapWords
        layoutBits = UInt64(layout.index) << 32
        let words = strideInWords * capacity
        let heapWords = (heapBytes + 7) / 8
        // The heap follows the rows in the same block.
        rows = .allocate(capacity: words + heapWords)
        heap = UnsafeMutableRawPointer(rows + words).assumingMemoryBound(to: UInt8.self)
        heapCapacity = heapWords * 8
    }

    deinit {
        cache?.forget(self)
        rows.deallocate()
        if hasOwnHeap { heap.deallocate() }
    }

    /// Whether the page takes another row: it is not full, and its heap is not larger than pages
    /// should be.
    @inline(__always)
    var hasRoom: Bool { rowCount < capacity && heapCount <= Self.maximumHeapBytes }

    private static var maximumHeapBytes: Int { 4 * 1024 * 1024 }

    /// Returns the row at `index`, in order of insertion.
    @inline(__always)
    func row(at index: Int) -> RowPointer {
        rows + (index * strideInWords + RowPointer.headerWords)
    }

    /// Appends a row whose values are all nil. The page must not be full or sealed.
    @inline(__always)
    package func appendRow(key: Int64, version: Int64) -> RowPointer {
        let row = self.row(at: rowCount)
        row[-3] = UInt64(bitPattern: key)
        row[-2] = UInt64(UInt32(truncatingIfNeeded: version)) | layoutBits
        row[-1] = UInt64(UInt(bitPattern: ObjectIdentifier(self)))
        row[wordCount] = 0
        if bitmapWords > 1 { clearBitmap(row) }
        rowCount &+= 1
        return row
    }

    @inline(never)
    private func clearBitmap(_ row: RowPointer) {
        (row + wordCount).update(repeating: 0, count: bitmapWords)
    }

    @inlinable @inline(__always)
    package func setNull(_ row: RowPointer, _ slot: Int) {
        row[slot] = 0
        row[wordCount &+ slot &>> 6] |= 1 &<< UInt64(slot & 63)
    }

    @inlinable @inline(__always)
    package func isNull(_ row: RowPointer, _ slot: Int) -> Bool {
        row.isNull(slot, wordCount: wordCount)
    }

    /// Copies bytes into the heap and makes the slot's word refer to them.
    @inline(__always)
    package func setBytes(_ row: RowPointer, _ slot: Int, _ bytes: UnsafeRawPointer?, _ count: Int) {
        let end = heapCount &+ count
        if end > heapCapacity, !growHeap(by: count) { return fail(row, slot) }
        if let bytes { UnsafeMutableRawPointer(heap + heapCount).copyMemory(from: bytes, byteCount: count) }
        // Offset and length take 32 bits each, because the heap does not grow beyond that. A
        // builder starts a new page long before.
        row[slot] = UInt64(truncatingIfNeeded: heapCount) &<< 32 | UInt64(truncatingIfNeeded: count)
        heapCount = end
    }

    /// Copies the values of another row of the entity to one of this page.
    package func copyValues(of other: Snapshot, to row: RowPointer) {
        row.update(from: other.row, count: wordCount + bitmapWords)
        for slot in layout.variableLengthSlots where !isNull(row, slot) {
            let bytes = other.page.bytes(other.row, slot)
            setBytes(row, slot, bytes.baseAddress, bytes.count)
        }
    }

    /// The largest heap that offsets and lengths of 32 bits can address.
    private static var largestHeap: Int { Int(UInt32.max) }

    /// - Returns: whether there is enough room now.
    @inline(never)
    private func growHeap(by count: Int) -> Bool {
        guard count <= Self.largestHeap - heapCount else { return false }
        // The rows so far show how long the texts are likely to become.
        let likely = rowCount == 0 ? 0 : min((heapCount + count) / rowCount * (capacity - rowCount), 1 << 16)
        let needed = min(max(heapCount + count + likely, heapCapacity * 2, capacity < 16 ? 64 : 1024), Self.largestHeap)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: needed)
        grown.update(from: heap, count: heapCount)
        if hasOwnHeap { heap.deallocate() }
        hasOwnHeap = true
        heap = grown
        heapCapacity = needed
        return true
    }

    @inline(never)
    private func fail(_ row: RowPointer, _ slot: Int) {
        setNull(row, slot)
        failure = CoreDataErrors.make(
            .persistentStoreOperation,
            "A row of '\(layout.name)' has values of more than 4 GiB together, more than a row can hold; one of "
                + "them is "
                + "'\(layout.slots[slot].name)'.",
            recovery: "Keep what is so large in files, and their names in the store.")
    }

    /// Returns the bytes that a slot of variable length refers to.
    @inline(__always)
    package func bytes(_ row: RowPointer, _ slot: Int) -> UnsafeBufferPointer<UInt8> {
        let word = row[slot]
        return UnsafeBufferPointer(start: heap + Int(word >> 32), count: Int(word & 0xffff_ffff))
    }
}

/// A committed row together with the page that keeps it alive.
package struct Snapshot: @unchecked Sendable {
    // Sendable: the row is immutable once its page is sealed, and the page is retained here.

    let row: RowPointer
    let page: RowPage

    package init(row: RowPointer, page: RowPage) {
        self.row = row
        self.page = page
    }

    /// Takes shared ownership of the page that a row is in. The row must be kept alive by another
    /// owner during the call.
    package init(retaining row: RowPointer) {
        self.row = row
        page = row.rowPage.object
    }

    var key: Int64 { row.rowKey }
    package var version: Int64 { row.rowVersion }
    var layout: EntityLayout { page.layout }

    @inline(__always)
    func isNull(_ slot: Int) -> Bool {
        page.isNull(row, slot)
    }

    func string(_ slot: Int) -> String {
        String(decoding: page.bytes(row, slot), as: UTF8.self)
    }

    func data(_ slot: Int) -> Data {
        Data(buffer: page.bytes(row, slot))
    }

    /// Returns the reference of a to-one slot that is not nil.
    func reference(_ slot: Int) -> RowReference {
        let property = layout.slots[slot]
        let key = Int64(bitPattern: row[slot])
        guard property.entityWord >= 0 else { return RowReference(key: key, layoutIndex: property.destinationIndex) }
        return RowReference(key: key, layoutIndex: Int(row[property.entityWord]))
    }

    /// Returns the value of a stored slot in the store's form (a transformable as its bytes, a
    /// to-one as a reference).
    package func value(_ slot: Int) -> StoredValue {
        if isNull(slot) { return .null }
        switch layout.slots[slot].kind {
        case .int16, .int32, .int64, .boolean: return .integer(Int64(bitPattern: row[slot]))
        case .double, .float, .date: return .double(Double(bitPattern: row[slot]))
        case .string, .uri: return .string(string(slot))
        case .data, .json, .transformable: return .data(data(slot))
        case .decimal: return .decimal(Decimal(string: string(slot), locale: .posix) ?? .nan)
        case .uuid: return UUID(bytes: page.bytes(row, slot)).map(StoredValue.uuid) ?? .null
        case .toOne: return .reference(reference(slot))
        case .composite, .toMany, .orderedToMany, .fetched, .undefined: return .null
        }
    }
}

extension Locale {
    /// The locale of numbers in program text.
    package static let posix = Locale(identifier: "en_US_POSIX")
}

extension UUID {
    /// Creates a UUID from exactly 16 bytes; nil for any other count.
    package init?(bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == 16, let base = bytes.baseAddress else { return nil }
        self.init(uuid: UnsafeRawPointer(base).loadUnaligned(as: uuid_t.self))
    }
}
