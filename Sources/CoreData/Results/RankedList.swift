/// Objects in an order that the owner of the list decides: a B-tree that counts its objects.
///
/// Finding the object at a place, finding the place of an object, insertion and removal take
/// logarithmic time. Each object is in a leaf. The owner is notified of the leaf, so that it can
/// ask for the place.
final class RankedList<Element: AnyObject> {
    typealias Node = RankedNode<Element>

    private(set) var root: Node
    /// Called with each object that is put into a leaf.
    private let placed: (Element, Node) -> Void
    /// The owner of the list, through which an object finds its section.
    unowned var owner: AnyObject?

    init(_ elements: ArraySlice<Element> = [], placed: @escaping (Element, Node) -> Void) {
        self.placed = placed
        var level: [Node] = []
        var start = elements.startIndex
        while start != elements.endIndex {
            let end = min(start + Node.filled, elements.endIndex)
            level.append(Node(elements: ContiguousArray(elements[start..<end])))
            start = end
        }
        while level.count > 1 {
            level = stride(from: 0, to: level.count, by: Node.filled).map {
                Node(children: ContiguousArray(level[$0..<min($0 + Node.filled, level.count)]))
            }
        }
        root = level.first ?? Node(elements: [])
        root.list = self
    }

    var count: Int { root.count }

    /// The object at a place.
    subscript(place: Int) -> Element {
        let (leaf, index) = find(place)
        return leaf.elements[index]
    }

    private func find(_ place: Int) -> (leaf: Node, index: Int) {
        precondition(place >= 0 && place < root.count, "There is no object \(place) among \(root.count).")
        var node = root
        var rest = place
        while !node.isLeaf {
            var next = 0
            while rest >= node.children[next].count {
                rest -= node.children[next].count
                next += 1
            }
            node = node.children[next]
        }
        return (node, rest)
    }

    /// The place in the list of an object of a leaf.
    static func place(of element: Element, in leaf: Node) -> Int {
        var place = leaf.elements.firstIndex { $0 === element } ?? 0
        var node = leaf
        while let parent = node.parent {
            for child in parent.children {
                if child === node { break }
                place += child.count
            }
            node = parent
        }
        return place
    }

    /// The list that a leaf belongs to.
    static func list(of leaf: Node) -> RankedList? {
        var node = leaf
        while let parent = node.parent { node = parent }
        return node.list
    }

    /// The first place from which on all objects fulfil a condition.
    func firstPlace(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// All objects, in order.
    var array: [Element] {
        var result: [Element] = []
        result.reserveCapacity(count)
        root.appendElements(to: &result)
        return result
    }

    /// Calls a closure for each leaf, in order.
    func forEachLeaf(_ body: (Node) -> Void) { root.forEachLeaf(body) }

    // MARK: Changing

    func insert(_ element: Element, at place: Int) {
        precondition(place >= 0 && place <= root.count, "There is no place \(place) among \(root.count) objects.")
        var node = root
        var rest = place
        while !node.isLeaf {
            node.count += 1
            var next = 0
            while rest > node.children[next].count {
                rest -= node.children[next].count
                next += 1
            }
            node = node.children[next]
        }
        node.count += 1
        node.elements.insert(element, at: rest)
        placed(element, node)
        if node.elements.count > Node.capacity { split(node) }
    }

    @discardableResult
    func remove(at place: Int) -> Element {
        let (leaf, index) = find(place)
        let element = leaf.elements.remove(at: index)
        var node: Node? = leaf
        while let one = node {
            one.count -= 1
            node = one.parent
        }
        shrink(leaf)
        return element
    }

    /// Moves half of a node that is too large to a new node behind it.
    private func split(_ node: Node) {
        let other: Node
        if node.isLeaf {
            let middle = node.elements.count / 2
            other = Node(elements: ContiguousArray(node.elements[middle...]))
            node.elements.removeSubrange(middle...)
            for element in other.elements { placed(element, other) }
        } else {
            let middle = node.children.count / 2
            other = Node(children: ContiguousArray(node.children[middle...]))
            node.children.removeSubrange(middle...)
        }
        node.count -= other.count
        guard let parent = node.parent else {
            root = Node(children: [node, other])
            node.list = nil
            root.list = self
            return
        }
        let index = parent.children.firstIndex { $0 === node } ?? parent.children.count - 1
        parent.children.insert(other, at: index + 1)
        other.parent = parent
        if parent.children.count > Node.capacity { split(parent) }
    }

    /// Joins a node that has become small with its neighbour, if both fit into one.
    private func shrink(_ node: Node) {
        guard let parent = node.parent else {
            if !node.isLeaf, node.children.count == 1 {
                root = node.children[0]
                root.parent = nil
                root.list = self
                if !root.isLeaf { shrink(root) }
            }
            return
        }
        if node.size > Node.small { return }
        let index = parent.children.firstIndex { $0 === node } ?? 0
        if node.size == 0 {
            parent.children.remove(at: index)
        } else {
            let left = index > 0 ? index - 1 : index
            guard left + 1 < parent.children.count,
                parent.children[left].size + parent.children[left + 1].size <= Node.filled
            else { return }
            let other = parent.children.remove(at: left + 1)
            let kept = parent.children[left]
            kept.count += other.count
            kept.elements += other.elements
            for element in other.elements { placed(element, kept) }
            for child in other.children { child.parent = kept }
            kept.children += other.children
        }
        shrink(parent)
    }
}

/// A node of a `RankedList`: a leaf with objects, or an inner node with nodes.
final class RankedNode<Element: AnyObject> {
    static var capacity: Int { 64 }
    /// The size of nodes that are made of many objects at once.
    static var filled: Int { 48 }
    /// A node of this size or less looks for a neighbour to be joined with.
    static var small: Int { 16 }

    /// The number of objects in and below the node.
    fileprivate(set) var count: Int
    fileprivate(set) var elements: ContiguousArray<Element>
    fileprivate(set) var children: ContiguousArray<RankedNode>
    // Unowned: the parent keeps its children, and resets this link when it releases them.
    fileprivate unowned var parent: RankedNode?
    /// In a root: its list, which keeps the root.
    fileprivate unowned var list: RankedList<Element>?

    fileprivate init(elements: ContiguousArray<Element>) {
        self.elements = elements
        children = []
        count = elements.count
    }

    fileprivate init(children: ContiguousArray<RankedNode>) {
        self.children = children
        elements = []
        count = 0
        for child in children {
            count += child.count
            child.parent = self
        }
    }

    var isLeaf: Bool { children.isEmpty }

    fileprivate var size: Int { elements.count + children.count }

    fileprivate func appendElements(to array: inout [Element]) {
        array += elements
        for child in children { child.appendElements(to: &array) }
    }

    fileprivate func forEachLeaf(_ body: (RankedNode) -> Void) {
        if isLeaf { body(self) }
        for child in children { child.forEachLeaf(body) }
    }
}
