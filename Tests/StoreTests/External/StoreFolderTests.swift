import TestSupport
import Testing

@testable import CoreData

/// The folder of external files: its place, its permissions, and its moves with the store.
struct StoreFolderTests {
    let folder: TemporaryFolder
    let url: URL
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Gallery.model())

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("gallery.sqlite")
    }

    private func mode(_ url: URL) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? NSNumber)
            .intValue
    }

    @Test func onlyValuesOfMoreThanAHundredKilobytesGetFiles() throws {
        let sizes = [102_399, 102_400, 102_401]
        let coordinator = try Gallery.open(url)
        let context = coordinator.newContext()
        for size in sizes {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue(Data(repeating: 7, count: size), forKey: "cover")
        }
        try context.save()
        let inline = "SELECT length(ZCOVER) FROM ZALBUM WHERE hex(substr(ZCOVER, 1, 1)) = '01' ORDER BY 1"
        #expect(SQLiteFile(url).column(inline) == ["102400", "102401"])
        let file = try #require(Gallery.files(of: url).first)
        #expect(try Gallery.files(of: url).count == 1)
        #expect(try Data(contentsOf: Gallery.folder(of: url).appendingPathComponent(file)).count == 102_401)
        let reading = coordinator.newContext()
        let read = try reading.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))
        #expect(read.compactMap { ($0.value(forKey: "cover") as? Data)?.count }.sorted() == sizes)
    }

    @Test(arguments: [true, false]) func aStoreBehindALinkHasItsFilesBesideTheFileItself(isRelative: Bool) throws {
        try Gallery.create(url)
        let elsewhere = folder.file("elsewhere")
        try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
        let link = elsewhere.appendingPathComponent("link.sqlite")
        try FileManager.default.createSymbolicLink(
            atPath: link.path, withDestinationPath: isRelative ? "../gallery.sqlite" : url.path)
        let linked = try Gallery.open(link)
        #expect(try Gallery.wrongPhotos(linked.newContext()).isEmpty)
        var generator = SeededGenerator(seed: 1)
        let context = linked.newContext()
        for _ in 0..<10 { _ = try Gallery.step(in: context, &generator) }
        for store in linked.persistentStores { try linked.remove(store) }
        #expect(try Gallery.problems(url).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == ["link.sqlite"])
    }

    /// The mode is set as the folder is made, so that a program killed in between leaves none with
    /// another.
    @Test(arguments: [0o600, 0o640, 0o644]) func aFolderIsMadeWithTheStoresMode(wanted: Int) throws {
        try Gallery.create(url)
        try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: url.path)
        let made = folder.file("made")
        #expect(FileAccess(ofFileAt: url.path).makeFolder(at: made.path))
        #expect(try mode(made) == wanted | 0o100 | (wanted & 0o044) >> 2)
        #expect(!FileAccess(ofFileAt: url.path).makeFolder(at: made.path))
    }

    @Test(arguments: [0o600, 0o640, 0o660, 0o644, 0o666]) func filesAndFoldersTakeTheStoresMode(mode wanted: Int) throws
    {
        let coordinator = try Gallery.open(url)
        try FileManager.default.setAttributes([.posixPermissions: wanted], ofItemAtPath: url.path)
        let context = coordinator.newContext()
        let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
        album.setValue(Data(repeating: 1, count: 200_000), forKey: "cover")
        try context.save()
        let files = Gallery.folder(of: url)
        let file = try #require(try Gallery.files(of: url).first)
        #expect(try mode(files.appendingPathComponent(file)) == wanted)
        // Who may read the store may look into the folder.
        let search = wanted | (wanted & 0o444) >> 2 | 0o700
        #expect(try mode(files) == search)
        #expect(try mode(files.deletingLastPathComponent()) == search)
    }

    @Test func aBackupThatIsBroughtBackUnderAnOpenStoreKeepsItsFiles() throws {
        try Gallery.create(url)
        let backup = folder.file("backup.sqlite")
        try coordinator.replacePersistentStore(at: backup, withPersistentStoreFrom: url, type: .sqlite)
        let open = try Gallery.open(url)
        let context = open.newContext()
        // Somebody still reads the rows that name the former files, so that the open store has yet
        // to remove them.
        let reader = SQLiteFile(url)
        reader.execute("BEGIN")
        _ = reader.value("SELECT count(*) FROM ZPERSON")
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
            person.setValue(nil, forKey: "photo")
        }
        try context.save()
        reader.execute("COMMIT")
        try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup, type: .sqlite)
        for store in open.persistentStores { try open.remove(store) }
        #expect(try Gallery.problems(url).isEmpty)
    }

    @Test func replacingAStoreBringsTheOthersFilesAndRemovesItsOwn() throws {
        try Gallery.create(url)
        let target = folder.file("target.sqlite")
        try Gallery.create(target)
        let former = try Set(Gallery.files(of: target))
        try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: url, type: .sqlite)
        #expect(try Gallery.problems(target).isEmpty)
        #expect(try Gallery.problems(url).isEmpty)
        #expect(try Set(Gallery.files(of: target)).isDisjoint(with: former))
        // Once more: what is there already stays.
        try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: url, type: .sqlite)
        #expect(try Gallery.problems(target).isEmpty)
    }

    @Test func replacingAStoreThatOthersReadLeavesTheirFiles() throws {
        try Gallery.create(url)
        let target = folder.file("target.sqlite")
        try Gallery.create(target)
        let former = try Set(Gallery.files(of: target))
        let reader = SQLiteFile(target)
        reader.execute("BEGIN; SELECT count(*) FROM ZPERSON")
        try coordinator.replacePersistentStore(
            at: target, destinationOptions: [NSPersistentStoreTimeoutOption: 0.05], withPersistentStoreFrom: url,
            type: .sqlite)
        #expect(try Set(Gallery.files(of: target)).isSuperset(of: former))
        reader.execute("COMMIT")
        #expect(try Gallery.problems(target).isEmpty)
    }

    @Test func destroyingAStoreRemovesItsFilesAndNothingElse() throws {
        try Gallery.create(url)
        let files = Gallery.folder(of: url)
        let note = files.appendingPathComponent("note.txt")
        try Data().write(to: note)
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        #expect(try Gallery.files(of: url) == ["note.txt"])
        try FileManager.default.removeItem(at: note)
        try Gallery.create(url)
        try coordinator.destroyPersistentStore(at: url, type: .sqlite)
        #expect(!FileManager.default.fileExists(atPath: files.deletingLastPathComponent().path))
    }

    @Test func aDatabaseOfSomethingElseIsNeitherDestroyedNorReplaced() throws {
        try Gallery.create(url)
        let foreign = folder.file("foreign.sqlite")
        #expect(SQLiteFile(foreign).execute("CREATE TABLE mine(a); INSERT INTO mine VALUES (7)"))
        #expect(throws: (any Error).self) { try coordinator.destroyPersistentStore(at: foreign, type: .sqlite) }
        #expect(throws: (any Error).self) {
            try coordinator.replacePersistentStore(at: foreign, withPersistentStoreFrom: url, type: .sqlite)
        }
        #expect(SQLiteFile(foreign).value("SELECT a FROM mine") == "7")
    }

    @Test func aStoreInMemoryHasNoFileThatCouldBeDestroyedOrReplaced() throws {
        let file = folder.file("letter.txt")
        try Data("dear".utf8).write(to: file)
        let source = folder.file("source")
        try Data("other".utf8).write(to: source)
        try coordinator.destroyPersistentStore(at: file, type: .inMemory)
        #expect(throws: (any Error).self) {
            try coordinator.replacePersistentStore(at: file, withPersistentStoreFrom: source, type: .inMemory)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == "dear")
        for type in [NSPersistentStore.StoreType.inMemory, .sqlite] {
            try coordinator.destroyPersistentStore(at: URL(fileURLWithPath: "/dev/null"), type: type)
        }
        var information = stat()
        #expect(stat("/dev/null", &information) == 0)
        #expect(information.st_mode & S_IFMT == S_IFCHR)
    }

    @Test func onlyRegularFilesOfAKnownStoreAreDestroyedOrReplaced() throws {
        NSPersistentStoreCoordinator.registerStoreClass(LetterStore.self, type: LetterStore.storeType)
        let link = folder.file("link")
        let letter = folder.file("letter")
        let other = folder.file("other")
        try Data("letter: dear".utf8).write(to: letter)
        try Data("something else".utf8).write(to: other)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: letter)
        for place in [link, other, folder.url, URL(fileURLWithPath: "/dev/null")] {
            let error = errorThrown { try coordinator.destroyPersistentStore(at: place, type: LetterStore.storeType) }
            #expect(error?.localizedDescription.contains(place.path) == true, "\(place.path)")
            #expect(throws: (any Error).self) {
                try coordinator.replacePersistentStore(
                    at: place, withPersistentStoreFrom: letter, type: LetterStore.storeType)
            }
        }
        #expect(try String(contentsOf: link, encoding: .utf8) == "letter: dear")
        #expect(try String(contentsOf: other, encoding: .utf8) == "something else")
        try coordinator.destroyPersistentStore(at: letter, type: LetterStore.storeType)
        #expect(!FileManager.default.fileExists(atPath: letter.path))
    }

    @Test func aFolderOrDeviceIsNoSQLiteStoreToDestroy() throws {
        let device = folder.file("device")
        try FileManager.default.createSymbolicLink(at: device, withDestinationURL: URL(fileURLWithPath: "/dev/zero"))
        for place in [folder.url, device] {
            let error = errorThrown {
                try coordinator.destroyPersistentStore(
                    at: place, type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
            }
            #expect(error?.localizedDescription.contains(place.path) == true)
        }
    }
}

/// A store class that knows its files by their first word.
private final class LetterStore: NSAtomicStore, @unchecked Sendable {
    // Sendable: without state of its own.
    static let storeType = StoreType(rawValue: "Letter")

    override var type: String { Self.storeType.rawValue }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard try String(contentsOf: url, encoding: .utf8).hasPrefix("letter:") else {
            throw CocoaError(.fileReadCorruptFile)
        }
        return [NSStoreTypeKey: storeType.rawValue, NSStoreUUIDKey: "letter"]
    }
}
