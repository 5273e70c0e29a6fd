import CSwiftRuntime
import Foundation
import Synchronization

/// The committed rows of one table that some context still uses, by primary key.
///
/// The cache does not keep pages alive: objects do, and a page leaves the cache when it goes. Looking a row up costs one
/// lock and about one memory access.
final class RowCache: Sendable {
    /// Open addressing with linear probing; a row carries its own key, so an entry is one word.
    private struct Table: ~Copyable {
        var entries: UnsafeMutablePointer<RowPointer?>
        var mask: Int
        var count = 0

        init(capacity: Int) {
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
                    // Savers and readers publish in any order: an older version must not take a newer one's place.
                    if other.rowVersion <= row.rowVersion { entries[index] = row }
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
            var grown = Table(capacity: capacity)
            for index in 0...mask {
                if let row = entries[index] { grown.insert(row) }
            }
            self = grown
        }

        /// Removes the entry of `key` if `matches` says so, closing the gap (no tombstones).
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
                // Move an entry back when its home does not lie cyclically in (gap, next].
                if (next &- home) & mask >= (next &- gap) & mask {
                    entries[gap] = row
                    gap = next
                }
                next = (next + 1) & mask
            }
            entries[gap] = nil
        }
    }

    // The lock guards the table; the pointers in it are valid because a page removes its rows under the same lock before
    // it frees them.
    private let table = Mutex(SendableTable(Table(capacity: 64)))

    private struct SendableTable: ~Copyable, @unchecked Sendable {
        // Sendable: only reached through the mutex above.
        var table: Table
        /// Grows when a save publishes rows and when a row is removed.
        var generation = 0
        init(_ table: consuming Table) { self.table = table }
    }

    /// The cached row with its page retained, or nil.
    func snapshot(for key: Int64) -> Snapshot? {
        table.withLock { guarded in
            guard let row = guarded.table.find(key) else { return nil }
            // The page may be in its deinit, waiting for this lock in `forget`: then it must not be retained.
            guard let page = tryRetain(row.rowPage) else { return nil }
            return Snapshot(row: row, page: page)
        }
    }

    /// What a reader notes before it reads, for `insert(_:readAt:)`.
    var generation: Int { table.withLock { $0.generation } }

    /// Publishes rows that were read from the store, unless something was saved or removed since the read began: what was read
    /// may be older than that, and no version tells so where the newer row has left the cache.
    func insert(_ pages: [RowPage], readAt generation: Int) {
        table.withLock { guarded in
            if guarded.generation == generation { publish(pages, in: &guarded.table) }
        }
    }

    /// Publishes all rows of sealed pages, replacing older snapshots of the same rows.
    func insert(_ pages: [RowPage]) {
        table.withLock { guarded in
            guarded.generation += 1
            publish(pages, in: &guarded.table)
        }
    }

    private func publish(_ pages: [RowPage], in table: inout Table) {
        for page in pages { page.cache = self }
        table.grow(toHold: table.count + pages.reduce(0) { $0 + $1.rowCount })
        for page in pages {
            for index in 0..<page.rowCount { table.insert(page.row(at: index)) }
        }
    }

    /// Removes a row that is deleted or known to be stale.
    func remove(_ key: Int64) {
        table.withLock { guarded in
            guarded.generation += 1
            guarded.table.remove(key) { _ in true }
        }
    }

    /// Removes every row.
    func removeAll() {
        table.withLock { guarded in
            guarded.generation += 1
            guarded.table = Table(capacity: 64)
        }
    }

    /// Removes the rows of a page that is about to be freed.
    func forget(_ page: RowPage) {
        table.withLock { guarded in
            for index in 0..<page.rowCount {
                let row = page.row(at: index)
                guarded.table.remove(row.rowKey) { $0 == row }
            }
        }
    }
}

/// Places of primary keys in open-addressing tables.
enum KeyHash {
    /// Keys are dense and handed out in order: eight neighbours stay together in one cache line, and the groups are spread,
    /// so that no long run builds up that a removal would have to walk along.
    @inline(__always)
    static func slot(_ key: Int64) -> Int {
        let group = UInt64(bitPattern: key) >> 3
        return Int(truncatingIfNeeded: (group &* 0x9E37_79B9_7F4A_7C15) >> 32) << 3 | Int(truncatingIfNeeded: key & 7)
    }
}

/// Retains an object unless its deinitialisation has begun.
///
/// The memory must be valid at the call: the caller holds the lock that the object's deinit takes before it frees itself.
/// This is the runtime entry point that `weak` references use; it is part of the Swift ABI.
func tryRetain<Object: AnyObject>(_ reference: Unmanaged<Object>) -> Object? {
    guard let retained = swift_tryRetain(reference.toOpaque()) else { return nil }
    return Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
}
