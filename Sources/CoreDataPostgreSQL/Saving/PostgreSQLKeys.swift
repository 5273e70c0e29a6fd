import CoreData
import Synchronization

/// The keys of each hierarchy's table that this program has taken for new rows and not used yet.
///
/// Keys are taken in blocks, and the next block is larger.
final class PostgreSQLKeys: Sendable {
    private struct Block {
        var next: Int64 = 1
        var end: Int64 = 1
        var size = 0
    }

    /// The way in which new keys are made. The raw value is that of `ocd.keys` in a URL.
    enum Policy: String, CaseIterable, Sendable {
        /// Keys count up. A program takes a block of them at a time from the table of entities.
        case counted
        /// Each save makes its own keys, at random among 62 bits.
        case scattered
    }

    private static let smallestBlock = 32
    private static let largestBlock = 1024

    /// By layout index of the root entity. The lock guards the blocks.
    private let blocks = Mutex<[Int: Block]>([:])

    /// Returns the first of `count` consecutive keys of the block; nil where the block has fewer.
    func take(_ count: Int, of root: Int) -> Int64? {
        blocks.withLock { blocks in
            guard var block = blocks[root], block.end - block.next >= Int64(count) else { return nil }
            defer { blocks[root] = block }
            block.next += Int64(count)
            return block.next - Int64(count)
        }
    }

    /// Returns the first of `count` consecutive random keys.
    ///
    /// They are in the lower half of all positive keys, so that counted keys can continue above
    /// them. It is next to impossible that two programs make the same ones; a key that exists is
    /// replaced when it is saved.
    static func scattered(_ count: Int) -> Int64 {
        let end: Int64 = 1 << 62
        return Int64.random(in: 1..<max(2, end - Int64(clamping: count)))
    }

    /// Returns the number of keys to take where `count` are wanted.
    func sizeOfNextBlock(_ count: Int, of root: Int) -> Int {
        let size = blocks.withLock { $0[root]?.size ?? 0 }
        return max(count, min(max(size * 2, Self.smallestBlock), Self.largestBlock))
    }

    /// Keeps the rest of a block, unless the present block has more keys left.
    func keep(_ keys: Range<Int64>, size: Int, of root: Int) {
        blocks.withLock { blocks in
            let known = blocks[root] ?? Block()
            if Int64(keys.count) > known.end - known.next {
                blocks[root] = Block(next: keys.lowerBound, end: keys.upperBound, size: size)
            } else {
                blocks[root]?.size = size
            }
        }
    }
}

extension PostgreSQLStore {
    var keysAreConsecutive: Bool { !hasExternalTables }

    func obtainKeys(_ count: Int, for entity: EntityLayout, origin: AnyObject) throws -> [Int64] {
        let backend = try backend()
        if let external = backend.external {
            try requireWritable()
            return try nextExternalKeys(count, of: backend.root(of: entity), external, backend)
        }
        let first = try reserveKeys(count, for: entity)
        return Array(first..<(first + Int64(count)))
    }

    /// Takes keys of a table in a transaction of its own. The server need not have that on disk: a
    /// later save that uses the keys is written after it.
    func reserveKeys(_ count: Int, for entity: EntityLayout) throws -> Int64 {
        guard count > 0 else { return 0 }
        let backend = try backend()
        let root = try backend.root(of: entity)
        if let external = backend.external {
            try requireWritable()
            return try nextExternalRun(count, of: root, external, backend)
        }
        if backend.keyPolicy == .scattered {
            try requireWritable()
            return PostgreSQLKeys.scattered(count)
        }
        if let key = backend.keys.take(count, of: entity.rootIndex) { return key }
        try requireWritable()
        let size = backend.keys.sizeOfNextBlock(count, of: entity.rootIndex)
        var arguments = WireArguments()
        arguments.append(WireType.int8) { $0.append(Int64(size)) }
        arguments.append(WireType.int2) { $0.append(Int16(truncatingIfNeeded: root.number)) }
        let dialect = backend.mapping.dialect
        // Rows that other programs inserted by hand count too.
        let highest =
            "SELECT max(\(dialect.identifier(root.table.keyColumn))) FROM \(dialect.identifier(root.table.name))"
        let update = WireStatement(
            "UPDATE \(PostgreSQLHousekeeping.entityTable) SET last_key = GREATEST(last_key, COALESCE((\(highest)), "
                + "0)) + $1 "
                + "WHERE number = $2 RETURNING last_key", arguments, isKept: true)
        var last: Int64?
        _ = try backend.pool.withConnection(repeats: true) { connection in
            try connection.executeAll([WireStatement("SET LOCAL synchronous_commit TO off"), update]) { _, row in
                last = row.int64(0)
            }
        }
        guard let last else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.path(url)) has no row for the entity '\(root.layout.name)' in "
                    + "\(PostgreSQLHousekeeping.entityTable).",
                recovery: "Somebody has deleted it: restore the schema from a copy.")
        }
        let first = last - Int64(size) + 1
        backend.keys.keep((first + Int64(count))..<(last + 1), size: size, of: entity.rootIndex)
        return first
    }
}
