import CoreData
import TestSupport
import Testing

/// Deletions that are saved, taken back and done again, with what they were related to.
struct UndoneDeletionTests {
    struct Way: CustomTestStringConvertible {
        var inOneEvent: Bool
        var deletesTag: Bool
        var isRead: Bool
        var testDescription: String {
            "\(inOneEvent ? "one event" : "several events"), \(deletesTag ? "both sides" : "one side"), "
                + "\(isRead ? "read" : "unread")"
        }
    }

    static let ways = [true, false].flatMap { inOneEvent in
        [true, false].flatMap { deletesTag in
            [true, false].map { Way(inOneEvent: inOneEvent, deletesTag: deletesTag, isRead: $0) }
        }
    }

    /// Both sides of a many-to-many relationship, or one, are deleted, in one event or in several,
    /// any number of times.
    @Test(arguments: StoreKind.allCases, Self.ways)
    func membersComeBackOnBothSides(_ kind: StoreKind, _ way: Way) throws { try membersComeBack(UndoDesk(kind), way) }

    @Test(arguments: StoreKind.allCases, Self.ways)
    func membersComeBackInAChild(_ kind: StoreKind, _ way: Way) throws {
        try membersComeBack(UndoDesk(kind, isChild: true), way)
    }

    private func membersComeBack(_ desk: UndoDesk, _ way: Way) throws {
        let (library, context) = (desk.library, desk.context)
        let reader = library.newContext()
        func state() throws -> [String] {
            try reader.performAndWait {
                reader.reset()
                return try reader.books().map { book in
                    "\(book.title ?? "") \(book.author?.name ?? "") "
                        + "\(book.tags.compactMap(\.label).sorted().joined(separator: "+"))"
                }
            }
        }
        try context.performAndWait {
            let ada = context.author("Ada")
            let tags = [context.tag("new"), context.tag("old")]
            context.book("Anvils", by: ada, tags: Set(tags))
            context.book("Bolts", by: ada, tags: [tags[0]])
            context.book("Cogs")
            context.author("Bob")
            try desk.save()
            // Nobody has read who is related to whom.
            if !way.isRead { context.reset() }
            let request = NSFetchRequest<LibraryTag>(entityName: "Tag")
            request.predicate = NSPredicate(format: "label == 'old'")
            let old = try #require(try context.fetch(request).first)
            let anvil = try #require(try context.books("title == 'Anvils'").first)
            let before = try state()
            #expect(before == ["Anvils Ada new+old", "Bolts Ada new", "Cogs  "])
            let (cogs, bob) = (
                try #require(try context.books("title == 'Cogs'").first),
                try #require(try context.authors("name == 'Bob'").first)
            )
            let new = try #require(
                try context.fetch(NSFetchRequest<LibraryTag>(entityName: "Tag")).first { $0.label == "new" })
            try desk.begin()
            var events = 0
            func event(_ body: () -> Void) {
                desk.group(body)
                events += 1
            }
            if way.inOneEvent {
                event {
                    context.delete(anvil)
                    if way.deletesTag { context.delete(old) }
                }
            } else {
                event { context.delete(anvil) }
                if way.deletesTag { event { context.delete(old) } }
            }
            event {
                cogs.author = bob
                cogs.tags = [new]
                context.book("Eyes", by: bob)
            }
            try desk.save()
            for round in 0..<3 {
                for _ in 0..<events { context.undo() }
                try desk.save()
                #expect(try state() == before, "undo \(round)")
                if way.isRead { #expect(anvil.tags.compactMap(\.label).sorted() == ["new", "old"]) }
                for _ in 0..<events { context.redo() }
                try desk.save()
                #expect(try state() == ["Bolts Ada new", "Cogs Bob new", "Eyes Bob "], "redo \(round)")
            }
        }
    }

    /// The object has no row to read: it stays, to be inserted by the next save.
    @Test(arguments: StoreKind.allCases, [false, true])
    func anObjectWhoseSavedDeletionIsUndoneOutlivesARefresh(_ kind: StoreKind, isChild: Bool) throws {
        let desk = try UndoDesk(kind, isChild: isChild)
        let ada = desk.context.author("Ada", born: 1)
        try desk.begin()
        // A child learns the permanent ID at the latest with the next block of its queue.
        let objectID = desk.context.performAndWait { ada.objectID }
        #expect(!objectID.isTemporaryID)
        desk.group { desk.context.delete(ada) }
        try desk.save()
        desk.context.undo()
        for _ in 0..<2 {
            desk.context.refresh(ada, mergeChanges: true)
            desk.context.refreshAllObjects()
            #expect(!ada.isDeleted)
            #expect(ada.name == "Ada")
            #expect(try desk.context.authors() == [ada])
        }
        try desk.save()
        #expect(try desk.stored() == ["Ada 1"])
        #expect(ada.objectID == objectID)
    }
}
