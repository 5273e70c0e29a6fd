extension DataStack {
    /// A stack on the classes of the newest version of a plan, which migrates stores of the former
    /// versions.
    ///
    /// The steps run on a copy of the store, which takes the store's place when all have succeeded.
    /// A migration that fails leaves the store as it was, and every request gets the error: 134110
    /// with the step, and where a closure threw, with its entity and object, and the closure's
    /// error as `NSUnderlyingErrorKey`. A store of another version gives 134100 with the listed
    /// versions.
    ///
    /// A step with closures makes a new store: object IDs change, and a history begins anew. Stores
    /// in PostgreSQL databases must have the newest version; older ones give 134110.
    ///
    /// ```swift
    /// let stack = DataStack(migration: plan, store: .file(url))
    /// for await case .migrating(let fraction) in stack.states { print(fraction) }
    /// ```
    ///
    /// Cost: space for a few copies of the store during the migration. Objects are held in batches
    /// of at most 1,000; pairs of object IDs are kept.
    ///
    /// - Parameters:
    ///   - migration: the versions and the steps between them.
    ///   - store: in memory unless said otherwise.
    ///   - options: options for opening and writing the store. With `migratesAutomatically` false,
    ///     the plan is not carried out.
    public convenience init<Newest>(
        migration: MigrationPlan<Newest>, store: StoreLocation = .inMemory,
        options: DataStackOptions = DataStackOptions()
    ) {
        let chain = migration.chain
        self.init(store: store, options: options, migration: options.migratesAutomatically ? chain : nil) {
            try chain.newest.model()
        }
    }
}
