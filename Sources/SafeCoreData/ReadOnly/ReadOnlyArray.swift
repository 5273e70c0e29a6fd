/// The objects of an ordered to-many relationship, to be read and not written.
///
/// Views are made as they are asked for; the objects behind them stay faults until a property is read.
///
/// ```swift
/// let names = view.orderedItems.map(\.name)               // views, in the relationship's order
/// ```
@frozen
public struct ReadOnlyArray<Object: NSManagedObject>: RandomAccessCollection {
    @usableFromInline
    let objects: [Object]

    /// Views of some objects.
    @inlinable
    public init(_ objects: [Object]) {
        self.objects = objects
    }

    /// Views of the objects of the class in an ordered set. Cost: O(n).
    init(untyped set: NSOrderedSet) {
        objects = set.array.compactMap { $0 as? Object }
    }

    @inlinable
    public var startIndex: Int { 0 }

    @inlinable
    public var endIndex: Int { objects.count }

    @inlinable
    public subscript(index: Int) -> ReadOnly<Object> { ReadOnly(objects[index]) }

    /// The objects of a class among those of the array, in their order. Cost: O(n).
    public func of<Other: NSManagedObject>(_ type: Other.Type) -> ReadOnlyArray<Other> {
        ReadOnlyArray<Other>(objects.compactMap { $0 as? Other })
    }
}

extension ReadOnlyArray: Hashable {}

extension ReadOnlyArray: CustomStringConvertible, CustomReflectable {
    public var description: String { "[" + map(\.description).joined(separator: ", ") + "]" }

    /// Shows the views and nothing that leads to the objects.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: Array(self), displayStyle: .collection) }
}

/// The views belong to their objects' context and must not leave the queue of that.
@available(*, unavailable, message: "views belong to the queue of their context: return their objectIDs or snapshots")
extension ReadOnlyArray: Sendable {}
