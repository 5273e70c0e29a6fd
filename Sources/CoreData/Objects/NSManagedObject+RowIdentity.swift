extension NSManagedObject: RowIdentity {
    func rowReference(in store: AnyObject) -> RowReference? { objectID.rowReference(in: store) }
}
