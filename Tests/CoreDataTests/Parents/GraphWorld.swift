import CoreData
import TestSupport
import Testing

/// Two contexts of one coordinator, one of another, a child and a grandchild on one store, beside
/// what they should show. A store in memory is its coordinator's alone: there the distant context
/// is a third one of the first coordinator.
final class GraphWorld {
    /// A step of a sequence. What it does depends on what is there.
    struct Step: CustomStringConvertible {
        enum Action: Int, CaseIterable {
            case insertShelf, insertItem, insertTag, setLabel, setNumber, move, tag, delete, undo, redo, save, saveUp,
                rollback, refresh
        }

        let context: Int
        let action: Action
        let first: Int
        let second: Int

        /// Which context takes a step: more often those of a family.
        private static let contexts = [0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3, 3, 4, 4]
        /// Rarely what ends everything else.
        private static let actions: [Action] =
            Action.allCases.filter { $0 != .rollback } + Action.allCases.filter { $0 != .rollback } + [
                .undo, .undo, .redo, .redo, .rollback,
            ]

        init(using random: inout SeededGenerator) {
            context = Self.contexts.randomElement(using: &random) ?? 0
            action = Self.actions.randomElement(using: &random) ?? .save
            first = Int.random(in: 0..<1000, using: &random)
            second = Int.random(in: 0..<1000, using: &random)
        }

        var description: String { "\(action)(in: \(context), \(first), \(second))" }
    }

    /// A difference between the contexts and the reference.
    struct Difference: Error, CustomStringConvertible { let description: String }

    private static let names = ["Shelf", "Item", "Tag"]

    private let folder: TemporaryFolder
    private let contexts: [NSManagedObjectContext]
    private let managers: [Int: UndoManager]
    private(set) var reference: GraphReference
    /// How many groups were undone and done again.
    private(set) var undoneCount = 0
    private(set) var redoneCount = 0
    private var nextID = 1
    private let saves: [NotificationLog]

    init(_ kind: StoreKind) throws {
        folder = try TemporaryFolder()
        let url = folder.file("graph.sqlite")
        func coordinator() throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil,
                at: kind.url(url), options: [NSSQLitePragmasOption: ["synchronous": "OFF"]])
            return coordinator
        }
        let first = try coordinator()
        // No other coordinator finds the rows of a store in memory; one at `/dev/null/name` is of
        // SQLite, which has a run of its own.
        let other = kind.isDatabase ? try coordinator() : first
        let root = first.newContext()
        let distant = other.newContext()
        distant.stalenessInterval = 0
        let middle = root.newChild()
        contexts = [root, first.newContext(), distant, middle, middle.newChild()]
        var managers: [Int: UndoManager] = [:]
        for index in [0, 3] {
            let manager = UndoManager()
            manager.groupsByEvent = false
            contexts[index].undoManager = manager
            managers[index] = manager
        }
        self.managers = managers
        saves = contexts.map { NotificationLog(NSManagedObjectContext.didSaveObjectsNotification, from: $0) }
        reference = GraphReference(parents: [nil, nil, nil, 0, 3])
    }

    private static func model() -> NSManagedObjectModel {
        func entity(_ name: String, _ more: [NSAttributeDescription] = []) -> NSEntityDescription {
            NSEntityDescription(
                name, class: "NSManagedObject",
                [
                    NSAttributeDescription("uid", .integer64AttributeType),
                    NSAttributeDescription("label", .stringAttributeType),
                    NSAttributeDescription("number", .integer32AttributeType, default: 0),
                ] + more)
        }
        let shelf = entity("Shelf")
        let item = entity("Item")
        let tag = entity("Tag")
        relate(shelf, "items", toMany: true, deleteRule: .cascadeDeleteRule, item, inverse: "shelf")
        relate(item, "tags", toMany: true, tag, inverse: "items", inverseToMany: true)
        return NSManagedObjectModel([shelf, item, tag])
    }

    // MARK: - Steps

    func take(_ step: Step) throws {
        let context = contexts[step.context]
        let view = reference.view(step.context)
        let free = view.keys.filter { reference.isFree($0, for: step.context) }.sorted()
        func pick(_ kind: GraphReference.Kind? = nil, _ number: Int) -> Int? {
            let candidates = free.filter { kind == nil || view[$0]?.kind == kind }
            return candidates.isEmpty ? nil : candidates[number % candidates.count]
        }
        switch step.action {
        case .insertShelf: try insert(.shelf, step, shelf: nil)
        case .insertTag: try insert(.tag, step, shelf: nil)
        case .insertItem: try insert(.item, step, shelf: pick(.shelf, step.second))
        case .setLabel:
            let label = "label \(step.second)"
            guard let id = pick(nil, step.first), let node = view[id], node.label != label else { return }
            try perform([.set(id, .label, from: .text(node.label), to: .text(label))], step.context) {
                try object(id, in: context).setValue(label, forKey: "label")
            }
        case .setNumber:
            guard let id = pick(nil, step.first), let node = view[id], node.number != step.second else { return }
            try perform([.set(id, .number, from: .number(node.number), to: .number(step.second))], step.context) {
                try object(id, in: context).setValue(step.second, forKey: "number")
            }
        case .move: try move(step, pick(.item, step.first), pick(.shelf, step.second), view)
        case .tag:
            guard let id = pick(.item, step.first), let tag = pick(.tag, step.second), let node = view[id] else {
                return
            }
            let has = node.tags.contains(tag)
            try perform([.set(id, .tag(tag), from: .hasTag(has), to: .hasTag(!has))], step.context) {
                let tags = try object(id, in: context).mutableSetValue(forKey: "tags")
                let object = try object(tag, in: context)
                if has { tags.remove(object) } else { tags.add(object) }
            }
        case .delete:
            guard let id = pick(nil, step.first) else { return }
            let changes = reference.deletion(of: id, in: step.context)
            guard changes.allSatisfy({ $0.objects.allSatisfy { reference.isFree($0, for: step.context) } }) else {
                return
            }
            try perform(changes, step.context) { context.delete(try object(id, in: context)) }
        case .undo: undoOrRedo(step, isUndo: true)
        case .redo: undoOrRedo(step, isUndo: false)
        case .save, .saveUp: try save(step.context, merging: step.action == .saveUp)
        case .rollback:
            // What is unsaved below may rest on what goes.
            for other in reference.descendants(of: step.context).reversed() + [step.context] {
                contexts[other].rollback()
                reference.rollback(other)
                if context.hasChanges, other == step.context {
                    throw Difference(description: "changes after a rollback")
                }
            }
        case .refresh: context.refreshAllObjects()
        }
        refreshDescendants(of: step.context)
    }

    private func insert(_ kind: GraphReference.Kind, _ step: Step, shelf: Int?) throws {
        let context = contexts[step.context]
        let id = nextID
        nextID += 1
        let node = GraphReference.Node(kind: kind, label: "new \(step.first)", number: step.first, shelf: shelf)
        try perform([.inserted(id, node)], step.context) {
            let object = NSEntityDescription.insertNewObject(forEntityName: Self.names[kind.rawValue], into: context)
            object.setValue(id, forKey: "uid")
            object.setValue(node.label, forKey: "label")
            object.setValue(node.number, forKey: "number")
            if let shelf { object.setValue(try self.object(shelf, in: context), forKey: "shelf") }
        }
    }

    private func move(_ step: Step, _ id: Int?, _ target: Int?, _ view: GraphReference.View) throws {
        guard let id, let node = view[id] else { return }
        let shelf = step.second % 4 == 0 ? nil : target
        if shelf == node.shelf { return }
        if let former = node.shelf, !reference.isFree(former, for: step.context) { return }
        let context = contexts[step.context]
        try perform([.set(id, .shelf, from: .shelf(node.shelf), to: .shelf(shelf))], step.context) {
            try object(id, in: context).setValue(try shelf.map { try object($0, in: context) }, forKey: "shelf")
        }
    }

    /// Makes changes that are undone together.
    private func perform(_ changes: [GraphReference.Change], _ index: Int, _ body: () throws -> Void) throws {
        reference.perform(changes, in: index)
        managers[index]?.beginUndoGrouping()
        defer { managers[index]?.endUndoGrouping() }
        try body()
        contexts[index].processPendingChanges()
    }

    private func undoOrRedo(_ step: Step, isUndo: Bool) {
        let index = step.context
        guard let manager = managers[index] else { return }
        if isUndo ? reference.canUndo(index) : reference.canRedo(index) {
            if isUndo { contexts[index].undo() } else { contexts[index].redo() }
            if isUndo { reference.undo(index) } else { reference.redo(index) }
            if isUndo { undoneCount += 1 } else { redoneCount += 1 }
        } else if step.first % 16 == 0 {
            // What others have done since may be in the way.
            manager.removeAllActions()
            reference.forgetUndo(index)
        }
    }

    private func save(_ index: Int, merging: Bool) throws {
        let context = contexts[index]
        // What a child saves is not to be undone by its parent here.
        let parentManager = reference.parents[index].flatMap { managers[$0] }
        parentManager?.disableUndoRegistration()
        defer { parentManager?.enableUndoRegistration() }
        try context.save()
        reference.save(index)
        if context.hasChanges { throw Difference(description: "changes after a save") }
        guard reference.parents[index] == nil else { return }
        for other in contexts.indices where other != index && reference.parents[other] == nil {
            if merging, contexts[other].persistentStoreCoordinator === context.persistentStoreCoordinator,
                let notification = saves[index].all.last
            {
                contexts[other].mergeChanges(fromContextDidSave: notification)
            } else {
                contexts[other].refreshAllObjects()
            }
            refreshDescendants(of: other)
        }
    }

    private func refreshDescendants(of index: Int) {
        for other in reference.descendants(of: index).sorted() { contexts[other].refreshAllObjects() }
    }

    // MARK: - Comparing

    private func object(_ id: Int, in context: NSManagedObjectContext) throws -> NSManagedObject {
        for name in Self.names {
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            request.predicate = NSPredicate(format: "uid == %@", argumentArray: [id])
            if let found = try context.fetch(request).first { return found }
        }
        throw Difference(description: "no object \(id) is fetched")
    }

    /// Compares what each context shows with what it should.
    func check() throws {
        for index in contexts.indices { try check(contexts[index], reference.view(index), "context \(index)") }
    }

    /// Compares what the store has, for a context that knows nothing.
    func checkStore() throws {
        let fresh = try #require(contexts[0].persistentStoreCoordinator).newContext()
        try check(fresh, reference.store, "the store")
    }

    private func check(_ context: NSManagedObjectContext, _ view: GraphReference.View, _ place: String) throws {
        var found: GraphReference.View = [:]
        var members: [Int: Set<Int>] = [:]
        func ids(_ value: Any?) -> Set<Int> {
            Set((value as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "uid") as? Int })
        }
        for (kind, name) in Self.names.enumerated() {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)) {
                guard let id = object.value(forKey: "uid") as? Int, let kind = GraphReference.Kind(rawValue: kind)
                else {
                    throw Difference(description: "\(place) has an object without a number: \(object)")
                }
                var node = GraphReference.Node(
                    kind: kind, label: object.value(forKey: "label") as? String ?? "",
                    number: object.value(forKey: "number") as? Int ?? -1)
                switch kind {
                case .item:
                    node.shelf = (object.value(forKey: "shelf") as? NSManagedObject)?.value(forKey: "uid") as? Int
                    node.tags = ids(object.value(forKey: "tags"))
                case .shelf, .tag: members[id] = ids(object.value(forKey: "items"))
                }
                if found[id] != nil { throw Difference(description: "\(place) has object \(id) twice") }
                found[id] = node
            }
        }
        for id in Set(found.keys).union(view.keys).sorted() where found[id] != view[id] {
            throw Difference(
                description: "\(place) has object \(id) as \(found[id].map { "\($0)" } ?? "missing"), and should have "
                    + (view[id].map { "\($0)" } ?? "none"))
        }
        for (id, node) in view where node.kind != .item {
            let wanted = Set(view.filter { $0.value.shelf == id || $0.value.tags.contains(id) }.keys)
            if members[id] != wanted {
                throw Difference(
                    description:
                        "\(place) has \(members[id, default: []].sorted()) in \(id), and should have \(wanted.sorted())"
                )
            }
        }
    }
}
