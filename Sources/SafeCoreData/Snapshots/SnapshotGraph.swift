/// A snapshot of an object and snapshots of the objects that it refers to, up to a number of
/// relationships away.
///
/// Each object occurs once, even if several paths or cycles reach it. The graph is encoded as the
/// root snapshot and a list of the others, and applied as a whole.
///
/// ```swift
/// let graph = item.snapshotGraph(depth: 1)                // the item and what it leads to
/// let supplier = graph.root.supplier.flatMap { graph[$0, as: Supplier.Snapshot.self] }
/// ```
public struct SnapshotGraph<Root: EntitySnapshot>: Sendable {
    /// The snapshot of the object at which the graph starts.
    public var root: Root

    /// The other snapshots, by their objects.
    public private(set) var related: [ObjectReference: any EntitySnapshot]

    /// A snapshot of the root's object in the type of its own class, if that has more properties
    /// than the root's type.
    private var wholeRoot: (any EntitySnapshot)?

    /// Creates a graph of existing snapshots. If several are of one object, the last one is used.
    ///
    /// A snapshot of the root's object in the type of a subclass is kept beside the root; the
    /// values of the root take precedence.
    public init(root: Root, related: [any EntitySnapshot]) {
        self.root = root
        self.related = Dictionary(related.map { ($0.objectID, $0) }, uniquingKeysWith: { $1 })
        wholeRoot = self.related.removeValue(forKey: root.objectID).flatMap { $0 is Root ? nil : $0 }
    }

    /// The root with all properties of its object's own class, which may be a subclass of the
    /// root's class. Values of properties that `root` has too are those from when the graph was
    /// made.
    public var rootOfOwnClass: any EntitySnapshot { wholeRoot ?? root }

    /// The other snapshots for a list after the root: the root in the type of a subclass, then the
    /// others in the order of their references.
    var others: [any EntitySnapshot] {
        let sorted = related.sorted { $0.key.description < $1.key.description }.map(\.value)
        guard var whole = wholeRoot else { return sorted }
        whole.objectID = root.objectID
        return [whole] + sorted
    }

    /// The snapshot of an object in a given type; nil if the graph does not contain the object or
    /// has it in another type.
    public subscript<Snapshot: EntitySnapshot>(_ reference: ObjectReference, as type: Snapshot.Type) -> Snapshot? {
        if reference == root.objectID { return root as? Snapshot ?? wholeRoot as? Snapshot }
        return related[reference] as? Snapshot
    }

    /// All snapshots, the root first, the others in the order of their references.
    public var all: [any EntitySnapshot] { [root] + others }
}

extension EntityObject {
    /// Returns snapshots of the object and of the objects up to `depth` relationships away.
    ///
    /// Loads the objects that it contains. Objects whose class is not an `@Entity` class are
    /// omitted. An object has all properties of its own class, even if the relationship's type is a
    /// superclass: `graph[reference, as: Novel.Snapshot.self]`.
    ///
    /// Cost: O(number of reached objects), and loading those that are faults.
    ///
    /// ```swift
    /// let data = try JSONEncoder().encode(item.snapshotGraph(depth: 2))
    /// ```
    ///
    /// - Parameter depth: the number of relationships to follow; 0 for the object alone.
    public func snapshotGraph(depth: Int) -> SnapshotGraph<Snapshot> { _snapshotGraph(Snapshot.self, depth) }

    /// Returns the graph with a root of the given snapshot type.
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
    /// A graph has a limited depth: objects that its outermost snapshots refer to must exist, or
    /// are dropped with `danglingReferences: .drop`.
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
        // The root comes last, so that its values override those of its snapshot in the type of a
        // subclass.
        let objects = try applyAll(graph.others + [graph.root], danglingReferences: danglingReferences)
        // `applyAll` has checked the class.
        return unsafeDowncast(objects[objects.count - 1], to: Root.Object.self)
    }
}
