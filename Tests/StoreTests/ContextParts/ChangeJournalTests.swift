import Foundation
import TestSupport
import Testing

@testable import CoreData

/// The changes of an event as undo needs them, without any context or store.
struct ChangeJournalTests {
    /// A stand-in for a context that has only the lists of changes and the journal.
    private final class Registry: ObjectRegistry, @unchecked Sendable {
        // Sendable: each test uses its own, on one thread.
        let changes = ChangeTracker()
        let journal = ChangeJournal()

        override func keepFormerState(of object: NSManagedObject) { changes.keepFormerState(of: object) }
        override func noteChanged(_ object: NSManagedObject) { changes.change(object) }
        override func noteUntracked(_ object: NSManagedObject, slot: Int) { journal.noteUntracked(object, slot: slot) }
        override func noteTracked(_ object: NSManagedObject, slot: Int) { journal.noteTracked(object, slot: slot) }
        override func willChangeTransient(_ object: NSManagedObject, slot: Int) {
            journal.willChangeTransient(object, slot: slot)
        }
    }

    private let model: NSManagedObjectModel
    private let registry: Registry
    private let rows: ScriptedRows

    init() {
        model = Library.model()
        registry = Registry(modelLayout: model.objectLayouts())
        registry.tracksFormerValues = true
        rows = ScriptedRows(layouts: model.objectLayouts())
    }

    private func make<Object: NSManagedObject>(_ entity: String, _: Object.Type) throws -> Object {
        Object(entity: try #require(model.entitiesByName[entity]), insertInto: nil)
    }

    /// An author that stands for a row, loaded.
    private func stored(_ key: Int64, _ name: String, born: Int64 = 0) throws -> LibraryAuthor {
        let author = try make("Author", LibraryAuthor.self)
        author.becomeFault(key: key, store: 0, registry: Retained(registry), page: nil)
        let row = try rows.row("Author", key, ["name": .string(name), "born": .integer(born)])
        withExtendedLifetime(row) { author.keep(row.row) }
        author.becomeLoaded()
        return author
    }

    /// Ends the event, as a context does.
    private func endEvent() -> [UndoneChange] {
        let undone = registry.journal.record(registry.changes.eventObjects)
        _ = registry.changes.endEvent(keepingProperties: false)
        return undone
    }

    /// The former values of a change, by name.
    private func values(_ change: UndoneChange?) -> [String: String?] {
        guard let change else { return [:] }
        var values: [String: String?] = [:]
        for (slot, value) in change.values {
            if case .stored(let stored) = value { values[change.object.layout.slots[slot].name] = .some(stored.text) }
        }
        return values
    }

    @Test func aChangedValueIsWhatTheStoreHas() throws {
        let author = try stored(1, "Ann", born: 1971)
        author.name = "Anna"
        author.name = "Annie"
        let undone = endEvent()
        #expect(undone.count == 1)
        #expect(undone.first?.object === author)
        #expect(undone.first?.wasPresent == true)
        #expect(undone.first?.isPresent == true)
        #expect(values(undone.first) == ["name": "Ann"])
    }

    @Test func theNextEventGoesBackToTheOneBeforeNotToTheStore() throws {
        let author = try stored(1, "Ann", born: 1971)
        author.name = "Anna"
        _ = endEvent()
        author.name = "Annie"
        author.born = 1972
        #expect(values(endEvent().first) == ["name": "Anna", "born": "1971"])
    }

    @Test func whatIsAsItWasHasNotChanged() throws {
        let author = try stored(1, "Ann")
        author.name = "Anna"
        author.name = "Ann"
        #expect(endEvent().isEmpty)
        #expect(endEvent().isEmpty)
    }

    @Test func insertionsAndDeletionsAreChangesOfPresence() throws {
        let (new, old, brief) = (
            try make("Author", LibraryAuthor.self), try stored(1, "Ann"), try make("Author", LibraryAuthor.self)
        )
        registry.changes.insert(new, in: registry)
        new.name = "Bob"
        registry.changes.delete(old)
        registry.changes.insert(brief, in: registry)
        registry.changes.delete(brief)
        let undone = endEvent()
        #expect(undone.map { ObjectIdentifier($0.object) } == [new, old].map { ObjectIdentifier($0) })
        #expect(undone.map(\.wasPresent) == [false, true])
        #expect(undone.map(\.isPresent) == [true, false])
        // A new object keeps what it has when its insertion is undone.
        #expect(values(undone.first).isEmpty)
    }

    @Test func whatWasChangedBeforeADeletionComesBackWithIt() throws {
        let author = try stored(1, "Ann")
        author.name = "Anna"
        registry.changes.delete(author)
        let undone = endEvent()
        #expect(undone.map(\.wasPresent) == [true])
        #expect(undone.map(\.isPresent) == [false])
        #expect(values(undone.first) == ["name": "Ann"])
    }

    @Test func whatOthersDeletedIsNotToBeUndoneHere() throws {
        let author = try stored(1, "Ann")
        registry.changes.markDeletedElsewhere(author)
        #expect(endEvent().isEmpty)
    }

    @Test func aPrimitiveValueHasAlwaysBeenThere() throws {
        let author = try stored(1, "Ann", born: 1971)
        author.born = 1972
        author.setPrimitiveValue("primitive", forKey: "name")
        let undone = endEvent()
        #expect(values(undone.first) == ["born": "1971"])
        // Changed from here on, it goes back to the primitive value.
        author.name = "Anna"
        #expect(values(endEvent().first) == ["name": "primitive"])
    }

    @Test func aPrimitiveValueBetweenAnnouncementsIsAChange() throws {
        let author = try stored(1, "Ann")
        author.willChangeValue(forKey: "name")
        author.setPrimitiveValue("Anna", forKey: "name")
        author.didChangeValue(forKey: "name")
        #expect(values(endEvent().first) == ["name": "Ann"])
    }

    @Test func valuesOfOthersAreWhatLaterChangesGoBackTo() throws {
        let author = try stored(1, "Ann", born: 1971)
        author.name = "Anna"
        author.born = 1972
        registry.journal.reread(author)
        author.name = "Annie"
        #expect(values(endEvent().first) == ["name": "Anna"])
    }

    @Test func whatIsAbsorbedHasAlwaysBeenThere() throws {
        let author = try stored(1, "Ann")
        let undone = registry.journal.absorbing {
            author.name = "Anna"
            return endEvent()
        }
        #expect(undone.isEmpty)
        author.name = "Annie"
        #expect(values(endEvent().first) == ["name": "Anna"])
    }

    @Test func transientValuesGoBackToo() throws {
        let book = try make("Book", LibraryBook.self)
        registry.changes.insert(book, in: registry)
        book.mark = "first"
        _ = endEvent()
        book.mark = "second"
        let undone = endEvent()
        #expect(values(undone.first) == ["mark": "first"])
    }

    /// Back through all events, in any order of changes, everything is as it was.
    @Test(arguments: 0..<(LongTests.areEnabled ? 60 : 15) as Range<UInt64>)
    func goingBackThroughAllEventsEndsAtTheStore(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let authors = try (1...4).map { try stored(Int64($0), "author \($0)", born: Int64($0)) }
        /// By author and property: after each event, as a program sees it.
        func look() -> [[String]] { authors.map { [$0.name ?? "nil", String($0.born)] } }
        var looks = [look()]
        var journal: [[UndoneChange]] = []
        for _ in 0..<12 {
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let author = authors[Int.random(in: 0..<authors.count, using: &random)]
                if Bool.random(using: &random) {
                    author.name = Bool.random(using: &random) ? nil : "name \(Int.random(in: 0..<3, using: &random))"
                } else {
                    author.born = Int16.random(in: 0..<3, using: &random)
                }
            }
            journal.append(endEvent())
            looks.append(look())
        }
        for undone in journal.reversed() {
            #expect(look() == looks.removeLast())
            for change in undone {
                for (name, value) in values(change) {
                    change.object.setValue(name == "born" ? value.flatMap { Int($0) } : value, forKey: name)
                }
            }
        }
        #expect(look() == looks.removeLast())
        #expect(looks.isEmpty)
    }
}
