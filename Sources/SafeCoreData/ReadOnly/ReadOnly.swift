/// A view of a live managed object that can be read but not written.
///
/// Every property of the object is a property of the view, checked by the compiler; nothing can be
/// assigned:
///
/// ```swift
/// func line(_ item: ReadOnly<Item>) -> String {
///     "\(item.name): \(item.stockCount) from \(item.supplier?.name ?? "nobody")"
/// }
/// ```
///
/// Attributes are returned as they are: values of the types that attributes have
/// (``ReadOnlyValue``), of types with raw values, and of `Codable` types, all of them `Sendable`. A
/// relationship is returned as a view of the other object, or as a collection of views. Properties
/// of any other type are not available through a view: mutable collections, classes that can be
/// changed from outside, contexts, closures.
///
/// The view is as live as its object: it shows changes that the context merges, fires faults when
/// it is read, belongs to the context's queue and becomes useless with the context. It is not
/// `Sendable`; pass a snapshot or the `objectID` to another task. The object of a view can be
/// reached only within a write block of a `DataStack` (`context.object(for: view)`).
///
/// A view on the main actor takes part in observation. A read inside `withObservationTracking`
/// reports the next change of that property, from any source, when the context has merged it. A
/// computed property reports changes of the object's properties that it reads. A read outside of
/// tracking costs the check of one flag, and for objects of the main queue a call.
///
/// Members of the view itself come before properties of the same name: `view.id` is the object's ID
/// even if the entity has an attribute `id`, which is `view[\.id]`.
///
/// Cost: a view has the size of a reference. In an optimized build, reading a property whose name
/// is written out costs the same as reading it from the object. Reading through a key path that is
/// only known at run time costs some tens of nanoseconds more.
@frozen
@dynamicMemberLookup
public struct ReadOnly<Object: NSManagedObject> {
    @usableFromInline
    let object: Object

    /// A view of an object.
    ///
    /// ```swift
    /// let view = ReadOnly(item)                          // for functions that shall not change it
    /// ```
    @inlinable
    public init(_ object: Object) {
        self.object = object
    }

    /// Converts a view to one of another class; nil when the object is not of that class.
    ///
    /// ```swift
    /// if let novel = ReadOnly<Novel>(book) { … }
    /// ```
    @inlinable
    public init?<Other>(_ view: ReadOnly<Other>) {
        guard let object = view.object as? Object else { return nil }
        self.object = object
    }

    /// Reads a property of the object, and records the read for `withObservationTracking`.
    @inlinable @inline(__always)
    func read<Value>(_ keyPath: KeyPath<Object, Value>) -> Value {
        if _slowPath(_ReadObservation.isPossible) { _ReadObservation.willRead(object) }
        return object[keyPath: keyPath]
    }

    // MARK: Attributes

    /// An attribute, as it is.
    @inlinable
    public subscript<Value: ReadOnlyValue>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
        read(keyPath)
    }

    /// An attribute whose name is also a member of the view: `view[\.id]`.
    ///
    /// ```swift
    /// let id = view[\.id]                             // the attribute; view.id is the object's ID
    /// ```
    @inlinable
    public subscript<Value: ReadOnlyValue>(keyPath: KeyPath<Object, Value>) -> Value {
        read(keyPath)
    }

    /// An attribute of a type with raw values.
    @inlinable
    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Sendable>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
        read(keyPath)
    }

    /// An optional attribute of a type with raw values.
    @inlinable
    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Sendable>(dynamicMember keyPath: KeyPath<Object, Value?>) -> Value? {
        read(keyPath)
    }

    /// An attribute of a `Codable` type, which is stored encoded.
    @inlinable
    @_disfavoredOverload
    public subscript<Value: Codable & Sendable>(dynamicMember keyPath: KeyPath<Object, Value>) -> Value {
        read(keyPath)
    }

    /// An attribute of a type that has raw values and can be encoded.
    @inlinable
    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Codable & Sendable>(
        dynamicMember keyPath: KeyPath<Object, Value>
    ) -> Value {
        read(keyPath)
    }

    /// An optional attribute of a type that has raw values and can be encoded.
    @inlinable
    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Codable & Sendable>(
        dynamicMember keyPath: KeyPath<Object, Value?>
    ) -> Value? {
        read(keyPath)
    }

    // MARK: Relationships to one object

    /// A view of the object that a relationship refers to.
    @inlinable
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: KeyPath<Object, Other>) -> ReadOnly<Other> {
        ReadOnly<Other>(read(keyPath))
    }

    /// A view of the object that a relationship refers to, if any.
    @inlinable
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: KeyPath<Object, Other?>) -> ReadOnly<Other>? {
        read(keyPath).map { ReadOnly<Other>($0) }
    }

    // MARK: Relationships to many objects

    /// Views of the objects that a relationship refers to.
    @inlinable
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: KeyPath<Object, Set<Other>>) -> ReadOnlySet<Other> {
        ReadOnlySet(read(keyPath))
    }

    /// Views of the objects that a relationship refers to; empty for nil.
    @inlinable
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: KeyPath<Object, Set<Other>?>) -> ReadOnlySet<Other>
    {
        ReadOnlySet(read(keyPath) ?? [])
    }

    /// Views of the objects that an ordered relationship refers to.
    @inlinable
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: KeyPath<Object, [Other]>) -> ReadOnlyArray<Other> {
        ReadOnlyArray(read(keyPath))
    }

    /// Views of the objects that an ordered relationship refers to; empty for nil.
    @inlinable
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: KeyPath<Object, [Other]?>) -> ReadOnlyArray<Other> {
        ReadOnlyArray(read(keyPath) ?? [])
    }

    /// Views of the objects in an untyped set; ``ReadOnlySet/of(_:)`` gives them their class.
    public subscript<Members: NSSet>(dynamicMember keyPath: KeyPath<Object, Members>) -> ReadOnlySet<NSManagedObject> {
        ReadOnlySet(untyped: read(keyPath))
    }

    /// Views of the objects in an untyped set; ``ReadOnlySet/of(_:)`` gives them their class.
    public subscript<Members: NSSet>(dynamicMember keyPath: KeyPath<Object, Members?>) -> ReadOnlySet<NSManagedObject> {
        ReadOnlySet(untyped: read(keyPath) ?? NSSet())
    }

    /// Views of the objects in an untyped ordered set; ``ReadOnlyArray/of(_:)`` gives them their
    /// class.
    public subscript<Members: NSOrderedSet>(
        dynamicMember keyPath: KeyPath<Object, Members>
    ) -> ReadOnlyArray<NSManagedObject> {
        ReadOnlyArray(untyped: read(keyPath))
    }

    /// Views of the objects in an untyped ordered set; ``ReadOnlyArray/of(_:)`` gives them their
    /// class.
    public subscript<Members: NSOrderedSet>(
        dynamicMember keyPath: KeyPath<Object, Members?>
    ) -> ReadOnlyArray<NSManagedObject> {
        ReadOnlyArray(untyped: read(keyPath) ?? NSOrderedSet())
    }

    // MARK: The context

    /// The object's context, for reading only; nil once the context was reset or deallocated.
    public var managedObjectContext: ReadContext? { object.managedObjectContext.map { ReadContext($0) } }
}

/// A view belongs to its object's context and must not leave that context's queue.
@available(*, unavailable, message: "a view belongs to the queue of its context: return its objectID or a snapshot")
extension ReadOnly: Sendable {}
