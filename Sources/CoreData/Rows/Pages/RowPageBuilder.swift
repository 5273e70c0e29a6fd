import Foundation

/// Collects rows of one entity into pages.
///
/// A store appends rows, sets each stored slot of a row exactly once, then calls `finish()`. Pages
/// are about 64 KiB so that one living object does not keep a large fetch in memory.
package struct RowPageBuilder {
    let layout: EntityLayout
    package private(set) var page: RowPage
    private(set) var finished: [RowPage] = []
    /// The number of bytes that the texts and blobs of the finished pages take.
    private var finishedBytes = 0
    private var nextCapacity: Int

    private static let maximumPageBytes = 64 * 1024

    /// - Parameters:
    ///   - expectedRows: the likely number of rows; 1 makes a page of one row.
    ///   - heapBytesPerRow: the number of bytes that the texts and blobs of a row are likely to
    ///     take.
    package init(layout: EntityLayout, expectedRows: Int = 16, heapBytesPerRow: Int = 0) {
        self.layout = layout
        nextCapacity = max(1, min(expectedRows, Self.limit(layout)))
        page = RowPage(layout: layout, capacity: nextCapacity, heapBytes: Self.heapBytes(nextCapacity, heapBytesPerRow))
    }

    /// Returns the most rows that a page holds.
    private static func limit(_ layout: EntityLayout) -> Int {
        max(1, maximumPageBytes / (layout.rowStrideInWords * 8))
    }

    private static func heapBytes(_ rowCount: Int, _ bytesPerRow: Int) -> Int {
        min(rowCount * bytesPerRow, maximumPageBytes)
    }

    /// Starts a row; all its values must then be set.
    @inline(__always)
    package mutating func appendRow(key: Int64, version: Int64) -> RowPointer {
        pageWithRoom().appendRow(key: key, version: version)
    }

    /// Returns a page that can take at least one more row.
    @inline(__always)
    package mutating func pageWithRoom() -> RowPage {
        if !page.hasRoom { turnPage() }
        return page
    }

    private mutating func turnPage() {
        finished.append(page)
        finishedBytes += page.heapCount
        nextCapacity = min(max(nextCapacity * 4, 16), Self.limit(layout))
        page = RowPage(
            layout: layout, capacity: nextCapacity,
            heapBytes: Self.heapBytes(nextCapacity, page.heapCount / max(1, page.rowCount) * 9 / 8))
    }

    /// The number of bytes that the texts and blobs of all rows take.
    var heapBytes: Int { finishedBytes + page.heapCount }

    /// Sets a stored slot of a row of the page that is being built.
    @inline(__always)
    func set(_ row: RowPointer, _ slot: Int, _ value: StoredValue) { page.set(row, slot, value) }

    /// - Throws: the reason why a value of a row is missing.
    package func requireWholeRows() throws {
        if let failure = page.failure ?? finished.lazy.compactMap(\.failure).first { throw failure }
    }

    /// Returns all pages that hold rows. The builder must not be used afterwards.
    package mutating func finish() -> [RowPage] {
        if page.rowCount > 0 { finished.append(page) }
        return finished
    }
}

extension RowPage {
    /// Sets a stored slot. A value that is not a number becomes nil in every store, because SQLite
    /// cannot keep it.
    package func set(_ row: RowPointer, _ slot: Int, _ value: StoredValue) {
        let property = layout.slots[slot]
        switch value {
        case .null: setNull(row, slot)
        case .integer(let integer):
            // A slot of another numeric type may get a whole number.
            switch property.kind {
            case .double, .float, .date: row[slot] = Double(integer).bitPattern
            case .decimal: setText(row, slot, String(integer))
            default: row[slot] = UInt64(bitPattern: integer)
            }
        case .double(let double):
            if double.isNaN { return setNull(row, slot) }
            switch property.kind {
            case .int16, .int32, .int64, .boolean: row[slot] = UInt64(bitPattern: Int64(exactly: double) ?? 0)
            case .decimal: setText(row, slot, "\(double)")
            default: row[slot] = double.bitPattern
            }
        case .string(let string): setText(row, slot, string)
        case .data(let data):
            data.withUnsafeBytes { setBytes(row, slot, $0.baseAddress, $0.count) }
        case .uuid(let uuid):
            withUnsafeBytes(of: uuid.uuid) { setBytes(row, slot, $0.baseAddress, 16) }
        case .decimal(let decimal):
            if decimal.isNaN { setNull(row, slot) } else { setText(row, slot, decimal.description) }
        case .reference(let reference):
            row[slot] = UInt64(bitPattern: reference.key)
            if property.entityWord >= 0 { row[property.entityWord] = UInt64(reference.layoutIndex) }
        }
    }

    private func setText(_ row: RowPointer, _ slot: Int, _ text: String) {
        var text = text
        text.withUTF8 { setBytes(row, slot, $0.baseAddress, $0.count) }
    }
}

extension Snapshot {
    /// Returns the row under another key, in a page of its own.
    func copy(key: Int64) -> Snapshot {
        var builder = RowPageBuilder(layout: layout, expectedRows: 1)
        let copy = builder.appendRow(key: key, version: version)
        builder.page.copyValues(of: self, to: copy)
        return Snapshot(row: copy, page: builder.page)
    }

    /// Calls a function with a copy under another key. A caller that needs the copy for longer
    /// retains its page.
    func withCopy(key: Int64, _ body: (RowPointer) -> Void) {
        let copy = copy(key: key)
        // `body` gets only the row's address, so the page is kept alive here.
        withExtendedLifetime(copy) { body(copy.row) }
    }
}
