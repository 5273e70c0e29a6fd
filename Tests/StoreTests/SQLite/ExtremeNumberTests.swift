import TestSupport
import Testing

@testable import CoreData

/// Numbers in a file that no program would write: an error or a sensible result, never the end of
/// the program.
struct ExtremeNumberTests {
    let archive: Archive

    init() throws { archive = try Archive() }

    static let extremes = [
        "9223372036854775807", "9223372036854775806", "9223372036854775805", "-9223372036854775808", "-1", "0",
        "4294967295",
        "4294967296", "9.3e18", "-9.3e18", "1e300", "'text'", "X'00FF'", "NULL",
    ]

    private func fill() throws {
        let archive = archive
        let book = archive.insert("Book", "book")
        book.setValue(archive.insert("Author", "author"), forKey: "author")
        for name in ["one", "two", "three"] {
            let chapter = archive.insert("Chapter", name)
            book.mutableOrderedSetValue(forKey: "chapters").add(chapter)
        }
        let shelf = archive.insert("Shelf", "shelf")
        shelf.mutableOrderedSetValue(forKey: "items").add(book)
        archive.insert("Tag", "tag").mutableSetValue(forKey: "books").add(book)
        try archive.context.save()
        try archive.close()
    }

    @Test(arguments: ["9223372036854775807", "9223372036854775806", "9.3e18", "1e300"])
    func withoutKeysLeftASaveIsAnError(highest: String) throws {
        try fill()
        archive.raw.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(highest) WHERE Z_NAME = 'Tag'")
        try archive.reopen()
        archive.insert("Tag", "new")
        let error = errorThrown { try archive.context.save() }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.localizedDescription.contains("'Tag'") == true)
        #expect(error?.localizedDescription.contains("archive.sqlite") == true)
        #expect(archive.raw.value("SELECT count(*) FROM ZTAG") == "1")
        // Other entities have their keys.
        archive.context.rollback()
        archive.insert("Author", "new")
        try archive.context.save()
    }

    @Test func aRowWithTheHighestKeyIsReadAndItsEntityHasNoKeysLeft() throws {
        try fill()
        archive.raw.execute("UPDATE ZTAG SET Z_PK = 9223372036854775807")
        try archive.reopen()
        #expect(
            try archive.object("Tag", "tag").objectID.uriRepresentation().lastPathComponent == "p9223372036854775807")
        archive.insert("Tag", "new")
        #expect(throws: CocoaError.self) { try archive.context.save() }
    }

    @Test(arguments: ["-9223372036854775808", "-1", "'text'", "NULL", "X'00FF'"])
    func aHighestKeyThatIsNoneIsTakenFromTheRows(highest: String) throws {
        try fill()
        archive.raw.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(highest) WHERE Z_NAME = 'Tag'")
        try archive.reopen()
        archive.insert("Tag", "new")
        try archive.context.save()
        #expect(archive.raw.value("SELECT Z_PK FROM ZTAG WHERE ZNAME = 'new'") == "2")
        #expect(archive.raw.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'") == "2")
    }

    @Test(arguments: extremes) func aRowOfAnyVersionIsChangedAgainAndAgain(version: String) throws {
        try fill()
        archive.raw.execute("UPDATE ZTAG SET Z_OPT = \(version)")
        try archive.reopen()
        let tag = try archive.object("Tag", "tag")
        for count in 1...3 {
            tag.setValue(count, forKey: "count")
            try archive.context.save()
        }
        #expect(archive.raw.value("SELECT ZCOUNT FROM ZTAG") == "3")
        archive.context.delete(tag)
        try archive.context.save()
        #expect(archive.raw.value("SELECT count(*) FROM ZTAG") == "0")
    }

    @Test func rowsWhoseVersionsBeginAnewAreSeenByOtherContexts() throws {
        try fill()
        archive.raw.execute("UPDATE ZTAG SET Z_OPT = 4294967294")
        try archive.reopen()
        let tag = try archive.object("Tag", "tag")
        let before = archive.coordinator.newContext()
        #expect(before.object(with: tag.objectID).value(forKey: "count") as? Int32 == nil)
        for count in 1...4 {
            tag.setValue(count, forKey: "count")
            try archive.context.save()
            let other = archive.coordinator.newContext()
            #expect(other.object(with: tag.objectID).value(forKey: "count") as? Int == count)
        }
        let other = archive.coordinator.newContext()
        other.object(with: tag.objectID).setValue(5, forKey: "count")
        try other.save()
        #expect(archive.raw.value("SELECT ZCOUNT FROM ZTAG") == "5")
        withExtendedLifetime(before) {}
    }

    @Test(arguments: ["0", "-1", "-9223372036854775808", "9223372036854775807"])
    func rowsOfAnyKeyAreReadChangedAndDeleted(key: String) throws {
        try fill()
        let table = try #require(
            archive.raw.value("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%TAGS%'"))
        let column = try #require(
            archive.raw.value("SELECT name FROM pragma_table_info('\(table)') WHERE name LIKE '%TAGS%'"))
        archive.raw.execute("UPDATE ZTAG SET Z_PK = \(key); UPDATE \(table) SET \(column) = \(key)")
        archive.raw.execute("UPDATE ZAUTHOR SET Z_PK = \(key); UPDATE ZBOOK SET ZAUTHOR = \(key)")
        try archive.reopen()
        let book = try archive.object("Book", "book")
        let author = try #require(book.value(forKey: "author") as? NSManagedObject)
        #expect(author.value(forKey: "name") as? String == "author")
        #expect((author.value(forKey: "books") as? Set<NSManagedObject>) == [book])
        let tag = try #require((book.value(forKey: "tags") as? Set<NSManagedObject>)?.first)
        #expect(tag.value(forKey: "scan") as? Data == Archive.large("tag", 1))
        tag.setValue(3, forKey: "count")
        author.setValue(4, forKey: "count")
        try archive.context.save()
        #expect(archive.raw.value("SELECT ZCOUNT FROM ZTAG WHERE Z_PK = \(key)") == "3")
        #expect(archive.raw.value("SELECT ZCOUNT FROM ZAUTHOR WHERE Z_PK = \(key)") == "4")
        archive.context.delete(tag)
        archive.context.delete(author)
        try archive.context.save()
        #expect(archive.raw.value("SELECT count(*) FROM ZTAG") == "0")
        #expect(archive.raw.value("SELECT count(*) FROM \(table)") == "0")
        #expect(archive.raw.value("SELECT ZAUTHOR FROM ZBOOK") == nil)
    }

    private func chapters() throws -> [String?] {
        let chapters = try archive.object("Book", "book").mutableOrderedSetValue(forKey: "chapters")
        return chapters.map { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
    }

    @Test(arguments: LongTests.some(4, of: extremes))
    func membersOfAnyPositionAreMovedAndJoined(position: String) throws {
        try fill()
        archive.raw.execute("UPDATE ZCHAPTER SET Z_FOK_BOOK = \(position) WHERE ZNAME = 'two'")
        try archive.reopen()
        let before = try chapters()
        #expect(Set(before) == ["one", "two", "three"])
        // Joins without the others being read.
        try archive.reopen()
        let four = archive.insert("Chapter", "four")
        four.setValue(try archive.object("Book", "book"), forKey: "book")
        try archive.context.save()
        try archive.reopen()
        #expect(try chapters() == before + ["four"])
        try archive.object("Book", "book").mutableOrderedSetValue(forKey: "chapters").moveObjects(at: [3], to: 0)
        try archive.context.save()
        try archive.reopen()
        #expect(try chapters() == ["four"] + before)
    }

    @Test func membersAreNumberedAnewWhereThereIsNoRoomBehindTheLast() throws {
        try fill()
        let last: Int64 = 1 << 62
        archive.raw.execute("UPDATE ZCHAPTER SET Z_FOK_BOOK = \(last) WHERE ZNAME = 'three'")
        try archive.reopen()
        try archive.object("Book", "book").mutableOrderedSetValue(forKey: "chapters").moveObjects(at: [0], to: 2)
        try archive.context.save()
        #expect(
            archive.raw.value("SELECT group_concat(ZNAME) FROM (SELECT ZNAME FROM ZCHAPTER ORDER BY Z_FOK_BOOK)")
                == "two,three,one")
        #expect(archive.raw.value("SELECT max(Z_FOK_BOOK) < \(last) FROM ZCHAPTER") == "1")
    }

    @Test(arguments: LongTests.some(4, of: extremes))
    func membersOfAnyPositionInAJoinTableAreMovedAndJoined(position: String) throws {
        try fill()
        let table = try #require(
            archive.raw.value("SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%ITEMS%'"))
        let column = try #require(
            archive.raw.value("SELECT name FROM pragma_table_info('\(table)') WHERE name LIKE 'Z_FOK_%'"))
        archive.raw.execute("UPDATE \(table) SET \(column) = \(position)")
        try archive.reopen()
        for name in ["second", "third"] {
            let items = try archive.object("Shelf", "shelf").mutableOrderedSetValue(forKey: "items")
            items.add(archive.insert("Book", name))
            try archive.context.save()
            try archive.reopen()
        }
        let items = try archive.object("Shelf", "shelf").mutableOrderedSetValue(forKey: "items")
        #expect(
            items.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == [
                "book", "second", "third",
            ])
    }

    @Test(arguments: LongTests.some(4, of: extremes))
    func keysAndNumbersOfAnyKindGiveRowsOrErrors(number: String) throws {
        try fill()
        let columns = [
            ("ZBOOK", "ZAUTHOR"), ("ZTAG", "Z_ENT"), ("ZAUTHOR", "ZPASSPORT"), ("ZSHELF", "Z_PK"), ("ZBOOK", "Z_PK"),
            ("ZBOOK", "Z_ENT"),
            ("ZBOOK", "Z_OPT"),
            ("ZCHAPTER", "ZBOOK"), ("ZCHAPTER", "Z_FOK_BOOK"), ("Z_PRIMARYKEY", "Z_ENT"),
            ("Z_PRIMARYKEY", "Z_SUPER"), ("Z_METADATA", "Z_VERSION"),
        ]
        let original = try Data(contentsOf: archive.url)
        for (table, column) in columns {
            try original.write(to: archive.url)
            archive.raw.execute("UPDATE OR IGNORE \(table) SET \(column) = \(number)")
            // What comes of it is open; the program must go on.
            _ = errorThrown {
                try archive.reopen()
                for entity in Archive.entities {
                    for object in try archive.context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
                        for name in object.entity.relationshipsByName.keys.sorted() { _ = object.value(forKey: name) }
                        object.setValue(5, forKey: "count")
                    }
                    archive.insert(entity, "new \(entity)")
                }
                try archive.context.save()
            }
            try archive.close()
        }
    }
}
