/// The expected view of each level of a tree of contexts over an exhibition, in plain Swift.
///
/// Each level's view is the one above with its own changes; what a level changes shows in those
/// below, too.
struct ExhibitionReference {
    enum Kind: String, CaseIterable {
        case piece = "Piece"
        case room = "Room"
        case theme = "Theme"
        case country = "Country"
    }

    enum Value: Equatable {
        case none
        case text(String)
        case number(Int)
        case bytes(UInt8, count: Int)
        /// An ordered relationship.
        case list([Int])

        var members: [Int] { if case .list(let members) = self { members } else { [] } }
    }

    /// An object. The other sides of its lists are not noted: the rooms' lists say where pieces
    /// are.
    struct Node: Equatable {
        let kind: Kind
        var fields: [String: Value] = [:]

        subscript(field: String) -> Value {
            get { fields[field] ?? .none }
            set { fields[field] = newValue == .none || newValue == .list([]) ? nil : newValue }
        }
    }

    typealias View = [Int: Node]

    private struct Changes {
        var inserted: View = [:]
        var deleted: Set<Int> = []
        var fields: [Int: [String: Value]] = [:]
        /// The objects that they are about.
        var touched: Set<Int> = []

        init(from old: View, to new: View) {
            for id in Set(old.keys).union(new.keys) where old[id] != new[id] {
                touched.insert(id)
                for node in [old[id], new[id]] {
                    for value in node?.fields.values ?? [:].values { touched.formUnion(value.members) }
                }
                guard let node = new[id] else {
                    deleted.insert(id)
                    continue
                }
                guard let former = old[id] else {
                    inserted[id] = node
                    continue
                }
                for field in Set(former.fields.keys).union(node.fields.keys) where former[field] != node[field] {
                    fields[id, default: [:]][field] = node[field]
                }
            }
        }

        func apply(to view: View) -> View {
            var view = view
            for id in deleted { view[id] = nil }
            view.merge(inserted) { $1 }
            for (id, values) in fields { for (field, value) in values { view[id]?[field] = value } }
            return view
        }
    }

    /// The content of the stores.
    private(set) var stored: View
    /// The view of each level, the root first.
    private(set) var views: [View]
    private var undo: [[(before: View, after: View)]]
    private var redo: [[(before: View, after: View)]]

    init(levels: Int, stored: View) {
        self.stored = stored
        views = Array(repeating: stored, count: levels)
        undo = Array(repeating: [], count: levels)
        redo = undo
    }

    private func base(_ level: Int) -> View { level == 0 ? stored : views[level - 1] }

    func isClean(_ level: Int) -> Bool { views[level] == base(level) }

    /// Whether a level's new view is about nothing that is unsaved below it.
    func isFree(_ view: View, _ level: Int) -> Bool {
        let touched = Changes(from: views[level], to: view).touched
        return (level + 1..<views.count).allSatisfy {
            Changes(from: views[$0 - 1], to: views[$0]).touched.isDisjoint(with: touched)
        }
    }

    private mutating func show(_ view: View, _ level: Int) {
        let former = views
        views[level] = view
        for lower in level + 1..<views.count {
            views[lower] = Changes(from: former[lower - 1], to: former[lower]).apply(to: views[lower - 1])
        }
    }

    /// A change that can be taken back.
    mutating func change(_ level: Int, to view: View) {
        undo[level].append((views[level], view))
        redo[level] = []
        show(view, level)
    }

    /// A change that cannot, and after which nothing else can.
    mutating func discard(_ level: Int, to view: View) {
        show(view, level)
        forgetUndo(level)
    }

    // MARK: - Undo

    func canUndo(_ level: Int) -> Bool {
        undo[level].last.map { $0.after == views[level] && isFree($0.before, level) } ?? false
    }

    func canRedo(_ level: Int) -> Bool {
        redo[level].last.map { $0.before == views[level] && isFree($0.after, level) } ?? false
    }

    mutating func undo(_ level: Int) {
        guard let group = undo[level].popLast() else { return }
        show(group.before, level)
        redo[level].append(group)
    }

    mutating func redo(_ level: Int) {
        guard let group = redo[level].popLast() else { return }
        show(group.after, level)
        undo[level].append(group)
    }

    mutating func forgetUndo(_ level: Int) {
        undo[level] = []
        redo[level] = []
    }

    // MARK: - Saving

    mutating func save(_ level: Int) {
        if level == 0 { stored = views[0] } else { views[level - 1] = views[level] }
    }

    /// A level and those below it show what is above, where those below have nothing of their own.
    mutating func rollback(_ level: Int) {
        for lower in level..<views.count {
            views[lower] = base(level)
            forgetUndo(lower)
        }
    }

    // MARK: - What keeps a save from succeeding

    /// Whether there are rooms without the label that they must have, and whether a level has
    /// changed such a one. Others may have been changed there and changed back, and so be
    /// validated.
    func invalidRooms(_ level: Int) -> (exist: Bool, areChanged: Bool) {
        let invalid = views[level].filter { $0.value.kind == .room && $0.value["label"] == .none }
        return (!invalid.isEmpty, invalid.contains { base(level)[$0.key] != $0.value })
    }

    /// Whether two pieces have the code that only one may have.
    func hasDuplicates(_ level: Int) -> Bool {
        let codes = views[level].values.filter { $0.kind == .piece && $0["code"] != .none }.map { "\($0["code"])" }
        return Set(codes).count < codes.count
    }

    /// Whether the root has changes of what lies in a store that cannot be written.
    var hasChangedCountries: Bool { stored.contains { $0.value.kind == .country && $0.value != views[0][$0.key] } }
}
