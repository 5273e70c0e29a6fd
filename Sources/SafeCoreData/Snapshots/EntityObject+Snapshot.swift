extension EntityObject {
    /// Returns the object's values, including unsaved changes; with key paths, only of those
    /// properties.
    ///
    /// In a class whose superclass is an `@Entity` class too, the result has the class's own
    /// `Snapshot` type. If several types fit, state the one that you want:
    /// `let snapshot: Novel.Snapshot = novel.snapshot()`. If the static type of the object is a
    /// superclass, the snapshot has the properties of that superclass; `snapshotOfOwnClass` has
    /// all.
    ///
    /// Cost: O(number of properties). A fault is loaded, and so are the to-many relationships that
    /// are included.
    ///
    /// ```swift
    /// let whole = item.snapshot()
    /// // reading another property of it stops the program
    /// let part = item.snapshot(\.name, \.stockCount)
    /// ```
    public func snapshot(_ keyPaths: PartialKeyPath<Self>...) -> Snapshot {
        Snapshot(_reading: _SnapshotReader(self, names: Self._names(of: keyPaths)))
    }

    /// All values of the object, including unsaved changes, in the snapshot type of its own class,
    /// which may be a subclass of its static type.
    ///
    /// ```swift
    /// if let novel = book.snapshotOfOwnClass as? Novel.Snapshot { print(novel.pages) }
    /// ```
    public var snapshotOfOwnClass: any EntitySnapshot {
        type(of: self)._snapshotType.init(_reading: _SnapshotReader(self, names: nil))
    }

    /// Returns all values of the object.
    ///
    /// - Throws: `SnapshotError.losesProperties` where a subclass has more of them.
    func wholeSnapshot() throws -> Snapshot {
        try Snapshot._requireAll(of: type(of: self))
        return _snapshot(Snapshot.self, [])
    }

    /// Returns the values of an object in the snapshot type of a subclass, for generated code.
    public func _snapshot<Other: EntitySnapshot>(_ type: Other.Type, _ keyPaths: [AnyKeyPath]) -> Other {
        Other(_reading: _SnapshotReader(self, names: Self._names(of: keyPaths)))
    }

    /// Returns the names of the properties that key paths read; nil, which means all, for no key
    /// paths.
    @usableFromInline
    static func _names(of keyPaths: [AnyKeyPath]) -> Set<String>? {
        if keyPaths.isEmpty { return nil }
        return Set(
            keyPaths.map { keyPath in
                guard let name = keyName(for: keyPath) else {
                    preconditionFailure("\(keyPath) is no property of the entity that \(self) describes.")
                }
                return name
            })
    }
}
