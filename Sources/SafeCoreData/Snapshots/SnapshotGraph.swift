/// A snapshot and those of the objects around it, to a number of steps along relationships.
///
/// Each object is in it once, whatever way leads to it, so that circles are no matter. It is encoded as the snapshot and a
/// list of the others, and applied as a whole.
///
/// ```swift
/// let graph = item.snapshotGraph(depth: 1)                // the item and what it leads to
/// let supplier = graph.root.supplier.flatMap { graph[$0, as: Supplier.Snapshot.self] }
/// ```
public struct SnapshotGraph<Root: EntitySnapshot>: Sendable {
    /// The snapshot that the graph was made for.
    public var root: Root

    /// The others, by the object that they show.
    public private(set) var related: [ObjectReference: any EntitySnapshot]

    /// The root's object in the snapshot type of its own class, where that has more properties than the root's type.
    private var wholeRoot: (any EntitySnapshot)?

    /// A graph of snapshots that were made elsewhere; the last of several of one object counts.
    ///
    /// One of the root's object in the type of a subclass is kept beside the root, whose own values count.
    public init(root: Root, related: [any EntitySnapshot]) {
        self.root = root
        self.related = Dictionary(related.map { ($0.objectID, $0) }, uniquingKeysWith: { $1 })
        wholeRoot = self.related.removeValue(forKey: root.objectID).flatMap { $0 is Root ? nil : $0 }
    }

    /// The root with all properties of its object's own class, which may be a subclass of the one that it was known by. The values of `root`
    /// are those of when the graph was made.
    public var rootOfOwnClass: any EntitySnapshot { wholeRoot ?? root }

    /// What stands beside the root in a list of the graph's snapshots: the root in the type of a subclass, then the others in the
    /// order of their references.
    var others: [any EntitySnapshot] {
        let sorted = related.sorted { $0.key.description < $1.key.description }.map(\.value)
        guard var whole = wholeRoot else { return sorted }
        whole.objectID = root.objectID
        return [whole] + sorted
    }

    /// The snapshot of an object in a type; nil when the graph does not reach it or has it in another type.
    public subscript<Snapshot: EntitySnapshot>(_ reference: ObjectReference, as type: Snapshot.Type) -> Snapshot? {
        if reference == root.objectID { return root as? Snapshot ?? wholeRoot as? Snapshot }
        return related[reference] as? Snapshot
    }

    /// All snapshots, the root first, the others in the order of their references.
    public var all: [any EntitySnapshot] { [root] + others }
}

extension EntityObject {
    /// The object's snapshot and those of the objects up to a number of steps away.
    ///
    /// Loads what it shows. Objects whose class is no `@Entity` class are left out. An object that is known by a superclass is in the
    /// graph with all properties of its own class: `graph[reference, as: Novel.Snapshot.self]`.
    ///
    /// Cost: O(number of objects that are reached), and reading those that are not loaded.
    ///
    /// ```swift
    /// let data = try JSONEncoder().encode(item.snapshotGraph(depth: 2))
    /// ```
    ///
    /// - Parameter depth: the number of steps; 0 gives the object alone.
    public func snapshotGraph(depth: Int) -> SnapshotGraph<Snapshot> { _snapshotGraph(Snapshot.self, depth) }

    /// The graph with the object's own snapshot in a type of the caller's choice.
    public func _snapshotGraph<Root: EntitySnapshot>(_ type: Root.Type, _ depth: Int) -> SnapshotGraph<Root> {
        var seen: Set<NSManagedObject> = [self]
        var related: [any EntitySnapshot] = []
        var front: [NSManagedObject] = [self]
        for _ in 0..<max(depth, 0) {
            front = front.flatMap(\.relatedObjects).filter { seen.insert($0).inserted }
            if front.isEmpty { break }
            related += front.compactMap { ($0 as? any EntityObject)?.snapshotOfOwnClass }
        }
        let own = snapshotOfOwnClass
        if !(own is Root) { related.append(own) }
        return SnapshotGraph(root: _snapshot(type, []), related: related)
    }
}

extension NSManagedObject {
    /// The objects at the other ends of all relationships.
    fileprivate var relatedObjects: [NSManagedObject] {
        entity.relationshipsByName.keys.sorted().flatMap { name -> [NSManagedObject] in
            switch value(forKey: name) {
            case let object as NSManagedObject: [object]
            case let objects as NSOrderedSet: objects.array.compactMap { $0 as? NSManagedObject }
            case let objects as NSSet: objects.allObjects.compactMap { $0 as? NSManagedObject }
            default: []
            }
        }
    }
}

extension SnapshotGraph: Hashable {
    public static func == (first: SnapshotGraph, second: SnapshotGraph) -> Bool {
        first.root == second.root && first.hashableOthers == second.hashableOthers
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(root)
        hasher.combine(hashableOthers)
    }

    private var hashableOthers: [AnyHashable] { others.map { AnyHashable($0) } }
}

extension NSManagedObjectContext {
    /// Applies all snapshots of a graph, as `apply(_:danglingReferences:)` does with a list.
    ///
    /// A graph ends somewhere: what its outermost snapshots lead to must exist, or is left out with
    /// `danglingReferences: .drop`.
    ///
    /// ```swift
    /// let graph = try JSONDecoder().decode(SnapshotGraph<Item.Snapshot>.self, from: data)
    /// let item = try context.apply(graph, danglingReferences: .drop)
    /// ```
    ///
    /// - Throws: `SnapshotError`, with nothing changed.
    @discardableResult
    public func apply<Root: EntitySnapshot>(
        _ graph: SnapshotGraph<Root>, danglingReferences: DanglingReferences = .refuse
    ) throws -> Root.Object {
        // The root comes last, so that a change of it counts beside its values in the type of a subclass.
        let objects = try applyAll(graph.others + [graph.root], danglingReferences: danglingReferences)
        // The application has checked the class.
        return unsafeDowncast(objects[objects.count - 1], to: Root.Object.self)
    }
}
