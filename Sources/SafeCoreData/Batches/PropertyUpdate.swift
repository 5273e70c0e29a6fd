/// A new value of one property in ``WriteContext/update(_:where:set:)``, which the compiler checks.
///
/// ```swift
/// try context.update(Item.self, where: #Predicate { $0.isOnOffer }, set: .set(\.discount, to: 10), .increment(\.views, by: 1))
/// ```
public struct PropertyUpdate<Object: NSManagedObject> {
    enum Change {
        /// Set on an object that belongs to no context, whose values then become those of the rows.
        case assignment((Object) -> Void)
        case destination(NSManagedObjectID?)
        /// Added to what a row has.
        case summand(Any)
    }

    let keyPath: PartialKeyPath<Object>
    let change: Change

    /// Gives an attribute a value.
    ///
    /// ```swift
    /// try context.update(Item.self, set: .set(\.note, to: nil))
    /// ```
    public static func set<Value>(_ keyPath: ReferenceWritableKeyPath<Object, Value>, to value: Value) -> Self {
        Self(keyPath: keyPath, change: .assignment { $0[keyPath: keyPath] = value })
    }

    /// Gives a relationship another destination, which was saved before, or none.
    ///
    /// ```swift
    /// try context.update(Item.self, where: #Predicate { $0.stockCount == 0 }, set: .set(\.supplier, to: supplier))
    /// ```
    public static func set<Destination: NSManagedObject>(
        _ keyPath: ReferenceWritableKeyPath<Object, Destination?>, to destination: Destination?
    ) -> Self {
        Self(keyPath: keyPath, change: .destination(destination?.objectID))
    }

    /// Gives a relationship another destination, which was saved before.
    public static func set<Destination: NSManagedObject>(
        _ keyPath: ReferenceWritableKeyPath<Object, Destination>, to destination: Destination
    ) -> Self {
        Self(keyPath: keyPath, change: .destination(destination.objectID))
    }

    /// Adds to a number, and subtracts where the summand is negative.
    ///
    /// ```swift
    /// try context.update(Item.self, where: #Predicate { $0.stockCount > 0 }, set: .increment(\.stockCount, by: -1))
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
