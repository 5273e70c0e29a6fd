/// A value that represents a row in a predicate: an object or its ID. Stores know only this
/// protocol of it.
protocol RowIdentity {
    /// Returns the row that the value represents in a store; nil when it has none there (not saved
    /// yet, or from another store).
    func rowReference(in store: AnyObject) -> RowReference?
}
