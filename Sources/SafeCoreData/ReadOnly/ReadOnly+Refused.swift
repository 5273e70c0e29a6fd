// Writing through a view does not compile. Where a view is read, the compiler never chooses these, as unavailable ones come last;
// where it is assigned to, they are the only ones that can be, and say what to do instead of what type does not conform to what.
// They take the object's own types, since those are what is assigned. The setters are unavailable by themselves as well, so that key paths
// of the view, which look no further, cannot be written through.

extension ReadOnly {
    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    public subscript<Value: ReadOnlyValue>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    public subscript<Value: ReadOnlyValue>(keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Sendable>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>
    ) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Sendable>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value?>
    ) -> Value? {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    @_disfavoredOverload
    public subscript<Value: Codable & Sendable>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Codable & Sendable>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value>
    ) -> Value {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    @_disfavoredOverload
    public subscript<Value: RawRepresentable & Codable & Sendable>(
        dynamicMember keyPath: ReferenceWritableKeyPath<Object, Value?>
    ) -> Value? {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    // MARK: Relationships

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Other>) -> Other {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Other?>) -> Other? {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, Set<Other>>) -> Set<Other> {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }

    @available(*, unavailable, message: "views cannot be written: change the object in a write block, stack.write(to: view) { … }")
    public subscript<Other: NSManagedObject>(dynamicMember keyPath: ReferenceWritableKeyPath<Object, [Other]>) -> [Other] {
        get { fatalError() }
        @available(*, unavailable, message: "views cannot be written")
        nonmutating set {}
    }
}
