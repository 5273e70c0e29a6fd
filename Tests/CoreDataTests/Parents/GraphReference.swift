/// The expected graph of shelves, items and tags in each of several contexts, in plain Swift.
///
/// A context's view is that of what it works on, with its own unsaved changes above it.
struct GraphReference {
    enum Kind: Int { case shelf, item, tag }

    struct Node: Equatable {
        let kind: Kind
        var label: String
        var number: Int
        /// The shelf of an item.
        var shelf: Int?
        /// The tags of an item.
        var tags: Set<Int> = []
    }

    typealias View = [Int: Node]

    /// One field of one object.
    enum Field: Hashable {
        case label, number, shelf
        /// Whether an item has a tag.
        case tag(Int)
    }

    enum Value: Equatable {
        case text(String)
        case number(Int)
        case shelf(Int?)
        case hasTag(Bool)
    }

    /// A change that can be taken back.
    enum Change {
        case inserted(Int, Node)
        case deleted(Int, Node)
        case set(Int, Field, from: Value, to: Value)

        /// The objects that it is about.
        var objects: [Int] {
            switch self {
            case .inserted(let id, let node), .deleted(let id, let node):
                [id] + node.tags + [node.shelf].compactMap { $0 }
            case .set(let id, let field, let from, let to):
                [id] + [from, to].compactMap { if case .shelf(let shelf) = $0 { shelf } else { nil } }
                    + { if case .tag(let tag) = field { [tag] } else { [] } }()
            }
        }
    }

    private struct Pending {
        var inserted: [Int: Node] = [:]
        var deleted: Set<Int> = []
        var fields: [Int: [Field: Value]] = [:]
        var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && fields.isEmpty }
    }

    /// The parent of each context; nil for those on the store.
    let parents: [Int?]
    private(set) var store: View = [:]
    private var pending: [Pending]
    private(set) var undo: [[[Change]]]
    private(set) var redo: [[[Change]]]

    init(parents: [Int?]) {
        self.parents = parents
        pending = parents.map { _ in Pending() }
        undo = parents.map { _ in [] }
        redo = undo
    }

    func view(_ context: Int) -> View {
        var view = parents[context].map { self.view($0) } ?? store
        let pending = pending[context]
        for id in pending.deleted { view[id] = nil }
        for (id, node) in pending.inserted { view[id] = node }
        for (id, fields) in pending.fields {
            for (field, value) in fields { Self.set(&view, id, field, value) }
        }
        // A relationship to what is gone has ended.
        for (id, node) in view {
            if let shelf = node.shelf, view[shelf] == nil { view[id]?.shelf = nil }
            for tag in node.tags where view[tag] == nil { view[id]?.tags.remove(tag) }
        }
        return view
    }

    func isClean(_ context: Int) -> Bool { pending[context].isEmpty }

    func ancestors(of context: Int) -> [Int] { parents[context].map { [$0] + ancestors(of: $0) } ?? [] }

    func descendants(of context: Int) -> [Int] { parents.indices.filter { ancestors(of: $0).contains(context) } }

    /// Whether a change of an object in one context meets no unsaved one of another.
    func isFree(_ id: Int, for context: Int) -> Bool {
        parents.indices.allSatisfy { other in
            // What is unsaved above is part of what the context works on.
            if other == context || ancestors(of: context).contains(other) { return true }
            let pending = pending[other]
            if pending.inserted[id] != nil { return false }
            if pending.deleted.contains(id) || pending.fields[id] != nil { return false }
            return !pending.fields.values.contains { fields in
                fields.contains { field, value in field == .tag(id) || value == .shelf(id) }
            } && !pending.inserted.values.contains { $0.shelf == id || $0.tags.contains(id) }
        }
    }

    private static func set(_ view: inout View, _ id: Int, _ field: Field, _ value: Value) {
        switch (field, value) {
        case (.label, .text(let text)): view[id]?.label = text
        case (.number, .number(let number)): view[id]?.number = number
        case (.shelf, .shelf(let shelf)): view[id]?.shelf = shelf
        case (.tag(let tag), .hasTag(true)): view[id]?.tags.insert(tag)
        case (.tag(let tag), .hasTag(false)): view[id]?.tags.remove(tag)
        default: break
        }
    }

    // MARK: - Changes

    mutating func perform(_ changes: [Change], in context: Int) {
        for change in changes { apply(change, in: context) }
        if changes.isEmpty { return }
        undo[context].append(changes)
        redo[context] = []
    }

    /// The changes that follow from deleting an object: relationships to it end, and a shelf's
    /// items are deleted with it.
    func deletion(of id: Int, in context: Int) -> [Change] {
        let view = view(context)
        guard let node = view[id] else { return [] }
        var changes: [Change] = []
        switch node.kind {
        case .shelf: for (item, node) in view where node.shelf == id { changes.append(.deleted(item, node)) }
        case .tag:
            for (item, node) in view where node.tags.contains(id) {
                changes.append(.set(item, .tag(id), from: .hasTag(true), to: .hasTag(false)))
            }
        case .item: break
        }
        return changes + [.deleted(id, node)]
    }

    private mutating func apply(_ change: Change, in context: Int) {
        switch change {
        case .inserted(let id, let node):
            if pending[context].deleted.remove(id) == nil || !isBelow(id, context) {
                pending[context].inserted[id] = node
            } else {
                restore(id, node, in: context)
            }
        case .deleted(let id, _):
            pending[context].fields[id] = nil
            if pending[context].inserted.removeValue(forKey: id) == nil { pending[context].deleted.insert(id) }
        case .set(let id, let field, _, let to):
            if var node = pending[context].inserted[id] {
                var view = [id: node]
                Self.set(&view, id, field, to)
                node = view[id] ?? node
                pending[context].inserted[id] = node
            } else {
                pending[context].fields[id, default: [:]][field] = to
            }
        }
    }

    /// Whether what a context works on has an object.
    private func isBelow(_ id: Int, _ context: Int) -> Bool {
        (parents[context].map { view($0) } ?? store)[id] != nil
    }

    /// An object whose deletion is taken back is as it was, with what was unsaved of it.
    private mutating func restore(_ id: Int, _ node: Node, in context: Int) {
        let base = (parents[context].map { view($0) } ?? store)[id] ?? node
        var fields: [Field: Value] = [:]
        if base.label != node.label { fields[.label] = .text(node.label) }
        if base.number != node.number { fields[.number] = .number(node.number) }
        if base.shelf != node.shelf { fields[.shelf] = .shelf(node.shelf) }
        for tag in base.tags.symmetricDifference(node.tags) { fields[.tag(tag)] = .hasTag(node.tags.contains(tag)) }
        if !fields.isEmpty { pending[context].fields[id] = fields }
    }

    // MARK: - Undo

    func canUndo(_ context: Int) -> Bool { isFeasible(undo[context].last?.map(Self.inverse), in: context) }

    func canRedo(_ context: Int) -> Bool { isFeasible(redo[context].last, in: context) }

    /// Whether changes that are made again meet nothing that has changed otherwise meanwhile.
    private func isFeasible(_ changes: [Change]?, in context: Int) -> Bool {
        guard let changes else { return false }
        var view = view(context)
        // What is inserted is there for what is set.
        for case .inserted(let id, let node) in changes {
            if view[id] != nil { return false }
            view[id] = node
        }
        let deleted = Set(changes.compactMap { if case .deleted(let id, _) = $0 { id } else { nil } })
        for change in changes {
            for id in change.objects where view[id] == nil || !isFree(id, for: context) { return false }
            switch change {
            case .inserted: break
            case .deleted(let id, let node):
                // Without delete rules: nothing else may have come to it.
                guard view[id] == node else { return false }
                for (other, node) in view where !deleted.contains(other) && (node.shelf == id || node.tags.contains(id))
                {
                    let isChanged = changes.contains { if case .set(other, _, _, _) = $0 { true } else { false } }
                    if !isChanged { return false }
                }
            case .set(let id, let field, let from, _):
                if Self.value(view[id], field) != from { return false }
            }
        }
        return true
    }

    private static func value(_ node: Node?, _ field: Field) -> Value? {
        switch field {
        case .label: (node?.label).map(Value.text)
        case .number: (node?.number).map(Value.number)
        case .shelf: node.map { .shelf($0.shelf) }
        case .tag(let tag): (node?.tags.contains(tag)).map(Value.hasTag)
        }
    }

    private static func inverse(_ change: Change) -> Change {
        switch change {
        case .inserted(let id, let node): .deleted(id, node)
        case .deleted(let id, let node): .inserted(id, node)
        case .set(let id, let field, let from, let to): .set(id, field, from: to, to: from)
        }
    }

    mutating func undo(_ context: Int) {
        guard let group = undo[context].popLast() else { return }
        let inverted = group.reversed().map(Self.inverse)
        for change in inverted { apply(change, in: context) }
        redo[context].append(group)
    }

    mutating func redo(_ context: Int) {
        guard let group = redo[context].popLast() else { return }
        for change in group { apply(change, in: context) }
        undo[context].append(group)
    }

    mutating func forgetUndo(_ context: Int) {
        undo[context] = []
        redo[context] = []
    }

    // MARK: - Saving

    mutating func save(_ context: Int) {
        if let parent = parents[context] {
            let saved = pending[context]
            for id in saved.deleted {
                pending[parent].fields[id] = nil
                if pending[parent].inserted.removeValue(forKey: id) == nil { pending[parent].deleted.insert(id) }
            }
            for (id, node) in saved.inserted { apply(.inserted(id, node), in: parent) }
            for (id, fields) in saved.fields {
                for (field, value) in fields { apply(.set(id, field, from: value, to: value), in: parent) }
            }
        } else {
            store = view(context)
        }
        pending[context] = Pending()
    }

    mutating func rollback(_ context: Int) {
        pending[context] = Pending()
        forgetUndo(context)
    }
}
