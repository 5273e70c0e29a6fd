import CoreData

/// A random program of a few contexts that know little of each other: they change, save, merge,
/// refresh and delete objects of a random model, with all merge policies. After each save both ends
/// of every relationship have to agree in the store.
public final class StaleContexts {
    /// One step: what it does, and the numbers by which it chooses among what there is.
    public struct Step: CustomStringConvertible, Sendable {
        public enum Kind: Int, CaseIterable, Sendable {
            case insert, delete, rename, setOne, add, remove, place, replace, read, refresh, reread, refreshAll,
                rollback, save, saveChild,
                merge
        }
        /// How often each comes up.
        private static let weights: [Kind: Int] = [
            .insert: 6, .delete: 7, .rename: 6, .setOne: 14, .add: 12, .remove: 6, .place: 6, .replace: 4, .read: 6,
            .refresh: 4,
            .reread: 4,
            .refreshAll: 2, .rollback: 1, .save: 16, .saveChild: 6, .merge: 4,
        ]
        private static let choice = Kind.allCases.flatMap { kind in Array(repeating: kind, count: weights[kind] ?? 0) }

        public let kind: Kind
        public let numbers: [Int]

        public init(using random: inout SeededGenerator) {
            kind = Self.choice.randomElement(using: &random) ?? .save
            numbers = (0..<6).map { _ in Int(random.next() >> 33) }
        }

        public var description: String { "\(kind) \(numbers.map(String.init).joined(separator: " "))" }
    }

    public struct Problem: Error, CustomStringConvertible {
        public let description: String
    }

    public let kind: StoreKind
    private let model: StaleModel
    private let folder: TemporaryFolder
    private let coordinator: NSPersistentStoreCoordinator
    private var others: [NSPersistentStoreCoordinator] = []
    /// The contexts of the coordinators, and the children of some.
    private var roots: [NSManagedObjectContext] = []
    private var children: [NSManagedObjectContext] = []
    private var serial = 0
    /// The IDs of what was saved last.
    private var saved: [AnyHashable: Any] = [:]
    /// The outcomes of the steps, for readers of a failure.
    private var log: [String] = []

    /// - Parameter seed: chooses the model, the contexts and their policies.
    public init(_ kind: StoreKind, seed: UInt64) throws {
        self.kind = kind
        var random = SeededGenerator(seed: seed)
        model = StaleModel(using: &random)
        folder = try TemporaryFolder()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.make())
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
        log.append("model \(model)")
        let count = Int.random(in: 2...3, using: &random)
        for index in 0..<count {
            var own = coordinator
            if kind.isDatabase, index > 0, Int.random(in: 0..<3, using: &random) == 0 {
                own = NSPersistentStoreCoordinator(managedObjectModel: model.make())
                try own.addPersistentStore(
                    ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
                others.append(own)
            }
            let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
            context.persistentStoreCoordinator = own
            let policies: [NSMergePolicy] = [
                .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
            ]
            let policy = policies[Int.random(in: 0..<4, using: &random)]
            context.mergePolicy = policy
            context.retainsRegisteredObjects = Int.random(in: 0..<3, using: &random) > 0
            context.automaticallyMergesChangesFromParent = Int.random(in: 0..<4, using: &random) == 0
            roots.append(context)
            var text = "context \(index): \(policy.mergeType)\(own === coordinator ? "" : ", own coordinator")"
            if context.retainsRegisteredObjects { text += ", retains" }
            if context.automaticallyMergesChangesFromParent { text += ", merges" }
            if Int.random(in: 0..<3, using: &random) == 0 {
                let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
                child.parent = context
                child.mergePolicy = policies[Int.random(in: 0..<4, using: &random)]
                child.retainsRegisteredObjects = true
                children.append(child)
                text += ", has a child"
            }
            log.append(text)
        }
        for _ in 0..<6 { insert(roots[0]) }
        try roots[0].save()
    }

    // MARK: Objects

    private func objects(_ context: NSManagedObjectContext, _ entity: String) -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        let found = (try? context.fetch(request)) ?? []
        return found.filter { !$0.isDeleted && $0.managedObjectContext != nil }
            .map { (($0.value(forKey: "key") as? String) ?? "", $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func object(_ context: NSManagedObjectContext, _ entity: String, _ number: Int) -> NSManagedObject? {
        let all = objects(context, entity)
        return all.isEmpty ? nil : all[number % all.count]
    }

    private func name(_ object: NSManagedObject?) -> String { (object?.value(forKey: "key") as? String) ?? "nil" }

    @discardableResult
    private func insert(_ context: NSManagedObjectContext, _ number: Int = 0) -> NSManagedObject {
        serial += 1
        let entities = model.concreteEntities
        let entity = entities[(number + serial) % entities.count]
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue("\(entity.lowercased())\(serial < 10 ? "0" : "")\(serial)", forKey: "key")
        return object
    }

    // MARK: Steps

    public func take(_ step: Step) throws {
        let numbers = step.numbers
        let all = roots + children
        let context = all[numbers[0] % all.count]
        let place = numbers[0] % all.count
        let end = model.ends[numbers[1] % model.ends.count]
        func note(_ text: String) { log.append("\(place): \(text)") }
        switch step.kind {
        case .insert:
            let new = insert(context, numbers[2])
            note("insert \(name(new))")
        case .delete:
            guard let object = object(context, model.rootEntities[numbers[2] % model.rootEntities.count], numbers[3])
            else { return }
            note("delete \(name(object))")
            context.delete(object)
            if numbers[4] % 2 == 0 { context.processPendingChanges() }
        case .rename:
            guard let object = object(context, model.rootEntities[numbers[2] % model.rootEntities.count], numbers[3])
            else { return }
            note("rename \(name(object))")
            object.setValue("n\(numbers[4] % 100)", forKey: "name")
        case .setOne, .add, .remove, .place, .replace: try relate(step, context, end, note)
        case .read:
            guard let object = object(context, end.entity, numbers[2]) else { return }
            note("read \(name(object)).\(end.name)")
            for member in RelationshipEnds.destinations(of: object, end.name) { _ = member.value(forKey: "name") }
        case .refresh, .reread:
            guard let object = object(context, end.entity, numbers[2]) else { return }
            note("\(step.kind == .refresh ? "refresh" : "reread") \(name(object))")
            context.refresh(object, mergeChanges: step.kind == .refresh)
        case .refreshAll:
            note("refresh all")
            context.refreshAllObjects()
        case .rollback:
            note("roll back")
            context.rollback()
        case .save:
            try save(context, note)
        case .saveChild:
            guard !children.isEmpty else { return }
            let child = children[numbers[1] % children.count]
            note("save child \(roots.count + numbers[1] % children.count)")
            try save(child) { _ in }
        case .merge:
            let root = roots[numbers[1] % roots.count]
            note("merge into \(numbers[1] % roots.count)")
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: saved, into: [root])
        }
    }

    private func relate(
        _ step: Step, _ context: NSManagedObjectContext, _ end: StaleModel.End, _ note: (String) -> Void
    ) throws {
        let numbers = step.numbers
        guard let source = object(context, end.entity, numbers[2]),
            let other = object(context, end.destination, numbers[3])
        else { return }
        if !end.isToMany {
            let destination = numbers[4] % 4 == 0 ? nil : other
            note("\(name(source)).\(end.name) = \(name(destination))")
            source.setValue(destination, forKey: end.name)
            return
        }
        let current = RelationshipEnds.destinations(of: source, end.name).sorted { name($0) < name($1) }
        switch step.kind {
        case .replace:
            var members: [NSManagedObject] = []
            for number in numbers[3...5] {
                if number % 3 != 0, let member = object(context, end.destination, number), !members.contains(member) {
                    members.append(member)
                }
            }
            note("\(name(source)).\(end.name) = \(members.map(name))")
            source.setValue(end.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: end.name)
        case .remove:
            guard !current.isEmpty else { return }
            let member = current[numbers[4] % current.count]
            note("\(name(source)).\(end.name) - \(name(member))")
            if end.isOrdered {
                source.mutableOrderedSetValue(forKey: end.name).remove(member)
            } else {
                source.mutableSetValue(forKey: end.name).remove(member)
            }
        case .place where end.isOrdered:
            let set = source.mutableOrderedSetValue(forKey: end.name)
            if set.contains(other) {
                let place = numbers[5] % set.count
                note("move \(name(other)) in \(name(source)).\(end.name) to \(place)")
                set.moveObjects(at: IndexSet(integer: set.index(of: other)), to: place)
            } else {
                let place = numbers[5] % (set.count + 1)
                note("insert \(name(other)) into \(name(source)).\(end.name) at \(place)")
                set.insert(other, at: place)
            }
        default:
            note("\(name(source)).\(end.name) + \(name(other))")
            if end.isOrdered {
                source.mutableOrderedSetValue(forKey: end.name).add(other)
            } else {
                source.mutableSetValue(forKey: end.name).add(other)
            }
        }
    }

    private func save(_ context: NSManagedObjectContext, _ note: (String) -> Void) throws {
        note("save")
        let notifications = NotificationLog(NSManagedObjectContext.didSaveObjectIDsNotification, from: context)
        do { try context.save() } catch {
            // A destination that the program deletes as well is refused: it gives up.
            guard
                (error as NSError).code == NSManagedObjectReferentialIntegrityError || (error as NSError).code == 1550
                    || Self.isMixed(error)
            else { throw Problem(description: "the save failed: \(error)") }
            log.append("   refused: \((error as NSError).localizedDescription)")
            context.rollback()
        }
        if let ids = notifications.all.last?.userInfo, context.parent == nil {
            saved = ids.filter { $0.value is Set<NSManagedObjectID> }
        }
        try check()
    }

    private static func isMixed(_ error: any Error) -> Bool {
        let errors = (error as NSError).userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        return !errors.isEmpty && errors.allSatisfy { $0.code == 1550 }
    }

    // MARK: Checks

    /// - Throws: `Problem` where the ends of relationships do not agree in the store.
    public func check() throws {
        let fresh = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        fresh.persistentStoreCoordinator = coordinator
        if !others.isEmpty { fresh.stalenessInterval = 0 }
        var problems = try RelationshipEnds.problems(in: fresh).map { "a fresh context: \($0)" }
        if kind == .sqlite {
            let file = SQLiteFile(folder.file("store.sqlite"))
            problems += try RelationshipEnds.problems(in: file, of: coordinator.managedObjectModel).map {
                "the file: \($0)"
            }
        }
        if !problems.isEmpty { throw Problem(description: problems.joined(separator: "\n")) }
    }

    /// The failure of a random program, with the fewest steps that show it; nil where there is
    /// none.
    public static func problem(ofProgram seed: UInt64, _ kind: StoreKind) -> String? {
        var random = SeededGenerator(seed: seed &* 7919)
        let steps = (0..<30).map { _ in Step(using: &random) }
        guard problem(of: steps, kind, seed: seed) != nil else { return nil }
        let fewest = shortestFailure(of: steps) { problem(of: $0, kind, seed: seed) != nil }
        return problem(of: fewest, kind, seed: seed)
    }

    /// The failure of a program of some steps; nil where there is none.
    static func problem(of steps: [Step], _ kind: StoreKind, seed: UInt64) -> String? {
        do {
            let program = try StaleContexts(kind, seed: seed)
            do {
                for step in steps { try program.take(step) }
                for context in program.children + program.roots {
                    try program.save(context) { _ in program.log.append("save the rest") }
                }
            } catch {
                return "\(error)\n" + program.log.joined(separator: "\n")
            }
            return nil
        } catch {
            return "\(error)"
        }
    }
}
