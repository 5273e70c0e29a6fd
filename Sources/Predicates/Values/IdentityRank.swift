/// The position of an object by its identity alone, for an order by `objectID` or `self`. Rows are
/// sorted by their stores, tables and keys. Objects that were never saved come after all rows, in
/// the order of their temporary identities.
package struct IdentityRank: Comparable {
    private let isNew: Bool
    private let store: Int
    private let table: Int
    private let key: Int64

    package init(store: Int, table: Int, key: Int64) {
        (isNew, self.store, self.table, self.key) = (false, store, table, key)
    }

    package init(newWithSerial serial: Int64) {
        (isNew, store, table, key) = (true, 0, 0, serial)
    }

    package static func < (left: IdentityRank, right: IdentityRank) -> Bool {
        if left.isNew != right.isNew { return right.isNew }
        return (left.store, left.table, left.key) < (right.store, right.table, right.key)
    }
}

/// A value that identifies a row or a new object.
package protocol RankedIdentity {
    var identityRank: IdentityRank { get }
}
