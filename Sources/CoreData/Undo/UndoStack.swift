/// An action that undoes one change.
struct UndoAction {
    /// The target, not retained; nil for an action of the engine.
    let target: ObjectIdentifier?
    let perform: () -> Void
    var isDiscardable = false
}

/// Actions that are undone together, the last one first.
final class UndoGroup {
    enum Entry {
        case action(UndoAction)
        case group(UndoGroup)
    }

    /// Set by the stack, which closes groups, and the manager, which adds actions.
    var entries: [Entry] = []
    /// Set by the manager, as is `userInfo`, for open groups.
    var name = ""
    var userInfo: [UndoManager.UserInfoKey: Any] = [:]
    /// Whether the group was opened for an event, not by `beginUndoGrouping()`.
    let isOfEvent: Bool

    init(isOfEvent: Bool) { self.isOfEvent = isOfEvent }

    /// Whether there are actions and all of them are discardable. Cost: O(number of actions).
    var isDiscardable: Bool {
        !entries.isEmpty
            && entries.allSatisfy {
                switch $0 {
                case .action(let action): action.isDiscardable
                case .group(let group): group.isDiscardable
                }
            }
    }

    func perform() {
        for entry in entries.reversed() {
            switch entry {
            case .action(let action): action.perform()
            case .group(let group): group.perform()
            }
        }
    }

    func markLastAction(isDiscardable: Bool) {
        switch entries.last {
        case .action(var action):
            action.isDiscardable = isDiscardable
            entries[entries.count - 1] = .action(action)
        case .group(let group): group.markLastAction(isDiscardable: isDiscardable)
        case nil: break
        }
    }

    func removeActions(of target: ObjectIdentifier) {
        entries.removeAll {
            switch $0 {
            case .action(let action): return action.target == target
            case .group(let group):
                let wasEmpty = group.entries.isEmpty
                group.removeActions(of: target)
                return group.entries.isEmpty && !wasEmpty
            }
        }
    }

    func takeOver(_ other: UndoGroup) {
        if name.isEmpty { name = other.name }
        userInfo.merge(other.userInfo) { own, _ in own }
    }
}

/// The groups that can be undone, or the groups that can be redone.
final class UndoStack {
    /// Closed groups of the top level, the oldest first.
    var groups: [UndoGroup] = []
    /// Open groups, which receive actions; the outermost first.
    var open: [UndoGroup] = []
    /// Changes to apply to the group that the present event has not opened yet, such as its name.
    var awaitsGroup: [(UndoGroup) -> Void] = []

    /// The group that is undone next: a filled open one, else the last closed one.
    var next: UndoGroup? {
        if let first = open.first, !first.entries.isEmpty { return first }
        return groups.last
    }

    /// How many groups of the top level there are.
    var count: Int { groups.count + (open.first?.entries.isEmpty == false ? 1 : 0) }

    /// Applies a change to the open groups, else to the awaited or the last one.
    func mark(awaitingGroup: Bool, _ change: @escaping (UndoGroup) -> Void) {
        if awaitingGroup { return awaitsGroup.append(change) }
        for group in open.isEmpty ? groups.suffix(1) : open[...] { change(group) }
    }

    /// Applies the waiting changes to the event's group, which is open now.
    func markAwaitedGroup() {
        for change in awaitsGroup { open.forEach(change) }
        awaitsGroup = []
    }

    func closeGroup(removingIfEmpty: Bool) {
        let group = open.removeLast()
        if removingIfEmpty, group.entries.isEmpty { return }
        if let parent = open.last { parent.entries.append(.group(group)) } else { groups.append(group) }
    }

    /// Removes and returns the last closed group, within the open one; nil without one.
    func popClosedGroup() -> UndoGroup? {
        guard let parent = open.last else { return groups.popLast() }
        guard case .group(let group) = parent.entries.last else { return nil }
        parent.entries.removeLast()
        return group
    }

    func removeOldest(keeping levels: Int) {
        if levels > 0, groups.count > levels { groups.removeFirst(groups.count - levels) }
    }

    func removeAll() {
        groups = []
        open = []
        awaitsGroup = []
    }

    func removeActions(of target: ObjectIdentifier) {
        groups.removeAll {
            let wasEmpty = $0.entries.isEmpty
            $0.removeActions(of: target)
            return $0.entries.isEmpty && !wasEmpty
        }
        for group in open { group.removeActions(of: target) }
    }
}
