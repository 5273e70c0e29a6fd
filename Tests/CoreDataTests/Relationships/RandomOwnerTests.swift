import CoreData
import TestSupport
import Testing

/// To-many relationships without an inverse under random changes by several contexts, compared with
/// a plain table of owners.
struct RandomOwnerTests {
    struct Arena {
        /// Where the kind allows it, one of the contexts has a coordinator of its own on the store.
        let kind: StoreKind
        let isOrdered: Bool

        static let all = StoreKind.allCases.flatMap { kind in [false, true].map { Arena(kind: kind, isOrdered: $0) } }
    }

    @Test(arguments: Arena.all, 1...(LongTests.areEnabled ? 60 : 2))
    func everyItemHasTheOwnerThatClaimedItLast(_ arena: Arena, _ seed: Int) throws {
        let run = try OwnerRun(arena, seed: UInt64(seed))
        for step in 0..<150 {
            try run.doSomething()
            if let problem = try run.problem() {
                Issue.record("seed \(seed), step \(step): \(problem)")
                return
            }
        }
    }
}

private final class OwnerRun {
    /// A context with what it sees: the members of each box when it was last refreshed, and now.
    private final class Player {
        let context: NSManagedObjectContext
        var base: [String: Set<String>] = [:]
        var view: [String: Set<String>] = [:]
        /// The members in order when it was last refreshed, and the boxes that have gained or lost
        /// any since.
        var baseOrder: [String: [String]] = [:]
        var touchedBoxes: Set<String> = []
        var items: Set<String> = []
        var deletedBoxes: Set<String> = []
        var deletedItems: Set<String> = []
        var newBoxes: Set<String> = []
        var newItems: Set<String> = []
        var objects: [String: NSManagedObject] = [:]

        init(_ context: NSManagedObjectContext) { self.context = context }

        var touchedItems: Set<String> { Set(view.flatMap { $1.symmetricDifference(base[$0] ?? []) }) }
    }

    private var generator: SeededGenerator
    private let ordered: Bool
    private let folder: TemporaryFolder
    /// The store as its database's own library reads it; nil for a store in memory.
    private let tables: StoreTables?
    /// The columns of the items' box and of their places in it.
    private let key: String
    private let position: String
    private let coordinators: [NSPersistentStoreCoordinator]
    private var players: [Player] = []
    private var serial = 0
    /// The saved state: all boxes, and the owner of each item, `-` where it has none.
    private var boxes: Set<String> = []
    private var owners: [String: Set<String>] = [:]

    init(_ arena: RandomOwnerTests.Arena, seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        ordered = arena.isOrdered
        folder = try TemporaryFolder()
        let (kind, file) = (arena.kind, folder.file("store.sqlite"))
        (key, position) = kind == .sqlite ? ("Z1ITEMS", "Z_FOK_1ITEMS") : ("box_items_id", "box_items_pos")
        coordinators = try (0..<(kind == .inMemory ? 1 : 2)).map { _ in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: OwnerRun.model(arena.isOrdered))
            try coordinator.addPersistentStore(ofType: kind.type, configurationName: nil, at: kind.url(file))
            return coordinator
        }
        tables = kind == .inMemory ? nil : StoreTables(kind, file)
        for number in 0..<3 {
            let context = coordinators[number == 2 ? coordinators.count - 1 : 0].newContext()
            context.mergePolicy = NSMergePolicy(
                merge: number == 1 ? .overwriteMergePolicyType : .mergeByPropertyObjectTrumpMergePolicyType)
            players.append(Player(context))
        }
        let first = players[0]
        for name in ["A", "B", "C"] { try insertBox(name, first) }
        for _ in 0..<6 { try insertItem(first) }
        try save(first)
        for player in players { try look(player) }
    }

    private static func model(_ ordered: Bool) -> NSManagedObjectModel {
        let item = NSEntityDescription(
            "Item", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType)])
        let items = NSRelationshipDescription("items", to: item, toMany: true)
        items.isOrdered = ordered
        let box = NSEntityDescription(
            "Box", class: "NSManagedObject", [NSAttributeDescription("name", .stringAttributeType), items])
        return NSManagedObjectModel([box, item])
    }

    private func random(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    private func name(_ object: NSManagedObject) -> String { object.value(forKey: "name") as? String ?? "nil" }

    private func members(_ box: NSManagedObject) -> [String] {
        switch box.value(forKey: "items") {
        case let set as NSOrderedSet: set.compactMap { ($0 as? NSManagedObject).map(name) }
        case let set as Set<NSManagedObject>: set.map(name)
        default: ["?"]
        }
    }

    // MARK: Moves

    private func look(_ player: Player) throws {
        player.context.refreshAllObjects()
        (player.view, player.objects, player.items) = ([:], [:], [])
        (player.baseOrder, player.touchedBoxes) = ([:], [])
        for box in try player.context.objects("Box") {
            let members = members(box)
            player.view[name(box)] = Set(members)
            player.baseOrder[name(box)] = members
            player.objects[name(box)] = box
        }
        for item in try player.context.objects("Item") {
            player.items.insert(name(item))
            player.objects[name(item)] = item
        }
        player.base = player.view
        (player.deletedBoxes, player.deletedItems, player.newBoxes, player.newItems) = ([], [], [], [])
    }

    private func insertBox(_ name: String, _ player: Player) throws {
        player.objects[name] = player.context.insert("Box", ["name": name])
        player.view[name] = []
        player.newBoxes.insert(name)
    }

    private func insertItem(_ player: Player) throws {
        serial += 1
        let name = "i\(serial)"
        player.objects[name] = player.context.insert("Item", ["name": name])
        player.items.insert(name)
        player.newItems.insert(name)
    }

    private func setMember(_ item: String, of box: String, _ isMember: Bool, _ player: Player) {
        guard let owner = player.objects[box], let object = player.objects[item] else { return }
        player.touchedBoxes.insert(box)
        if ordered {
            let set = owner.mutableOrderedSetValue(forKey: "items")
            if !isMember { set.remove(object) } else { set.insert(object, at: random(0..<set.count + 1)) }
        } else {
            let set = owner.mutableSetValue(forKey: "items")
            if isMember { set.add(object) } else { set.remove(object) }
        }
        if isMember { player.view[box]?.insert(item) } else { player.view[box]?.remove(item) }
    }

    func doSomething() throws {
        let player = players[random(0..<players.count)]
        let box = player.view.keys.sorted().randomElement(using: &generator)
        let item = player.items.sorted().randomElement(using: &generator)
        switch random(0..<16) {
        case 0..<5:
            guard let box, let item, player.view[box]?.contains(item) == false else { return }
            setMember(item, of: box, true, player)
        case 5..<8:
            guard let box, let member = player.view[box]?.sorted().randomElement(using: &generator) else { return }
            setMember(member, of: box, false, player)
        case 8: if player.items.count < 9 { try insertItem(player) }
        case 9:
            if player.view.count < 4 {
                serial += 1
                try insertBox("b\(serial)", player)
            }
        case 10:
            guard let box, !player.newBoxes.contains(box), player.view[box] == player.base[box],
                let object = player.objects[box]
            else { return }
            player.context.delete(object)
            player.view[box] = nil
            player.deletedBoxes.insert(box)
        case 11:
            guard let item, !player.newItems.contains(item), !player.touchedItems.contains(item),
                let object = player.objects[item]
            else { return }
            player.context.delete(object)
            player.items.remove(item)
            for key in player.view.keys where player.view[key]?.remove(item) != nil { player.base[key]?.remove(item) }
            player.deletedItems.insert(item)
        case 12:
            player.context.rollback()
            try look(player)
        default:
            try save(player)
            try look(player)
        }
    }

    /// Whether a box has lost members and got them back in another order, which is a change as
    /// well.
    private func isReordered(_ box: String, _ player: Player) -> Bool {
        guard ordered, player.touchedBoxes.contains(box), let object = player.objects[box], let view = player.view[box]
        else { return false }
        return members(object) != player.baseOrder[box]?.filter(view.contains)
    }

    private func save(_ player: Player) throws {
        let reordered = player.view.keys.filter { isReordered($0, player) }
        try player.context.save()
        for item in player.deletedItems { owners[item] = nil }
        for box in player.deletedBoxes where boxes.remove(box) != nil { release(box) }
        for item in player.newItems { owners[item] = ["-"] }
        boxes.formUnion(player.newBoxes)
        var claims: [String: Set<String>] = [:]
        for (box, view) in player.view {
            let base = player.base[box] ?? []
            // A box that others deleted comes back with what was changed in it.
            if view != base || reordered.contains(box), boxes.insert(box).inserted { release(box) }
            for item in base.subtracting(view) where owners[item]?.contains(box) == true { owners[item] = ["-"] }
            for item in view.subtracting(base) where owners[item] != nil { claims[item, default: []].insert(box) }
        }
        owners.merge(claims) { $1 }
        // Where several claimed one item in one save, either is right.
        let found = try state().owners
        for (item, claimed) in claims where claimed.count > 1 {
            if let owner = found[item], claimed.isSuperset(of: owner) { owners[item] = owner }
        }
    }

    private func release(_ box: String) {
        for (item, owner) in owners where owner == [box] { owners[item] = ["-"] }
    }

    // MARK: Checks

    /// The store's content: read with the database's own library, or by a fresh context for a store
    /// in memory.
    private func state() throws -> (boxes: Set<String>, owners: [String: Set<String>]) {
        var owners: [String: Set<String>] = [:]
        if let tables {
            let rows = tables.rows(
                "SELECT i.{name}, coalesce(b.{name}, CAST(i.\(key) AS text)) FROM {item} i LEFT JOIN {box} b ON "
                    + "b.{id} = i.\(key)"
            )
            for row in rows { owners[row[0] ?? "?"] = [row[1] ?? "-"] }
            return (Set(tables.column("SELECT {name} FROM {box}").compactMap { $0 }), owners)
        }
        return try contextState()
    }

    private func contextState() throws -> (boxes: Set<String>, owners: [String: Set<String>]) {
        let context = coordinators[0].newContext()
        return try withExtendedLifetime(context) {
            var owners: [String: Set<String>] = [:]
            for item in try context.objects("Item") { owners[name(item)] = [] }
            var boxes: Set<String> = []
            for box in try context.objects("Box") {
                boxes.insert(name(box))
                for member in members(box) { owners[member, default: ["no row"]].insert(name(box)) }
            }
            return (boxes, owners.mapValues { $0.isEmpty ? ["-"] : $0 })
        }
    }

    func problem() throws -> String? {
        let states = try [state(), contextState()]
        for (index, found) in states.enumerated() {
            let who = index == 0 ? "the store" : "a fresh context"
            if found.boxes != boxes { return "\(who) has the boxes \(found.boxes.sorted()), not \(boxes.sorted())" }
            if found.owners != owners {
                let wrong = Set(found.owners.keys).union(owners.keys).filter { found.owners[$0] != owners[$0] }.sorted()
                let gone: Set<String> = ["gone"]
                return "\(who) has "
                    + wrong.map { "\($0) in \(found.owners[$0] ?? gone), not \(owners[$0] ?? gone)" }.joined(
                        separator: "; ")
            }
        }
        if ordered, let tables {
            let same = tables.value(
                "SELECT count(*) - count(DISTINCT \(key) || ' ' || \(position)) FROM {item} WHERE \(key) IS NOT NULL")
            if same != "0" { return "\(same ?? "?") items have the place of another one, or none" }
        }
        // What a context has changed is in it until it is saved or taken back.
        for player in players {
            for (box, view) in player.view {
                let added = view.subtracting(player.base[box] ?? [])
                guard !added.isEmpty, let object = player.objects[box], !object.isDeleted else { continue }
                if !added.isSubset(of: members(object)) {
                    return "an unsaved member of \(box) is lost: \(added.sorted()), \(members(object))"
                }
            }
        }
        return nil
    }
}
