extension NSManagedObject: RowIdentity {
    func rowReference(in store: AnyObject) -> RowReference? { objectID.rowReference(in: store) }
}

extension NSManagedObject: RankedIdentity {
    package final var identityRank: IdentityRank { objectID.identityRank }
}

extension NSManagedObject: KeyPathDestinations {
    package final func leadsToMany(_ keys: [String]) -> Bool { layout.crossesToMany(keys) }
}

extension NSManagedObject {
    /// Gives up the key and the store; the next attempt to save assigns others.
    final func giveUpKey() { take(key: 0, store: -1) }

    /// Unregisters this object, because another object represents the row. The key stays.
    final func leavePlaceToTwin() { take(key: key, store: -1) }
}
