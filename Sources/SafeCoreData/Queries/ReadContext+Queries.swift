extension ReadContext {
    /// Views of the objects of a class that match a predicate, in an order.
    ///
    /// Cost: one statement and O(number of results).
    ///
    /// ```swift
    /// let names = try context.fetch(
    ///     Item.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)]
    /// ).map(\.name)
    /// ```
    ///
    /// - Parameters:
    ///   - type: the class of the objects.
    ///   - predicate: selects the objects; nil for all.
    ///   - orderings: the sort order; earlier orderings come first.
    ///   - limit: the greatest number of objects; nil for no limit.
    ///   - offset: the number of objects to skip.
    /// - Throws: `PredicateTranslationError` and ``QueryError`` for conditions that no store can
    ///   evaluate, and errors of the fetch.
    public func fetch<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy orderings: [Ordering<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [ReadOnly<Object>] {
        try context.fetch(type, where: predicate, sortBy: orderings, limit: limit, offset: offset).map { ReadOnly($0) }
    }

    /// Views of the objects of a class that match a predicate, in the order of Foundation's sort
    /// descriptors, which compare texts literally.
    ///
    /// - Throws: `PredicateTranslationError` and ``QueryError`` for conditions that no store can
    ///   evaluate, and errors of the fetch.
    public func fetch<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy descriptors: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [ReadOnly<Object>] {
        try context.fetch(type, where: predicate, sortBy: descriptors, limit: limit, offset: offset).map {
            ReadOnly($0)
        }
    }

    /// Snapshots of the objects of a class that match a predicate, read directly from rows, in an
    /// order.
    ///
    /// Cost: one statement and one for each to-many relationship, and O(number of results).
    ///
    /// ```swift
    /// let few = try await stack.query {
    ///     try $0.snapshots(
    ///         Item.self, where: #Predicate { $0.stockCount < 5 }, sortBy: [.ascending(\.name)])
    /// }
    /// ```
    ///
    /// - Throws: as `fetch(_:where:sortBy:limit:offset:)`, and `SnapshotError.losesProperties` for
    ///   objects of subclasses with properties of their own: name their snapshot type.
    @inlinable
    public func snapshots<Object: EntityObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy orderings: [Ordering<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object.Snapshot] {
        try snapshots(of: QueryRequest(type, predicate, orderings, limit: limit, offset: offset).request(in: self))
    }

    /// Snapshots of a given type of the objects that match a predicate, read directly from rows;
    /// otherwise as `snapshots(_:where:sortBy:limit:offset:)`. Snapshots of subclass objects have
    /// the properties of this type only.
    ///
    /// ```swift
    /// let novels = try await stack.query {
    ///     try $0.snapshots(Novel.Snapshot.self, sortBy: [.ascending(\.title)])
    /// }
    /// ```
    @inlinable
    public func snapshots<Snapshot: EntitySnapshot>(
        _ type: Snapshot.Type, where predicate: Predicate<Snapshot.Object>? = nil,
        sortBy orderings: [Ordering<Snapshot.Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Snapshot] {
        let request = QueryRequest(Snapshot.Object.self, predicate, orderings, limit: limit, offset: offset)
        return try snapshots(type, of: request.request(in: self))
    }

    /// A view of the first object that matches a predicate; nil if there is none.
    ///
    /// Cost: one statement with a limit of 1.
    ///
    /// ```swift
    /// let name = try context.first(Item.self, sortBy: [.descending(\.stockCount)])?.name
    /// ```
    ///
    /// - Throws: as `fetch(_:where:sortBy:limit:offset:)`.
    public func first<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy orderings: [Ordering<Object>] = []
    ) throws -> ReadOnly<Object>? {
        try context.first(type, where: predicate, sortBy: orderings).map { ReadOnly($0) }
    }

    /// The number of objects that match a predicate, without fetching them.
    ///
    /// Cost: one statement; the store counts.
    ///
    /// ```swift
    /// let empty = try context.count(Item.self, where: #Predicate { $0.stockCount == 0 })
    /// ```
    ///
    /// - Throws: as `fetch(_:where:sortBy:limit:offset:)`.
    public func count<Object: NSManagedObject>(_ type: Object.Type, where predicate: Predicate<Object>? = nil) throws
        -> Int
    {
        try context.count(type, where: predicate)
    }

    /// Whether any object matches a predicate.
    ///
    /// Cost: one statement that ends with the first match.
    ///
    /// ```swift
    /// let isTaken = try context.exists(Item.self, where: #Predicate { $0.code == code })
    /// ```
    ///
    /// - Throws: as `fetch(_:where:sortBy:limit:offset:)`.
    public func exists<Object: NSManagedObject>(_ type: Object.Type, where predicate: Predicate<Object>? = nil) throws
        -> Bool
    {
        try context.exists(type, where: predicate)
    }
}
