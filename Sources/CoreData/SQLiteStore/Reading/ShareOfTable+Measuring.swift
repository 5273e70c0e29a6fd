extension RelatedRowsPlan {
    /// Whether reading the whole table is faster than finding each row of the owners by an index.
    ///
    /// True where the owners have most of the table's rows. The index would find each in another
    /// place.
    func isMostOfTable(_ keys: SQLKeys, _ connection: SQLiteConnection) throws -> Bool {
        guard let share, keys.count >= ShareOfTable.fewestOwners, keys.arguments.count == 1 else { return false }
        return try share.isMost(keys.arguments[0].map(\.value), connection)
    }
}

extension ShareOfTable {
    /// Whether the owners in a range have at least half of the table's rows.
    ///
    /// - Parameter range: the first and the last owner.
    func isMost(_ range: [StoredValue], _ connection: SQLiteConnection) throws -> Bool {
        // A table has at most as many rows as its last key.
        guard let lastKey = try connection.integer(lastKey), lastKey > 0 else { return false }
        let half = lastKey / 2 + 1
        return try connection.integer(rows, range + [.integer(half)]) == half
    }
}
