extension EntityObject {
    /// The object's values, unsaved changes included; with key paths only of those properties.
    ///
    /// In a class whose superclass is an `@Entity` class too, the result is of the class's own `Snapshot` type. Where several
    /// types fit, name the one that is meant: `let snapshot: Novel.Snapshot = novel.snapshot()`. An object that is known by a
    /// superclass gives that one's properties; `snapshotOfOwnClass` has all.
    ///
    /// Cost: O(number of properties); a fault is loaded, and the to-many relationships that are shown.
    ///
    /// ```swift
    /// let whole = item.snapshot()
    /// let part = item.snapshot(\.name, \.stockCount)          // reading another property of it stops the program
    /// ```
    public func snapshot(_ keyPaths: PartialKeyPath<Self>...) -> Snapshot {
        Snapshot(_reading: _SnapshotReader(self, names: Self._names(of: keyPaths)))
    }

    /// All values of the object, unsaved changes included, in the snapshot type of its own class, which may be a subclass of the
    /// one it is known by.
    ///
    /// ```swift
    /// if let novel = book.snapshotOfOwnClass as? Novel.Snapshot { print(novel.pages) }
    /// ```
    public var snapshotOfOwnClass: any EntitySnapshot {
        type(of: self)._snapshotType.init(_reading: _SnapshotReader(self, names: nil))
    }

    /// The values of an object in the snapshot type of a subclass, for generated code.
    public func _snapshot<Other: EntitySnapshot>(_ type: Other.Type, _ keyPaths: [AnyKeyPath]) -> Other {
        Other(_reading: _SnapshotReader(self, names: Self._names(of: keyPaths)))
    }

    /// The names of the properties that key paths read; nil for none, which stands for all.
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
