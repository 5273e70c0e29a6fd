extension RelatedRowsPlan {
    /// Whether reading the whole table is faster than finding each row of the owners by an index.
    ///
    /// True where the owners have most of the table's rows. The index would find each in another
    /// place.
    func isMostOfTable(_ keys: SQLKeys, _ connection: SQLiteConnection) throws -> Bool {
        guard let share, keys.count >= ShareOfTable.fewestOwners, keys.arguments.count == 1,
            case .integer(let first) = keys.arguments[0][0].value, case .integer(let last) = keys.arguments[0][1].value
        else { return false }
        return try share.isMost(first...last, connection)
    }
}

extension ShareOfTable {
    /// Whether the owners in a range have at least half of the table's rows.
    ///
    /// Counting all rows takes a tenth of the time of reading them, so those of the first sixteenth
    /// of the owners are counted before. If they are less than half of its share, the answer is no,
    /// which at worst costs time.
    func isMost(_ owners: ClosedRange<Int64>, _ connection: SQLiteConnection) throws -> Bool {
        // A table has at most as many rows as its last key.
        guard let lastKey = try connection.integer(lastKey), lastKey > 0 else { return false }
        let half = lastKey / 2 + 1
        let firstOwners = owners.lowerBound...owners.lowerBound + (owners.upperBound - owners.lowerBound) / 16
        return try hasRows(half / 32, of: firstOwners, connection) && hasRows(half, of: owners, connection)
    }

    private func hasRows(_ count: Int64, of owners: ClosedRange<Int64>, _ connection: SQLiteConnection) throws -> Bool {
        let range: [StoredValue] = [.integer(owners.lowerBound), .integer(owners.upperBound), .integer(count)]
        return try connection.integer(rows, range) == count
    }
}
