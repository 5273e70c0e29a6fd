import TestSupport
import Testing

@testable import CoreData

/// Saves that change relationships and no attribute of a row with external files.
struct RelationshipSaveTests {
    enum Change: CaseIterable, CustomTestStringConvertible {
        case setting, clearing, moving, adding, removing, replacing, tagging, untagging, reordering, shelving,
            movingOnShelf,
            settingToOne, deletingTheDestination

        var testDescription: String { "\(self)" }
    }

    private func make(_ change: Change, in archive: Archive) throws {
        func object(_ entity: String, _ name: String) throws -> NSManagedObject { try archive.object(entity, name) }
        let (first, second) = (try object("Author", "first"), try object("Author", "second"))
        let (book, other) = (try object("Book", "book"), try object("Book", "other"))
        switch change {
        case .setting: other.setValue(first, forKey: "author")
        case .clearing: book.setValue(nil, forKey: "author")
        case .moving: book.setValue(second, forKey: "author")
        case .adding: first.mutableSetValue(forKey: "books").add(other)
        case .removing: first.mutableSetValue(forKey: "books").remove(book)
        case .replacing: first.setValue(NSSet(array: [other]), forKey: "books")
        case .tagging: other.mutableSetValue(forKey: "tags").add(try object("Tag", "tag"))
        case .untagging: try object("Tag", "tag").mutableSetValue(forKey: "books").remove(book)
        case .reordering: book.mutableOrderedSetValue(forKey: "chapters").moveObjects(at: [0], to: 1)
        case .shelving: try object("Shelf", "shelf").mutableOrderedSetValue(forKey: "items").remove(other)
        case .movingOnShelf:
            try object("Shelf", "shelf").mutableOrderedSetValue(forKey: "items").moveObjects(at: [1], to: 0)
        case .settingToOne: second.setValue(try object("Passport", "passport"), forKey: "passport")
        case .deletingTheDestination: archive.context.delete(book)
        }
    }

    @Test(arguments: Change.allCases, LongTests.some(1, of: [true, false]))
    func aSaveThatChangesOnlyRelationshipsKeepsExternalFiles(change: Change, reopens: Bool) throws {
        let archive = try Archive()
        let names = [
            "Author": ["first", "second"], "Book": ["book", "other"], "Chapter": ["one", "two"], "Tag": ["tag"],
            "Shelf": ["shelf"], "Passport": ["passport"],
        ]
        var objects: [String: NSManagedObject] = [:]
        for (entity, names) in names { for name in names { objects[name] = archive.insert(entity, name) } }
        objects["book"]?.setValue(objects["first"], forKey: "author")
        objects["book"]?.mutableOrderedSetValue(forKey: "chapters").addObjects(from: [objects["one"]!, objects["two"]!])
        objects["book"]?.mutableSetValue(forKey: "tags").add(objects["tag"]!)
        objects["shelf"]?.mutableOrderedSetValue(forKey: "items").addObjects(from: [
            objects["book"]!, objects["other"]!,
        ])
        objects["first"]?.setValue(objects["passport"], forKey: "passport")
        try archive.context.save()
        if reopens { try archive.reopen() }

        try make(change, in: archive)
        try #require(archive.context.hasChanges)
        try archive.context.save()
        for (entity, names) in names {
            for name in names where change != .deletingTheDestination || name != "book" {
                #expect(archive.storedValue(entity, name, "scan") == Archive.large(name, 1), "\(entity) \(name)")
                #expect(archive.storedValue(entity, name, "cover") == Archive.large(name, 2), "\(entity) \(name)")
            }
        }
        #expect(try archive.filesOnDisk() == archive.namedFiles())
        try archive.reopen()
        #expect(try archive.object("Author", "first").value(forKey: "scan") as? Data == Archive.large("first", 1))
    }

    @Test func theVersionOfARowWhoseRelationshipsChangeStillGrows() throws {
        let archive = try Archive()
        let (author, book) = (archive.insert("Author", "first"), archive.insert("Book", "book"))
        try archive.context.save()
        author.mutableSetValue(forKey: "books").add(book)
        try archive.context.save()
        #expect(archive.raw.value("SELECT Z_OPT FROM ZAUTHOR") == "2")
    }

    // MARK: Everything together

    private struct Expected {
        var scan: Data?
        var cover: Data?
    }

    private static func value(_ name: String, _ number: Int, _ generator: inout SeededGenerator) -> Data? {
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: nil
        case 1: Data("\(name) \(number)".utf8)
        default: Archive.large(name, number)
        }
    }

    @Test(arguments: ["WAL", "DELETE"], LongTests.areEnabled ? Array(1...20) : [1])
    func anyMixtureOfChangesLeavesTheValuesAndFilesThatItShould(journal: String, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let archive = try Archive(options: [NSSQLitePragmasOption: ["journal_mode": journal, "synchronous": "OFF"]])
        var expected: [String: [String: Expected]] = Dictionary(
            uniqueKeysWithValues: Archive.entities.map { ($0, [:]) })
        for round in 1...40 {
            for step in 0..<Int.random(in: 1...4, using: &generator) {
                let entity = Archive.entities.randomElement(using: &generator)!
                let known = expected[entity]!.keys.sorted()
                let name = known.randomElement(using: &generator) ?? ""
                switch Int.random(in: 0..<10, using: &generator) {
                case 0...2 where known.count < 6, _ where known.isEmpty:
                    let name = "\(entity) \(round) \(step)"
                    let object = archive.insert(entity, name)
                    let value = Expected(
                        scan: Self.value(name, round, &generator), cover: Self.value(name, round + 1, &generator))
                    object.setValue(value.scan, forKey: "scan")
                    object.setValue(value.cover, forKey: "cover")
                    expected[entity]![name] = value
                case 3:
                    archive.context.delete(try archive.object(entity, name))
                    expected[entity]![name] = nil
                case 4, 5:
                    let value = Self.value(name, round * 10 + step, &generator)
                    let isScan = Bool.random(using: &generator)
                    try archive.object(entity, name).setValue(value, forKey: isScan ? "scan" : "cover")
                    if isScan { expected[entity]![name]!.scan = value } else { expected[entity]![name]!.cover = value }
                case 6: try archive.object(entity, name).setValue(round, forKey: "count")
                default: try relateSomething(in: archive, expected.mapValues { $0.keys.sorted() }, &generator)
                }
            }
            if Int.random(in: 0..<8, using: &generator) == 0 {
                // Nothing of a change that was undone may show.
                let entity = Archive.entities.randomElement(using: &generator)!
                try archive.context.save()
                if let name = expected[entity]!.keys.sorted().first {
                    try archive.object(entity, name).setValue(Archive.large(name, 999), forKey: "scan")
                    archive.context.rollback()
                }
            }
            try archive.context.save()
            if Int.random(in: 0..<5, using: &generator) == 0 { try archive.reopen() }
            guard round % 8 == 0 else { continue }
            for (entity, values) in expected {
                for (name, value) in values {
                    #expect(
                        archive.storedValue(entity, name, "scan") == value.scan, "\(entity) \(name) in round \(round)")
                    #expect(
                        archive.storedValue(entity, name, "cover") == value.cover, "\(entity) \(name) in round \(round)"
                    )
                    #expect(try archive.object(entity, name).value(forKey: "scan") as? Data == value.scan)
                }
            }
            #expect(try archive.filesOnDisk() == archive.namedFiles(), "round \(round)")
        }
    }

    private func relateSomething(
        in archive: Archive, _ names: [String: [String]], _ generator: inout SeededGenerator
    ) throws {
        func any(_ entity: String) throws -> NSManagedObject? {
            try names[entity]?.randomElement(using: &generator).map { try archive.object(entity, $0) }
        }
        guard let book = try any("Book") else { return }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: book.setValue(try any("Author"), forKey: "author")
        case 1: if let author = try any("Author") { author.setValue(NSSet(array: [book]), forKey: "books") }
        case 2:
            guard let chapter = try any("Chapter") else { return }
            let chapters = book.mutableOrderedSetValue(forKey: "chapters")
            chapters.remove(chapter)
            chapters.insert(chapter, at: 0)
        case 3: if let tag = try any("Tag") { tag.mutableSetValue(forKey: "books").add(book) }
        case 4:
            guard let shelf = try any("Shelf") else { return }
            let items = shelf.mutableOrderedSetValue(forKey: "items")
            if items.contains(book) { items.remove(book) } else { items.insert(book, at: 0) }
        default: try any("Author")?.setValue(try any("Passport"), forKey: "passport")
        }
    }
}
