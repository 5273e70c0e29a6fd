extension DataStack {
    /// A stack on the model that `@Entity` classes describe.
    ///
    /// ```swift
    /// let stack = DataStack(entities: Item.self, Supplier.self, store: .file(storeURL))
    /// ```
    ///
    /// If an option does not fit its attribute and the compiler could not detect that, every
    /// request gets an error.
    ///
    /// - Parameters:
    ///   - entities: the classes; their superclasses and the destination classes of their
    ///     relationships are added.
    ///   - store: in memory unless said otherwise.
    ///   - options: options for opening and writing the store.
    public convenience init(
        entities: any EntityObject.Type..., store: StoreLocation = .inMemory,
        options: DataStackOptions = DataStackOptions()
    ) {
        self.init(store: store, options: options) { try NSManagedObjectModel(checking: entities) }
    }
}
