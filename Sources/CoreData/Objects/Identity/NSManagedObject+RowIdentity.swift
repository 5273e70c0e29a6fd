extension NSManagedObject: RowIdentity {
    func rowReference(in store: AnyObject) -> RowReference? { objectID.rowReference(in: store) }
}

extension NSManagedObject: RankedIdentity {
    package final var identityRank: IdentityRank { objectID.identityRank }
}

extension NSManagedObject: KeyPathDestinations {
    package final func leadsToMany(_ keys: [String]) -> Bool { layout.crossesToMany(keys) }
}
