/// What can be done with a context by one who only reads: every result is a view, a number or an ID.
///
/// It belongs to the queue of its context and is not `Sendable`.
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
    /// - Throws: what the fetch throws.
    public func fetch<Object: NSManagedObject>(_ request: NSFetchRequest<Object>) throws -> [ReadOnly<Object>] {
        try context.fetch(readOnly: request)
    }

    /// The objects that a request finds, as views: `fetch(_:)` by the name that it has in every context.
    ///
    /// - Throws: what the fetch throws.
    public func fetch<Object: NSManagedObject>(readOnly request: NSFetchRequest<Object>) throws -> [ReadOnly<Object>] {
        try context.fetch(readOnly: request)
    }

    /// The number of objects that a request finds.
    ///
    /// ```swift
    /// let count = try context.count(for: Item.fetchRequest())
    /// ```
    ///
    /// - Throws: what the fetch throws.
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
    ///   - objectID: of an object that was saved.
    ///   - type: the class it must have.
    /// - Throws: code 133000 when there is no such row, and `CocoaError.coreData` (134060) when it is of another class.
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
    /// Shows nothing that leads to the context.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

/// A read context belongs to the queue of its context.
@available(*, unavailable)
extension ReadContext: Sendable {}
