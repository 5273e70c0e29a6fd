// Writing through a view does not compile. When a view is read, the compiler never chooses these
// subscripts, because unavailable ones rank last. When something is assigned through a view, they
// are the only candidates, and their message says what to do instead of naming a missing
// conformance. They take the object's own types, because values of these types are assigned. The
// setters are unavailable too: key paths of the view look only at the setters, and so cannot be
// written through.

@available(
    *, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }"
)
extension ReadOnly {
    public subscript<Value: ReadOnlyValue>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    public subscript<Value: ReadOnlyValue>(keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Sendable>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>
    ) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Sendable>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value?>
    ) -> Value? {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @_disfavoredOverload
    public subscript<Value: Codable & Sendable>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value
    {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Codable & Sendable>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>
    ) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Codable & Sendable>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value?>
    ) -> Value? {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    // MARK: Relationships

    public subscript<Other: NSManagedObject>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Other>) -> Other {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    public subscript<Other: NSManagedObject>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Other?>) -> Other?
    {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    public subscript<Other: NSManagedObject>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Set<Other>>)
        -> Set<Other>
    {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    public subscript<Other: NSManagedObject>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, [Other]>)
        -> [Other]
    {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }
}
