/// What stands for a row in a predicate, as far as a store has to know it: an object or its ID.
protocol RowIdentity {
    /// The row it stands for in a store; nil when it has none there (not saved yet, or from another store).
    func rowReference(in store: AnyObject) -> RowReference?
}
