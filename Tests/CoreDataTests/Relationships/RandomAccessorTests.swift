import CoreData
import TestSupport
import Testing

/// Relationships changed at random by accessors written by hand, by primitive sets and by generated
/// accessors, compared with plain lists.
struct RandomAccessorTests {
    @Test(arguments: StoreKind.allCases, 1...(LongTests.areEnabled ? 80 : 2))
    func bothSidesAreWhatPlainListsSay(_ kind: StoreKind, _ seed: Int) throws {
        for isChild in [false, true] {
            let run = try AccessorRun(kind, isChild: isChild, seed: UInt64(seed))
            for step in 0..<120 {
                try run.doSomething()
                if let problem = run.problem {
                    Issue.record(
                        """
                        seed \(seed), child \(isChild), step \(step): \(problem)
                        \(run.log.suffix(25).joined(separator: "\n"))
                        """
                    )
                    return
                }
            }
        }
    }
}

/// A relationship from owners to items, and its inverse.
private struct Bond {
    let forward: String
    let back: String
    var isToMany = true
    var isOrdered = false
    var backIsToMany = false

    static let all = [
        Bond(forward: "items", back: "owner"),
        Bond(forward: "queue", back: "line", isOrdered: true),
        Bond(forward: "alpha", back: "zeta", backIsToMany: true),
        Bond(forward: "yota", back: "beta", backIsToMany: true),
        Bond(forward: "ranked", back: "ranks", isOrdered: true, backIsToMany: true),
        Bond(forward: "chief", back: "heads", isToMany: false),
    ]
}

/// The expected relationships: the items of each owner, by the forward name.
private struct Reference: Equatable {
    private(set) var members: [String: [[Int]]] = [:]

    init(owners: Int) { for bond in Bond.all { members[bond.forward] = Array(repeating: [], count: owners) } }

    func items(_ bond: Bond, of owner: Int) -> [Int] { members[bond.forward]?[owner] ?? [] }

    func owners(_ bond: Bond, of item: Int) -> [Int] {
        (members[bond.forward] ?? []).indices.filter { items(bond, of: $0).contains(item) }
    }

    private mutating func set(_ bond: Bond, _ owner: Int, _ items: [Int]) { members[bond.forward]?[owner] = items }

    mutating func link(_ bond: Bond, _ owner: Int, _ item: Int, at index: Int? = nil) {
        var items = items(bond, of: owner)
        if items.contains(item) { return }
        if !bond.backIsToMany { for other in owners(bond, of: item) { unlink(bond, other, item) } }
        if !bond.isToMany { items = [] }
        items.insert(item, at: index ?? items.count)
        set(bond, owner, items)
    }

    mutating func unlink(_ bond: Bond, _ owner: Int, _ item: Int) {
        set(bond, owner, items(bond, of: owner).filter { $0 != item })
    }

    mutating func setItems(_ bond: Bond, of owner: Int, _ wanted: [Int]) {
        for item in items(bond, of: owner) where !wanted.contains(item) { unlink(bond, owner, item) }
        for item in wanted { link(bond, owner, item) }
        set(bond, owner, wanted)
    }

    mutating func setOwners(_ bond: Bond, of item: Int, _ wanted: [Int]) {
        for owner in owners(bond, of: item) where !wanted.contains(owner) { unlink(bond, owner, item) }
        for owner in wanted { link(bond, owner, item) }
    }
}

private final class AccessorRun {
    private var generator: SeededGenerator
    private let folder: TemporaryFolder
    private let coordinator: NSPersistentStoreCoordinator
    private let root: NSManagedObjectContext
    private let context: NSManagedObjectContext
    private let manager = UndoManager()
    private var owners: [NSManagedObject] = []
    private var items: [NSManagedObject] = []
    private var now = Reference(owners: 3)
    private var saved = Reference(owners: 3)
    private(set) var problem: String?
    private(set) var log: [String] = []

    init(_ kind: StoreKind, isChild: Bool, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject", [NSAttributeDescription("name", .integer32AttributeType)])
        let owner = NSEntityDescription(
            "Owner", class: "NSManagedObject", [NSAttributeDescription("name", .integer32AttributeType)])
        for bond in Bond.all {
            relate(
                owner, bond.forward, toMany: bond.isToMany, ordered: bond.isOrdered, item, inverse: bond.back,
                inverseToMany: bond.backIsToMany)
        }
        folder = try TemporaryFolder()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([item, owner]))
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(folder.file("store.sqlite")))
        root = coordinator.newContext()
        if isChild {
            context = root.newChild()
        } else {
            context = root
        }
        owners = (0..<3).map { context.insert("Owner", ["name": $0]) }
        items = (0..<5).map { context.insert("Item", ["name": $0]) }
        // Some of the run meets objects that were never saved.
        if seed % 3 != 0 { try save() }
        manager.groupsByEvent = false
        if seed % 2 == 0 { context.undoManager = manager }
    }

    private func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
    private func chance(_ percent: Int) -> Bool { random(0..<100) < percent }

    private func save() throws {
        try context.save()
        if context !== root { try root.save() }
        saved = now
    }

    // MARK: Accessors

    private enum Style: CaseIterable { case byHand, byPrimitiveSet, generated }

    /// Changes a property as a template does, once or with doubled announcements.
    private func announced(_ object: NSManagedObject, _ key: String, _ body: () -> Void) {
        let isDoubled = chance(20)
        object.willChangeValue(forKey: key)
        if isDoubled { object.willChangeValue(forKey: key) }
        body()
        object.didChangeValue(forKey: key)
        if isDoubled { object.didChangeValue(forKey: key) }
    }

    private func set(
        _ object: NSManagedObject, _ key: String, _ style: Style, _ value: Any?, isChangedBefore: Any?? = nil
    ) {
        if style == .generated { return object.setValue(value, forKey: key) }
        announced(object, key) {
            if let before = isChangedBefore { object.setPrimitiveValue(before, forKey: key) }
            object.setPrimitiveValue(value, forKey: key)
        }
    }

    private func add(
        _ member: NSManagedObject, to object: NSManagedObject, _ key: String, isOrdered: Bool, _ style: Style,
        at index: Int?
    ) {
        func view(_ isPrimitive: Bool) -> Any? {
            if isPrimitive { return object.primitiveValue(forKey: key) }
            return isOrdered ? object.mutableOrderedSetValue(forKey: key) : object.mutableSetValue(forKey: key)
        }
        func add(_ view: Any?) {
            if let set = view as? NSMutableOrderedSet {
                if let index { set.insert(member, at: index) } else { set.add(member) }
            } else {
                (view as? NSMutableSet)?.add(member)
            }
        }
        switch style {
        case .generated: add(view(false))
        case .byHand:
            announced(object, key) {
                object.willAccessValue(forKey: key)
                let copy = ((object.primitiveValue(forKey: key) as? NSObject)?.mutableCopy())
                add(copy)
                object.setPrimitiveValue(copy, forKey: key)
            }
        case .byPrimitiveSet:
            object.willChangeValue(forKey: key, withSetMutation: .union, using: [member])
            add(view(true))
            object.didChangeValue(forKey: key, withSetMutation: .union, using: [member])
        }
    }

    private func remove(
        _ member: NSManagedObject, from object: NSManagedObject, _ key: String, isOrdered: Bool, _ style: Style
    ) {
        if style == .generated {
            if isOrdered { return object.mutableOrderedSetValue(forKey: key).remove(member) }
            return object.mutableSetValue(forKey: key).remove(member)
        }
        object.willChangeValue(forKey: key, withSetMutation: .minus, using: [member])
        let set = object.primitiveValue(forKey: key)
        if style == .byHand {
            let copy = (set as? NSObject)?.mutableCopy()
            if let copy = copy as? NSMutableOrderedSet {
                copy.remove(member)
            } else {
                (copy as? NSMutableSet)?.remove(member)
            }
            object.setPrimitiveValue(copy, forKey: key)
        } else if let set = set as? NSMutableOrderedSet {
            set.remove(member)
        } else {
            (set as? NSMutableSet)?.remove(member)
        }
        object.didChangeValue(forKey: key, withSetMutation: .minus, using: [member])
    }

    private func changeRelationship() {
        let bond = Bond.all[random(0..<Bond.all.count)]
        let (owner, item) = (random(0..<owners.count), random(0..<items.count))
        guard let style = Style.allCases.randomElement(using: &generator) else { return }
        let (ownerObject, itemObject) = (owners[owner], items[item])
        let name = "\(style) \(bond.forward)/\(bond.back) owner \(owner) item \(item)"
        switch random(0..<7) {
        case 0, 1:
            guard bond.isToMany else { fallthrough }
            let index = bond.isOrdered && chance(50) ? random(0..<now.items(bond, of: owner).count + 1) : nil
            log.append("add item \(name) at \(index ?? -1)")
            add(itemObject, to: ownerObject, bond.forward, isOrdered: bond.isOrdered, style, at: index)
            now.link(bond, owner, item, at: index)
        case 2:
            guard bond.isToMany else { fallthrough }
            log.append("remove item \(name)")
            remove(itemObject, from: ownerObject, bond.forward, isOrdered: bond.isOrdered, style)
            now.unlink(bond, owner, item)
        case 3:
            let wanted = Array(items.indices.shuffled(using: &generator).prefix(random(0..<(bond.isToMany ? 4 : 2))))
            log.append("set items \(name) to \(wanted)")
            if bond.isToMany {
                let objects = wanted.map { items[$0] }
                let value: NSObject = bond.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
                set(ownerObject, bond.forward, style, value, isChangedBefore: chance(20) ? .some(.some(NSSet())) : nil)
            } else {
                set(
                    ownerObject, bond.forward, style, wanted.first.map { items[$0] },
                    isChangedBefore: chance(20) ? .some(nil) : nil)
            }
            now.setItems(bond, of: owner, wanted)
        case 4:
            guard bond.backIsToMany else { fallthrough }
            log.append("add owner \(name)")
            add(ownerObject, to: itemObject, bond.back, isOrdered: false, style, at: nil)
            now.link(bond, owner, item)
        case 5:
            guard bond.backIsToMany else { fallthrough }
            log.append("remove owner \(name)")
            remove(ownerObject, from: itemObject, bond.back, isOrdered: false, style)
            now.unlink(bond, owner, item)
        default:
            let wanted = owners.indices.shuffled(using: &generator).prefix(random(0..<(bond.backIsToMany ? 3 : 2)))
                .sorted()
            log.append("set owners \(name) to \(wanted)")
            if bond.backIsToMany {
                set(itemObject, bond.back, style, NSSet(array: wanted.map { owners[$0] }))
            } else {
                set(
                    itemObject, bond.back, style, wanted.first.map { owners[$0] },
                    isChangedBefore: chance(20) ? .some(nil) : nil)
            }
            now.setOwners(bond, of: item, wanted)
        }
    }

    // MARK: Steps

    func doSomething() throws {
        switch random(0..<20) {
        case 0..<13: try change()
        case 13:
            log.append("refresh one, keeping changes")
            context.processPendingChanges()
            context.refresh((owners + items)[random(0..<owners.count + items.count)], mergeChanges: true)
        case 14:
            log.append("roll back")
            if owners[0].isInserted || owners[0].objectID.isTemporaryID { return }
            context.rollback()
            now = saved
        case 15:
            log.append("refresh all")
            context.processPendingChanges()
            context.refreshAllObjects()
        case 16, 17:
            log.append("save")
            try save()
            check("the saving context")
            let other = coordinator.newContext()
            try withExtendedLifetime(other) {
                check("another context", try fetched("Owner", other), try fetched("Item", other))
            }
            if chance(70) { context.refreshAllObjects() }
        default: check("the context")
        }
    }

    private func change() throws {
        guard context.undoManager != nil else { return changeRelationship() }
        let before = now
        context.processPendingChanges()
        manager.beginUndoGrouping()
        for _ in 0..<random(1..<4) { changeRelationship() }
        context.processPendingChanges()
        manager.endUndoGrouping()
        guard chance(40) else { return }
        let after = now
        log.append("undo")
        context.undo()
        now = before
        if chance(50) { check("what was undone") }
        // Of a group that changed nothing there is nothing to redo, but what was undone before it
        // may be.
        guard chance(50), before != after else { return }
        log.append("redo")
        context.redo()
        now = after
        check("what was done again")
    }

    // MARK: Checks

    private func fetched(_ entity: String, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.objects(entity).sorted {
            $0.value(forKey: "name") as? Int ?? 0 < $1.value(forKey: "name") as? Int ?? 0
        }
    }

    private func check(_ who: String) { check(who, owners, items) }

    private func check(_ who: String, _ owners: [NSManagedObject], _ items: [NSManagedObject]) {
        if problem != nil { return }
        guard owners.count == self.owners.count, items.count == self.items.count else {
            problem = "\(who) has \(owners.count) owners and \(items.count) items"
            return
        }
        func names(_ object: NSManagedObject, _ key: String, isOrdered: Bool) -> [Int] {
            let objects: [Any]
            switch object.value(forKey: key) {
            case let set as NSOrderedSet: objects = set.array
            case let set as NSSet: objects = set.allObjects
            case let object?: objects = [object]
            case nil: objects = []
            }
            let names = objects.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? Int ?? -1 }
            return isOrdered ? names : names.sorted()
        }
        for bond in Bond.all {
            for (index, owner) in owners.enumerated() {
                let found = names(owner, bond.forward, isOrdered: bond.isOrdered)
                let wanted = now.items(bond, of: index)
                if found != (bond.isOrdered ? wanted : wanted.sorted()) {
                    problem = "\(who): owner \(index) has \(bond.forward) \(found), not \(wanted)"
                }
            }
            for (index, item) in items.enumerated() {
                let found = names(item, bond.back, isOrdered: false)
                if found != now.owners(bond, of: index) {
                    problem = "\(who): item \(index) has \(bond.back) \(found), not \(now.owners(bond, of: index))"
                }
            }
        }
    }
}
