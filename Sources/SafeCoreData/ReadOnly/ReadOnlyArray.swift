/// The objects of an ordered to-many relationship, as views that cannot be written.
///
/// Each view is created on access; its object stays a fault until a property is read.
///
/// ```swift
/// let names = view.orderedItems.map(\.name)               // views, in the relationship's order
/// ```
@frozen
public struct ReadOnlyArray<Object: NSManagedObject>: RandomAccessCollection {
    @usableFromInline
    let objects: [Object]

    /// Creates views of objects.
    @inlinable
    public init(_ objects: [Object]) {
        self.objects = objects
    }

    /// Creates views of those members of an ordered set that are of the class. Cost: O(n).
    init(untyped set: NSOrderedSet) {
        objects = set.array.compactMap { $0 as? Object }
    }

    @inlinable
    public var startIndex: Int { 0 }

    @inlinable
    public var endIndex: Int { objects.count }

    @inlinable
    public subscript(index: Int) -> ReadOnly<Object> { ReadOnly(objects[index]) }

    /// The objects of the array that are of a class, in their order. Cost: O(n).
    public func of<Other: NSManagedObject>(_ type: Other.Type) -> ReadOnlyArray<Other> {
        ReadOnlyArray<Other>(objects.compactMap { $0 as? Other })
    }
}

extension ReadOnlyArray: Hashable {}

extension ReadOnlyArray: CustomStringConvertible, CustomReflectable {
    public var description: String { "[" + map(\.description).joined(separator: ", ") + "]" }

    /// A mirror of the views only, so that reflection cannot reach the objects.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}

/// The views belong to their objects' context and must not leave that context's queue.
@available(*, unavailable, message: "views belong to the queue of their context: return their objectIDs or snapshots")
extension ReadOnlyArray: Sendable {}
