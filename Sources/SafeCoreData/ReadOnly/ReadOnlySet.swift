/// The objects of a to-many relationship, as views that cannot be written.
///
/// Each view is created on access; its object stays a fault until a property is read.
///
/// Two sets are equal when they hold the same objects. `Set(set)` gives a set of views.
///
/// ```swift
/// let novels = shelf.books.of(Novel.self).filter { $0.pages > 300 }
/// ```
@frozen
public struct ReadOnlySet<Object: NSManagedObject>: Collection {
    @usableFromInline
    let objects: Set<Object>

    /// Creates views of objects.
    @inlinable
    public init(_ objects: Set<Object>) {
        self.objects = objects
    }

    /// Creates views of those members of a set that are of the class. Cost: O(n).
    init(untyped set: NSSet) {
        objects = Set(set.allObjects.lazy.compactMap { $0 as? Object })
    }

    /// A position in the set.
    @frozen
    public struct Index: Comparable {
        @usableFromInline
        let position: Set<Object>.Index

        @usableFromInline
        init(_ position: Set<Object>.Index) { self.position = position }

        @inlinable
        public static func < (left: Index, right: Index) -> Bool { left.position < right.position }
    }

    @inlinable
    public var startIndex: Index { Index(objects.startIndex) }

    @inlinable
    public var endIndex: Index { Index(objects.endIndex) }

    @inlinable
    public func index(after index: Index) -> Index { Index(objects.index(after: index.position)) }

    @inlinable
    public subscript(index: Index) -> ReadOnly<Object> { ReadOnly(objects[index.position]) }

    @inlinable
    public var count: Int { objects.count }

    @inlinable
    public var isEmpty: Bool { objects.isEmpty }

    /// Whether the set holds the object of a view. Cost: O(1).
    @inlinable
    public func contains(_ view: ReadOnly<Object>) -> Bool { objects.contains(view.object) }

    /// The objects of the set that are of a class. Cost: O(n).
    ///
    /// ```swift
    /// let pages = shelf.books.of(Novel.self).map(\.pages).reduce(0, +)
    /// ```
    public func of<Other: NSManagedObject>(_ type: Other.Type) -> ReadOnlySet<Other> {
        ReadOnlySet<Other>(Set(objects.lazy.compactMap { $0 as? Other }))
    }
}

extension ReadOnlySet: Hashable {}

extension ReadOnlySet: CustomStringConvertible, CustomReflectable {
    public var description: String { "[" + map(\.description).joined(separator: ", ") + "]" }

    /// A mirror of the views only, so that reflection cannot reach the objects.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .set) }
}

/// The views belong to their objects' context and must not leave that context's queue.
@available(*, unavailable, message: "views belong to the queue of their context: return their objectIDs or snapshots")
extension ReadOnlySet: Sendable {}
