extension NSManagedObjectContext {
    /// Returns a request for the objects of a class that match a predicate, both checked by the
    /// compiler.
    ///
    /// ```swift
    /// let request = try context.request(for: Item.self, where: #Predicate { $0.stockCount < 5 })
    /// ```
    ///
    /// The predicate is translated and runs in the store. The results include objects of
    /// subentities.
    ///
    /// - Parameters:
    ///   - type: a class that belongs to exactly one entity of the context's model.
    ///   - predicate: nil for all objects.
    ///   - limit: the greatest number of objects; nil for no limit.
    ///   - offset: the number of objects to skip.
    /// - Throws: `PredicateTranslationError`, which names the part that no store can evaluate;
    ///   `CocoaError.coreData` (134060) when the class belongs to no entity or to several.
    public func request<Object: NSManagedObject>(
        for type: Object.Type, where predicate: Predicate<Object>? = nil, limit: Int? = nil, offset: Int = 0
    ) throws -> NSFetchRequest<Object> {
        let request = NSFetchRequest<Object>()
        request.entity = try NSEntityDescription.entity(of: type, in: self)
        request.predicate = try predicate.map { try NSPredicate.translating($0) }
        request.fetchLimit = limit ?? 0
        request.fetchOffset = offset
        return request
    }

    private func request<Object: NSManagedObject>(
        for type: Object.Type, where predicate: Predicate<Object>?, sortBy orderings: [Ordering<Object>], limit: Int?,
        offset: Int
    ) throws -> NSFetchRequest<Object> {
        let request = try request(for: type, where: predicate, limit: limit, offset: offset)
        request.sortDescriptors = try orderings.map { try $0.sortDescriptor() }
        return request
    }

    private func request<Object: NSManagedObject>(
        for type: Object.Type, where predicate: Predicate<Object>?, sortBy descriptors: [SortDescriptor<Object>],
        limit: Int?,
        offset: Int
    ) throws -> NSFetchRequest<Object> {
        let request = try request(for: type, where: predicate, limit: limit, offset: offset)
        request.sortDescriptors = try descriptors.map { descriptor in
            guard let keyPath = descriptor.keyPath else { throw QueryError.sortByComparator(type) }
            guard let name = KeyPathNames.comparedName(of: keyPath) else {
                throw QueryError.unknownProperty(of: type, keyPath)
            }
            // A type can be `Comparable` although the store keeps its values as bytes, which it
            // cannot sort.
            if !(Swift.type(of: keyPath).valueType is any SortableValue.Type),
                request.entity?.keepsBytes(at: name) == true
            {
                throw QueryError.unsortable(type, name, "the store keeps its values as bytes")
            }
            return NSSortDescriptor(descriptor)
        }
        return request
    }

    /// The objects of a class that match a predicate, in an order.
    ///
    /// Cost: one statement and O(number of results), which are returned as faults with cached rows.
    ///
    /// ```swift
    /// let few = try context.fetch(
    ///     Item.self, where: #Predicate { $0.stockCount < 5 && $0.supplier?.name == "ACME" },
    ///     sortBy: [.ascending(\.name)])
    /// ```
    ///
    /// - Parameter limit: the greatest number of objects; nil for no limit.
    /// - Throws: `PredicateTranslationError` and ``QueryError`` for conditions that no store can
    ///   evaluate, and errors of the fetch.
    public func fetch<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy orderings: [Ordering<Object>] = [],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        if limit == 0 { return [] }
        return try fetch(request(for: type, where: predicate, sortBy: orderings, limit: limit, offset: offset))
    }

    /// The objects of a class that match a predicate, in the order of Foundation's sort
    /// descriptors, which compare texts literally.
    ///
    /// ```swift
    /// let items = try context.fetch(Item.self, sortBy: [SortDescriptor(\.name, order: .reverse)])
    /// ```
    ///
    /// - Throws: `PredicateTranslationError` and ``QueryError`` for conditions that no store can
    ///   evaluate, and errors of the fetch.
    public func fetch<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy descriptors: [SortDescriptor<Object>],
        limit: Int? = nil, offset: Int = 0
    ) throws -> [Object] {
        if limit == 0 { return [] }
        return try fetch(request(for: type, where: predicate, sortBy: descriptors, limit: limit, offset: offset))
    }

    /// The first object that matches a predicate; nil if there is none.
    ///
    /// Cost: one statement with a limit of 1.
    ///
    /// ```swift
    /// let bolt = try context.first(Item.self, where: #Predicate { $0.name == "Bolt" })
    /// ```
    ///
    /// - Throws: as `fetch(_:where:sortBy:limit:offset:)`.
    public func first<Object: NSManagedObject>(
        _ type: Object.Type, where predicate: Predicate<Object>? = nil, sortBy orderings: [Ordering<Object>] = []
    ) throws -> Object? {
        try fetch(type, where: predicate, sortBy: orderings, limit: 1).first
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
        try count(for: request(for: type, where: predicate))
    }

    /// Whether any object matches a predicate.
    ///
    /// Cost: one statement that ends with the first match.
    ///
    /// ```swift
    /// guard try !context.exists(Item.self, where: #Predicate { $0.name == name }) else { return }
    /// ```
    ///
    /// - Throws: as `fetch(_:where:sortBy:limit:offset:)`.
    public func exists<Object: NSManagedObject>(_ type: Object.Type, where predicate: Predicate<Object>? = nil) throws
        -> Bool
    {
        try count(for: request(for: type, where: predicate, limit: 1)) > 0
    }
}

extension NSEntityDescription {
    /// Whether a key path ends at an attribute whose values are encoded.
    fileprivate func keepsBytes(at keyPath: String) -> Bool {
        var entity: NSEntityDescription? = self
        var attribute: NSAttributeDescription?
        for name in keyPath.split(separator: ".") {
            let elements = (attribute as? NSCompositeAttributeDescription)?.elements
            attribute = elements?.first { $0.name == name } ?? entity?.attributesByName[String(name)]
            entity = entity?.relationshipsByName[String(name)]?.destinationEntity
        }
        return attribute.map { [.binaryDataAttributeType, .transformableAttributeType].contains($0.attributeType) }
            ?? false
    }
}
