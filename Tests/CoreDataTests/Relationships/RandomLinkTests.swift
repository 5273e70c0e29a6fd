import CoreData
import TestSupport
import Testing

/// Relationships without an inverse, and such as are ordered on both sides, under random changes,
/// undo and redo with saves between them, compared with plain lists after each step, in the context
/// and as another coordinator reads the file.
struct RandomLinkTests {
    @Test(arguments: StoreKind.allCases.filter { $0 != .postgreSQL }, 0..<4)
    func linksAreWhatPlainListsSay(kind: StoreKind, part: Int) throws {
        for sequence in 0..<(LongTests.areEnabled ? 400 : 5) {
            let seed = UInt64(part * 100_000 + sequence)
            var random = SeededGenerator(seed: seed)
            let steps = (0..<30).map { _ in Desk.Step(using: &random) }
            guard let problem = Self.problem(of: steps, kind) else { continue }
            let report = failureReport(problem, of: steps) { Self.problem(of: $0, kind) }
            Issue.record("Sequence \(seed) on \(kind.rawValue): \(report)")
            return
        }
    }

    private static func problem(of steps: [Desk.Step], _ kind: StoreKind) -> String? {
        do {
            let desk = try Desk(kind)
            for (index, step) in steps.enumerated() {
                do { try desk.take(step) } catch {
                    return "after step \(index), \(step.kind): \(error)\n\(desk.done.joined(separator: "\n"))"
                }
            }
            return nil
        } catch { return "\(error)" }
    }
}

/// Pages and notes in a context with an undo manager, and what they should show.
private final class Desk {
    struct Step {
        enum Kind: CaseIterable {
            case insert, one, many, row, pair, pairFromNote, friends, deletePage, deleteNote, save, undo, redo, refresh
        }
        let kind: Kind
        let seed: UInt64

        init(using random: inout SeededGenerator) {
            kind = Kind.allCases.randomElement(using: &random) ?? .save
            seed = random.next()
        }
    }

    struct Page: Equatable {
        var one: String?
        var many: Set<String> = []
        var row: [String] = []
        var pairs: [String] = []
        var friends: [String] = []
    }

    /// Pages, and the orders of notes, by names.
    struct Content: Equatable {
        var pages: [String: Page] = [:]
        var notes: [String: [String]] = [:]
    }

    struct Difference: Error, CustomStringConvertible { let description: String }

    private static func model() -> NSManagedObjectModel {
        let page = NSEntityDescription("Page", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let note = NSEntityDescription("Note", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let row = NSRelationshipDescription("row", to: note, toMany: true)
        row.isOrdered = true
        let friends = NSRelationshipDescription("friends", to: page, toMany: true)
        friends.isOrdered = true
        friends.inverseRelationship = friends
        page.properties += [
            NSRelationshipDescription("one", to: note), NSRelationshipDescription("many", to: note, toMany: true), row,
            friends,
        ]
        relate(
            page, "pairs", toMany: true, ordered: true, note, inverse: "pairs", inverseToMany: true,
            inverseOrdered: true)
        return NSManagedObjectModel([page, note])
    }

    private let stack: TestStack
    private let context: NSManagedObjectContext
    private let folder: TemporaryFolder
    private let url: URL
    private var wanted = Content()
    private var undone: [Content] = []
    private var redone: [Content] = []
    private var serial = 0
    private(set) var done: [String] = []
    /// Keeps the objects that the names stand for.
    private var objects: [String: NSManagedObject] = [:]

    init(_ kind: StoreKind) throws {
        folder = try TemporaryFolder()
        url = folder.file("desk.sqlite")
        stack = try TestStack(Self.model(), url: url, kind: kind)
        context = stack.context
        // Something to begin with, in each relationship.
        for name in ["p0", "p1", "p2"] { insert("Page", name) }
        for name in ["n0", "n1", "n2", "n3"] { insert("Note", name) }
        set("p0", "row", ["n1", "n0"])
        set("p0", "many", ["n2"])
        set("p1", "one", ["n0"])
        set("n0", "pairs", ["p1", "p0"])
        set("p2", "friends", ["p1", "p0"])
        wanted.pages["p0"] = Page(many: ["n2"], row: ["n1", "n0"], pairs: ["n0"], friends: ["p2"])
        wanted.pages["p1"] = Page(one: "n0", pairs: ["n0"], friends: ["p2"])
        wanted.pages["p2"] = Page(friends: ["p1", "p0"])
        wanted.notes = ["n0": ["p1", "p0"], "n1": [], "n2": [], "n3": []]
        try context.save()
        context.undoManager = UndoManager()
        context.undoManager?.groupsByEvent = false
    }

    private func insert(_ entity: String, _ name: String) {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        objects[name] = object
    }

    private func set(_ owner: String, _ key: String, _ members: [String]) {
        let members = members.compactMap { objects[$0] }
        switch objects[owner]?.entity.relationshipsByName[key] {
        case let relationship? where relationship.isOrdered:
            objects[owner]?.setValue(NSOrderedSet(array: members), forKey: key)
        case let relationship? where relationship.isToMany: objects[owner]?.setValue(NSSet(array: members), forKey: key)
        default: objects[owner]?.setValue(members.first, forKey: key)
        }
    }

    // MARK: Steps

    func take(_ step: Step) throws {
        var random = SeededGenerator(seed: step.seed)
        switch step.kind {
        case .save:
            done.append("save")
            try context.save()
            try check(Content(stack.newContext()), "store")
            if stack.kind == .sqlite { try check(Content(TestStack(Self.model(), url: url).newContext()), "file") }
        case .undo:
            guard let former = undone.popLast() else { return }
            done.append("undo")
            redone.append(wanted)
            wanted = former
            context.undo()
        case .redo:
            guard let next = redone.popLast() else { return }
            done.append("redo")
            undone.append(wanted)
            wanted = next
            context.redo()
        case .refresh:
            if context.hasChanges { return }
            done.append("refresh")
            for object in context.registeredObjects { context.refresh(object, mergeChanges: true) }
        default:
            let former = wanted
            context.group { change(step.kind, &random) }
            if wanted == former {
                // Nothing was registered, or only what changes nothing.
                undone.removeAll()
                redone.removeAll()
                context.undoManager?.removeAllActions()
            } else {
                undone.append(former)
                redone.removeAll()
            }
        }
        context.processPendingChanges()
        try check(Content(context), "context")
    }

    private func change(_ kind: Step.Kind, _ random: inout SeededGenerator) {
        let pages = wanted.pages.keys.sorted()
        let notes = wanted.notes.keys.sorted()
        guard let page = pages.randomElement(using: &random), let note = notes.randomElement(using: &random) else {
            serial += 1
            done.append("insert p\(serial)x and n\(serial)x")
            insert("Page", "p\(serial)x")
            insert("Note", "n\(serial)x")
            wanted.pages["p\(serial)x"] = Page()
            wanted.notes["n\(serial)x"] = []
            return
        }
        done.append("\(kind) \(page) \(note)")
        switch kind {
        case .insert:
            serial += 1
            let isPage = Bool.random(using: &random)
            insert(isPage ? "Page" : "Note", isPage ? "p\(serial)x" : "n\(serial)x")
            if isPage { wanted.pages["p\(serial)x"] = Page() } else { wanted.notes["n\(serial)x"] = [] }
        case .one:
            let isNil = Bool.random(using: &random)
            set(page, "one", isNil ? [] : [note])
            wanted.pages[page]?.one = isNil ? nil : note
        case .many, .row: own(note, by: page, kind == .many ? "many" : "row", &random)
        case .pair:
            let members = notes.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))
            set(page, "pairs", Array(members))
            wanted.pages[page]?.pairs = Array(members)
            for other in notes { follow(members.contains(other), page, &wanted.notes[other, default: []]) }
        case .pairFromNote:
            let place = Int.random(in: 0...(wanted.notes[note]?.count ?? 0), using: &random)
            let set = objects[note]?.mutableOrderedSetValue(forKey: "pairs")
            if wanted.notes[note]?.contains(page) == true {
                if let object = objects[page] { set?.remove(object) }
                wanted.notes[note]?.removeAll { $0 == page }
                wanted.pages[page]?.pairs.removeAll { $0 == note }
            } else {
                if let object = objects[page] { set?.insert(object, at: place) }
                wanted.notes[note]?.insert(page, at: place)
                wanted.pages[page]?.pairs.append(note)
            }
        case .friends:
            let members = Array(pages.shuffled(using: &random).prefix(Int.random(in: 0...3, using: &random))).filter {
                $0 != page
            }
            set(page, "friends", members)
            wanted.pages[page]?.friends = members
            for other in pages where other != page {
                follow(members.contains(other), page, &wanted.pages[other, default: Page()].friends)
            }
        case .deletePage:
            if let object = objects[page] { context.delete(object) }
            wanted.pages[page] = nil
            for other in notes { wanted.notes[other]?.removeAll { $0 == page } }
            for other in pages where other != page { wanted.pages[other]?.friends.removeAll { $0 == page } }
        case .deleteNote: delete(note, &random)
        default: break
        }
    }

    /// The other side of a list: it loses a member in its place, and gets one at the end.
    private func follow(_ isMember: Bool, _ name: String, _ list: inout [String]) {
        if !isMember { list.removeAll { $0 == name } } else if !list.contains(name) { list.append(name) }
    }

    /// Gives a note to one page: a note has one owner in a relationship to many without an inverse.
    private func own(_ note: String, by page: String, _ key: String, _ random: inout SeededGenerator) {
        func remove(_ note: String, _ page: String) {
            guard let object = objects[note] else { return }
            if key == "many" {
                objects[page]?.mutableSetValue(forKey: key).remove(object)
                wanted.pages[page]?.many.remove(note)
            } else {
                objects[page]?.mutableOrderedSetValue(forKey: key).remove(object)
                wanted.pages[page]?.row.removeAll { $0 == note }
            }
        }
        for (owner, content) in wanted.pages
        where key == "many" ? content.many.contains(note) : content.row.contains(note) {
            remove(note, owner)
            if owner == page { return }
        }
        guard let object = objects[note] else { return }
        if key == "many" {
            objects[page]?.mutableSetValue(forKey: key).add(object)
            wanted.pages[page]?.many.insert(note)
        } else {
            let row = wanted.pages[page]?.row ?? []
            let place = Int.random(in: 0...row.count, using: &random)
            let set = objects[page]?.mutableOrderedSetValue(forKey: key)
            // Deleted notes are in it until the deletion is saved.
            let index = place < row.count ? objects[row[place]].flatMap { set?.index(of: $0) } : set?.count
            set?.insert(object, at: index ?? place)
            wanted.pages[page]?.row.insert(note, at: place)
        }
    }

    /// Deletes a note, and ends the references to it before or after that.
    private func delete(_ note: String, _ random: inout SeededGenerator) {
        guard let object = objects[note] else { return }
        let endsFirst = Bool.random(using: &random)
        if !endsFirst { context.delete(object) }
        if !endsFirst, Bool.random(using: &random) { context.processPendingChanges() }
        for page in wanted.pages.keys.sorted() {
            if wanted.pages[page]?.one == note {
                objects[page]?.setValue(nil, forKey: "one")
                wanted.pages[page]?.one = nil
            }
            wanted.pages[page]?.many.remove(note)
            wanted.pages[page]?.row.removeAll { $0 == note }
            wanted.pages[page]?.pairs.removeAll { $0 == note }
        }
        if endsFirst { context.delete(object) }
        wanted.notes[note] = nil
    }

    private func check(_ found: Content, _ place: String) throws {
        if found == wanted { return }
        throw Difference(description: "the \(place) has \(found.text), but should have \(wanted.text)")
    }
}

extension Desk.Content {
    /// The objects of a context, without those that are about to be deleted.
    init(_ context: NSManagedObjectContext) throws {
        func names(_ value: Any?) -> [String] {
            ((value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []).compactMap {
                guard let object = $0 as? NSManagedObject, !object.isDeleted else { return nil }
                return object.value(forKey: "name") as? String ?? "nil"
            }
        }
        for page in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Page")) {
            let one = page.value(forKey: "one") as? NSManagedObject
            pages[page.value(forKey: "name") as? String ?? "nil"] = Desk.Page(
                one: one.map { $0.value(forKey: "name") as? String ?? "nil" },
                many: Set(names(page.value(forKey: "many"))),
                row: names(page.value(forKey: "row")), pairs: names(page.value(forKey: "pairs")),
                friends: names(page.value(forKey: "friends")))
        }
        for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
            notes[note.value(forKey: "name") as? String ?? "nil"] = names(note.value(forKey: "pairs"))
        }
    }

    fileprivate var text: String {
        let pages = pages.sorted { $0.key < $1.key }.map { name, page in
            "\(name)(\(page.one ?? "-") \(page.many.sorted()) \(page.row) \(page.pairs) \(page.friends))"
        }
        return (pages + notes.sorted { $0.key < $1.key }.map { "\($0)\($1)" }).joined(separator: " ")
    }
}
