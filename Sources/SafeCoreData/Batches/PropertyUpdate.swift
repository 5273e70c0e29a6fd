/// A new value of one property for ``WriteContext/update(_:where:set:)``, checked by the compiler.
///
/// ```swift
/// try context.update(
///     Item.self, where: #Predicate { $0.isOnOffer },
///     set: .set(\.discount, to: 10), .increment(\.views, by: 1))
/// ```
public struct PropertyUpdate<Object: NSManagedObject> {
    enum Change {
        /// Sets the value on an object without a context; the object's values are then written to
        /// the rows.
        case assignment((Object) -> Void)
        case destination(NSManagedObjectID?)
        /// A number that is added to the value in the row.
        case summand(Any)
    }

    let keyPath: PartialKeyPath<Object>
    let change: Change

    /// Sets the value of an attribute.
    ///
    /// ```swift
    /// try context.update(Item.self, set: .set(\.note, to: nil))
    /// ```
    public static func set<Value>(_ keyPath: ReferenceWritableKeyPath<Object, Value>, to value: Value) -> Self {
        Self(keyPath: keyPath, change: .assignment { $0[keyPath: keyPath] = value })
    }

    /// Sets the destination of a relationship to a saved object or nil.
    ///
    /// ```swift
    /// try context.update(
    ///     Item.self, where: #Predicate { $0.stockCount == 0 },
    ///     set: .set(\.supplier, to: supplier))
    /// ```
    public static func set<Destination: NSManagedObject>(
        _ keyPath: ReferenceWritableKeyPath<Object, Destination?>, to destination: Destination?
    ) -> Self {
        Self(keyPath: keyPath, change: .destination(destination?.objectID))
    }

    /// Sets the destination of a relationship to a saved object.
    public static func set<Destination: NSManagedObject>(
        _ keyPath: ReferenceWritableKeyPath<Object, Destination>, to destination: Destination
    ) -> Self {
        Self(keyPath: keyPath, change: .destination(destination.objectID))
    }

    /// Adds to a number; a negative summand subtracts.
    ///
    /// ```swift
    /// try context.update(
    ///     Item.self, where: #Predicate { $0.stockCount > 0 },
    ///     set: .increment(\.stockCount, by: -1))
    /// ```
    public static func increment<Value: NativeAttributeValue & Numeric>(
        _ keyPath: ReferenceWritableKeyPath<Object, Value>, by summand: Value
    ) -> Self {
        Self(keyPath: keyPath, change: .summand(summand))
    }

    /// Adds to a number; nil stays nil.
    public static func increment<Value: NativeAttributeValue & Numeric>(
        _ keyPath: ReferenceWritableKeyPath<Object, Value?>, by summand: Value
    ) -> Self {
        Self(keyPath: keyPath, change: .summand(summand))
    }
}
