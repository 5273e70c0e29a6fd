import Foundation
import Synchronization

/// The committed rows of one table that some context still uses, by primary key.
///
/// The cache does not keep pages alive: objects do, and a page leaves the cache when it is freed. A
/// look-up costs one lock and about one memory access.
///
/// Published pages wait in a list until a row is looked up. Most fetched rows are never looked up.
/// A page that is freed before, while no older pages wait, has cost nothing.
package final class RowCache: Sendable {
    /// Open addressing with linear probing; a row carries its own key, so an entry is one word.
    private struct Table: ~Copyable {
        var entries: UnsafeMutablePointer<RowPointer?>
        var mask: Int
        var count = 0
        let ordersVersions: Bool
        /// Published pages whose rows are not among the entries yet, in order; nil for pages that
        /// were freed meanwhile.
        private var waiting: ContiguousArray<Unretained<RowPage>?> = []
        /// The first place of `waiting` that may hold a page.
        private var head = 0
        private var waitingCount = 0
        private var batch = 0

        /// Publishes pages that have no row in common.
        mutating func publish(_ pages: [RowPage]) {
            if waiting.count > 64, waiting.count > (waitingCount + pages.count) * 4 { closeGaps() }
            batch += 1
            for page in pages {
                // A page that is published again counts as the newest.
                if page.cachePlace >= 0 { waiting[page.cachePlace] = nil } else { waitingCount += 1 }
                page.cachePlace = waiting.count
                page.cacheBatch = batch
                waiting.append(Unretained(page))
            }
        }

        private mutating func closeGaps() {
            waiting.removeAll { $0 == nil }
            head = 0
            for place in waiting.indices { waiting[place]?.withObject { $0.cachePlace = place } }
        }

        /// Moves the rows of waiting pages to the entries.
        @inline(__always)
        mutating func takeInWaiting() {
            if !waiting.isEmpty { takeInWaiting(before: .max, atMost: .max) }
        }

        /// Moves the rows of the waiting pages that were published before a batch to the entries.
        ///
        /// - Parameter limit: the number of rows after which no further page is moved.
        /// - Returns: whether other pages are still waiting.
        @inline(never) @discardableResult
        mutating func takeInWaiting(before end: Int = .max, atMost limit: Int = .max) -> Bool {
            var rowCount = 0
            while head < waiting.count {
                if let page = waiting[head] {
                    // A page in its deinit on another thread waits for the lock, so its rows still
                    // exist.
                    let isEarlier = page.withObject { $0.cacheBatch < end }
                    guard isEarlier, rowCount < limit else { return true }
                    page.withObject {
                        rowCount += $0.rowCount
                        takeIn($0)
                    }
                    waiting[head] = nil
                    waitingCount -= 1
                }
                head += 1
            }
            waiting.removeAll(keepingCapacity: waiting.count <= 64)
            head = 0
            return false
        }

        private mutating func takeIn(_ page: RowPage) {
            page.cachePlace = -1
            page.isInCache = true
            grow(toHold: count + page.rowCount)
            for index in 0..<page.rowCount { insert(page.row(at: index)) }
        }

        mutating func forget(_ page: RowPage) {
            if page.cachePlace >= 0 {
                // The page's rows would have replaced older ones, which must not become visible
                // again.
                takeInWaiting(before: page.cacheBatch)
                waiting[page.cachePlace] = nil
                page.cachePlace = -1
                waitingCount -= 1
                if waitingCount == 0 {
                    waiting.removeAll(keepingCapacity: waiting.count <= 64)
                    head = 0
                }
                guard count > 0 else { return }
                let anyIsLater = !ordersVersions
                for index in 0..<page.rowCount {
                    let row = page.row(at: index)
                    remove(row.rowKey) { row.isSameOrLater($0) || anyIsLater }
                }
            } else if page.isInCache {
                for index in 0..<page.rowCount {
                    let row = page.row(at: index)
                    remove(row.rowKey) { $0 == row }
                }
            }
        }

        /// - Parameter ordersVersions: whether the number of a row's version tells which of two
        ///   versions is later.
        init(capacity: Int, ordersVersions: Bool) {
            self.ordersVersions = ordersVersions
            entries = .allocate(capacity: capacity)
            entries.initialize(repeating: nil, count: capacity)
            mask = capacity - 1
        }

        deinit {
            entries.deallocate()
        }

        func start(_ key: Int64) -> Int {
            KeyHash.slot(key) & mask
        }

        func find(_ key: Int64) -> RowPointer? {
            var index = start(key)
            while let row = entries[index] {
                if row.rowKey == key { return row }
                index = (index + 1) & mask
            }
            return nil
        }

        mutating func insert(_ row: RowPointer) {
            if (count + 1) * 2 > mask + 1 { grow(toHold: count + 1) }
            let key = row.rowKey
            var index = start(key)
            while let other = entries[index] {
                if other.rowKey == key {
                    // Saves and reads publish in any order, so an older version must not replace a
                    // newer one.
                    if row.isSameOrLater(other) || !ordersVersions { entries[index] = row }
                    return
                }
                index = (index + 1) & mask
            }
            entries[index] = row
            count += 1
        }

        mutating func grow(toHold wanted: Int) {
            var capacity = mask + 1
            while capacity < wanted * 2 { capacity *= 2 }
            guard capacity > mask + 1 else { return }
            let (oldEntries, oldMask) = (entries, mask)
            entries = .allocate(capacity: capacity)
            entries.initialize(repeating: nil, count: capacity)
            mask = capacity - 1
            count = 0
            for index in 0...oldMask {
                if let row = oldEntries[index] { insert(row) }
            }
            oldEntries.deallocate()
        }

        /// Removes the entry of `key` if `matches` returns true, and closes the gap (no
        /// tombstones).
        mutating func remove(_ key: Int64, where matches: (RowPointer) -> Bool) {
            var index = start(key)
            while let row = entries[index] {
                if row.rowKey == key {
                    guard matches(row) else { return }
                    break
                }
                index = (index + 1) & mask
            }
            guard entries[index] != nil else { return }
            count -= 1
            var gap = index
            var next = (gap + 1) & mask
            while let row = entries[next] {
                let home = start(row.rowKey)
                // Move an entry back when its home is not cyclically in (gap, next].
                if (next &- home) & mask >= (next &- gap) & mask {
                    entries[gap] = row
                    gap = next
                }
                next = (next + 1) & mask
            }
            entries[gap] = nil
        }
    }

    // The lock guards the table; the pointers in it are valid because a page removes its rows under
    // the same lock before it frees them.
    private let table: Mutex<GuardedTable>
    /// Whether the later one of two versions of a row has the higher number.
    let ordersVersions: Bool

    /// - Parameter ordersVersions: whether the later one of two versions of a row has the higher
    ///   number. Otherwise the version that is published last counts.
    package init(ordersVersions: Bool = true) {
        self.ordersVersions = ordersVersions
        table = Mutex(GuardedTable(Table(capacity: 64, ordersVersions: ordersVersions)))
    }

    private struct GuardedTable: ~Copyable {
        var table: Table
        /// Grows when a save publishes rows and when a row is removed.
        var generation = 0
        init(_ table: consuming Table) { self.table = table }
    }

    /// Returns the cached row with its page retained, or nil.
    func snapshot(for key: Int64) -> Snapshot? {
        table.withLock { guarded in
            guarded.table.takeInWaiting()
            guard let row = guarded.table.find(key) else { return nil }
            // The page may be in its deinit and wait for this lock in `forget`. Then it must not be
            // retained.
            guard let page = row.rowPage.retained else { return nil }
            return Snapshot(row: row, page: page)
        }
    }

    /// Prepares look-ups of all published rows, as the first look-up would do.
    ///
    /// It moves some thousand rows at a time, so that a concurrent reader waits only for these.
    func prepareLookUps() {
        while table.withLock({ $0.table.takeInWaiting(atMost: 4096) }) {}
    }

    /// Returns the cached rows of many keys, nil for each that is not cached, and their pages. It
    /// takes the lock once.
    func rows(for keys: some Sequence<Int64>) -> CachedRows {
        table.withLock { guarded in
            guarded.table.takeInWaiting()
            var cached = CachedRows()
            cached.rows.reserveCapacity(keys.underestimatedCount)
            for key in keys { cached.append(guarded.table.find(key)) }
            return cached
        }
    }

    /// The number that a reader notes before it reads, for `insert(_:readAt:)`.
    package var generation: Int { table.withLock { $0.generation } }

    /// Publishes rows that were read from the store, unless a row was saved or removed since the
    /// read began.
    ///
    /// The rows that were read may be older than that change, and no version shows it if the newer
    /// row has left the cache. O(number of pages).
    package func insert(_ pages: [RowPage], readAt generation: Int) {
        table.withLock { guarded in
            // Refused pages do not wait either: a waiting page counts as much as the entries.
            if guarded.generation == generation { publish(pages, in: &guarded.table) }
        }
    }

    /// Publishes all rows of sealed pages, replacing older snapshots of the same rows. O(number of
    /// pages).
    func insert(_ pages: [RowPage]) {
        table.withLock { guarded in
            guarded.generation += 1
            publish(pages, in: &guarded.table)
        }
    }

    private func publish(_ pages: [RowPage], in table: inout Table) {
        for page in pages { page.cache = self }
        table.publish(pages)
    }

    /// Removes a row that is deleted or known to be stale.
    func remove(_ key: Int64) {
        table.withLock { guarded in
            guarded.generation += 1
            guarded.table.takeInWaiting()
            guarded.table.remove(key) { _ in true }
        }
    }

    /// Removes every row.
    package func removeAll() {
        table.withLock { guarded in
            guarded.generation += 1
            guarded.table.takeInWaiting()
            guarded.table = Table(capacity: 64, ordersVersions: guarded.table.ordersVersions)
        }
    }

    /// Removes the rows of a page that is about to be freed.
    func forget(_ page: RowPage) {
        table.withLock { $0.table.forget(page) }
    }
}

/// Rows of a cache, which are valid as long as this keeps their pages.
struct CachedRows {
    fileprivate(set) var rows: ContiguousArray<RowPointer?> = []
    /// The pages of the rows. Consecutive rows of one page share an entry.
    private var pages: ContiguousArray<RowPage> = []

    /// Called under the cache's lock.
    fileprivate mutating func append(_ row: RowPointer?) {
        guard let row else { return rows.append(nil) }
        if pages.last.map({ Unretained($0).pointer }) != row.rowPage.pointer {
            // The page may be in its deinit, as in `snapshot(for:)`.
            guard let page = row.rowPage.retained else { return rows.append(nil) }
            pages.append(page)
        }
        rows.append(row)
    }
}

/// Hashes of primary keys for open-addressing tables.
enum KeyHash {
    /// Keys are dense and assigned in order. Eight neighbours stay together in one cache line, and
    /// the groups are spread, so that no long run arises that a removal would have to walk along.
    @inline(__always)
    static func slot(_ key: Int64) -> Int {
        let group = UInt64(bitPattern: key) >> 3
        return Int(truncatingIfNeeded: (group &* 0x9E37_79B9_7F4A_7C15) >> 32) << 3 | Int(truncatingIfNeeded: key & 7)
    }
}
