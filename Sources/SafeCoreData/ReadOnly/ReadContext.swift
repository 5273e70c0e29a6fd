/// A context that can only be read: every result is a view, a number or an ID.
///
/// A read context belongs to the queue of its context and is not `Sendable`.
///
/// ```swift
/// let few = try await stack.read { context in             // a ReadContext
///     try context.fetch(Item.self, where: #Predicate { $0.stockCount < 5 }).map(\.name)
/// }
/// ```
public struct ReadContext {
    @usableFromInline let context: NSManagedObjectContext

    init(_ context: NSManagedObjectContext) {
        self.context = context
    }

    /// The objects that a request finds, as views.
    ///
    /// ```swift
    /// let names = try context.fetch(Item.fetchRequest()).map(\.name)
    /// ```
    ///
    /// - Throws: errors of the fetch.
    public func fetch<Object: NSManagedObject>(_ request: NSFetchRequest<Object>) throws -> [ReadOnly<Object>] {
        try context.fetch(readOnly: request)
    }

    /// The objects that a request finds, as views. The same as `fetch(_:)`, under the name of the
    /// method that every context has.
    ///
    /// - Throws: errors of the fetch.
    public func fetch<Object: NSManagedObject>(readOnly request: NSFetchRequest<Object>) throws -> [ReadOnly<Object>] {
        try context.fetch(readOnly: request)
    }

    /// The number of objects that a request finds.
    ///
    /// ```swift
    /// let count = try context.count(for: Item.fetchRequest())
    /// ```
    ///
    /// - Throws: errors of the fetch.
    public func count<Result>(for request: NSFetchRequest<Result>) throws -> Int {
        try context.count(for: request)
    }

    /// The object with an ID, loaded.
    ///
    /// Cost: one statement, unless the object is loaded or its row cached.
    ///
    /// ```swift
    /// let item = try context.object(with: itemID, as: Item.self)      // ReadOnly<Item>
    /// ```
    ///
    /// - Parameters:
    ///   - objectID: the ID of a saved object.
    ///   - type: the class that the object must have.
    /// - Throws: code 133000 when there is no such row, and `CocoaError.coreData` (134060) when the
    ///   object is of another class.
    public func object<Object: NSManagedObject>(
        with objectID: NSManagedObjectID, as type: Object.Type
    ) throws -> ReadOnly<Object> {
        guard let object = try context.existingObject(with: objectID) as? Object else {
            throw SafeCoreDataErrors.wrongClass(objectID, type)
        }
        return ReadOnly(object)
    }
}

extension ReadContext: CustomReflectable {
    /// An empty mirror, so that reflection cannot reach the context.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// A read context belongs to the queue of its context.
@available(*, unavailable)
extension ReadContext: Sendable {}
