extension DataStack {
    /// A stack on the model that `@Entity` classes describe.
    ///
    /// ```swift
    /// let stack = DataStack(entities: Item.self, Supplier.self, store: .file(storeURL))
    /// ```
    ///
    /// Every request gets an error where an option does not fit its attribute and the compiler could not see that.
    ///
    /// - Parameters:
    ///   - entities: the classes; their superclasses, and those that their relationships lead to, join them.
    ///   - store: in memory unless said otherwise.
    ///   - options: how the store is opened and written.
    public convenience init(
        entities: any EntityObject.Type..., store: StoreLocation = .inMemory, options: DataStackOptions = DataStackOptions()
    ) {
        self.init(store: store, options: options) { try NSManagedObjectModel(checking: entities) }
    }
}
