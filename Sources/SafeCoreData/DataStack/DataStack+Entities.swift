extension DataStack {
    /// A stack on the model that `@Entity` classes describe.
    ///
    /// ```swift
    /// let stack = DataStack(entities: Item.self, Supplier.self, store: .file(storeURL))
    /// ```
    ///
    /// - Parameters:
    ///   - entities: the classes; their superclasses, and those that their relationships lead to, join them.
    ///   - store: in memory unless said otherwise.
    public convenience init(
        entities: any EntityObject.Type..., store: StoreLocation = .inMemory, options: DataStackOptions = DataStackOptions()
    ) {
        self.init(store: store, options: options) { NSManagedObjectModel(entityClasses: entities) }
    }
}
