import TestSupport
import Testing

@testable import CoreData

/// The deletion of external files, and the files that must stay.
struct SupersededFileTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("gallery.sqlite")
    }

    private func change(_ context: NSManagedObjectContext, _ name: String = Gallery.names[0]) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", name)
        let person = try #require(try context.fetch(request).first)
        let number = (person.value(forKey: "number") as? Int64 ?? 0) + 1
        person.setValue(number, forKey: "number")
        person.setValue(Gallery.photo(name, number), forKey: "photo")
        try context.save()
    }

    private func file(of name: String, _ database: SQLiteFile) -> String {
        database.value("SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZPERSON WHERE ZNAME = '\(name)'") ?? ""
    }

    private func isThere(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: Gallery.folder(of: url).appendingPathComponent(name).path)
    }

    @Test func aFileStaysForAsLongAsAReaderSeesTheRowThatNamesIt() throws {
        try Gallery.create(url)
        let coordinator = try Gallery.open(url)
        let context = coordinator.newContext()
        let reader = SQLiteFile(url)
        reader.execute("BEGIN")
        let file = file(of: Gallery.names[0], reader)
        try #require(isThere(file))
        try change(context)
        try change(context, Gallery.names[1])
        #expect(isThere(file), "a reader of the former state still needs it")
        #expect(self.file(of: Gallery.names[0], reader) == file)
        reader.execute("COMMIT")
        try change(context, Gallery.names[2])
        #expect(!isThere(file), "nobody needs it any more")
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        #expect(try Gallery.problems(url).isEmpty)
    }

    @Test func aFileGoesWithTheSaveThatReplacesItWhereNobodyReads() throws {
        try Gallery.create(url)
        let coordinator = try Gallery.open(url)
        let file = file(of: Gallery.names[0], SQLiteFile(url))
        try change(coordinator.newContext())
        #expect(!isThere(file))
    }

    @Test func closingAStoreRemovesWhatAReaderHadKept() throws {
        try Gallery.create(url)
        let coordinator = try Gallery.open(url)
        let reader = SQLiteFile(url)
        reader.execute("BEGIN")
        let file = file(of: Gallery.names[0], reader)
        try change(coordinator.newContext())
        try #require(isThere(file))
        reader.execute("COMMIT")
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        #expect(!isThere(file))
    }

    /// A power failure may take away all of the log that the database file does not have yet.
    @Test(arguments: [UInt64(1), 2]) func theDatabaseWithoutItsLogNamesFilesThatAreThere(seed: UInt64) throws {
        try Gallery.create(url)
        let coordinator = try Gallery.open(url)
        let context = coordinator.newContext()
        var generator = SeededGenerator(seed: seed)
        var reader: SQLiteFile?
        for round in 0..<25 {
            if Int.random(in: 0..<4, using: &generator) == 0 {
                reader = SQLiteFile(url)
                reader?.execute("BEGIN")
                _ = reader?.value("SELECT count(*) FROM ZPERSON")
            } else if Int.random(in: 0..<3, using: &generator) == 0 {
                reader = nil
            }
            _ = try Gallery.step(in: context, &generator)
            let copy = folder.file("copy\(round).sqlite")
            try FileManager.default.copyItem(at: url, to: copy)
            let named = Gallery.filesNamed(SQLiteFile(copy))
            #expect(!named.isEmpty)
            for file in named { #expect(isThere(file), "\(file) in round \(round)") }
        }
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY"])
    func withAnotherJournalFilesGoWithTheSave(journal: String) throws {
        let options: [AnyHashable: Any] = [NSSQLitePragmasOption: ["journal_mode": journal]]
        try Gallery.create(url, options: options)
        let coordinator = try Gallery.open(url, options: options)
        try #require(SQLiteFile(url).value("PRAGMA journal_mode") != "wal")
        let file = file(of: Gallery.names[0], SQLiteFile(url))
        try change(coordinator.newContext())
        #expect(!isThere(file))
    }

    @Test func aSaveThatFailsLeavesTheFormerFilesAndNoOthers() throws {
        try Gallery.create(url)
        let coordinator = try Gallery.open(url)
        let context = coordinator.newContext()
        let before = try Gallery.files(of: url)
        let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        for person in people { person.setValue(Data(repeating: 1, count: 200_000), forKey: "photo") }
        SQLiteFile(url).execute("UPDATE ZPERSON SET Z_OPT = 9 WHERE ZNAME = '\(Gallery.names[7])'")
        #expect(throws: CocoaError.self) { try context.save() }
        #expect(try Set(Gallery.files(of: url)) == Set(before))
    }

    @Test func valuesThatAreWrittenTwiceLeaveOneFile() throws {
        let url = folder.file("company.sqlite")
        let open = try OpenStore(model: TestModel.company(), url: url)
        let (one, two) = (UUID(), UUID())
        let first = try open.insert("Employee", ["badge": .uuid(one)])
        let second = try open.insert("Employee", ["badge": .uuid(two)])
        var batch = SaveBatch()
        let photo = Data(repeating: 3, count: 200_000)
        // Each waits for the other's badge, so that the updates are tried more than once.
        batch.updates = [
            open.change("Employee", first.key, ["badge": .uuid(two), "photo": .data(photo)], base: first),
            open.change("Employee", second.key, ["badge": .uuid(one), "photo": .data(photo)], base: second),
        ]
        _ = try open.store.save(batch)
        #expect(try Gallery.files(of: url).count == 2)
        #expect(SQLiteFile(url).value("SELECT count(DISTINCT ZPHOTO) FROM ZEMPLOYEE") == "2")
    }

    @Test func aMigrationKeepsDroppedFilesForReadersOfTheFormerState() throws {
        try Gallery.create(url)
        let reader = SQLiteFile(url)
        reader.execute("BEGIN")
        let file = file(of: Gallery.names[0], reader)
        let model = Gallery.model()
        let person = try #require(model.entitiesByName["Person"])
        person.properties.removeAll { $0.name == "photo" }
        let coordinator = try Gallery.open(
            url, model: model,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        #expect(isThere(file))
        reader.execute("COMMIT")
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        #expect(!isThere(file))
        #expect(try Set(Gallery.files(of: url)).count == 2, "the albums' covers")
    }

    @Test func aFileThatCannotBeReadIsAnErrorAndNotNil() throws {
        try Gallery.create(url)
        let name = file(of: Gallery.names[0], SQLiteFile(url))
        let path = Gallery.folder(of: url).appendingPathComponent(name).path
        let run = try ProgramRun(OtherProgram.url, ["gallery", "open", url.path])
        #expect(run.output.contains("no file descriptor left"), "\(run.output)")
        // What is not there at all, or is no file, reads as nil.
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try Gallery.wrongPhotos(try Gallery.open(url).newContext()) == ["\(Gallery.names[0]) 1: nil"])
    }

    @Test func aLinkInTheFolderIsNotFollowed() throws {
        try Gallery.create(url)
        let name = file(of: Gallery.names[0], SQLiteFile(url))
        let path = Gallery.folder(of: url).appendingPathComponent(name)
        let secret = folder.file("secret")
        try Data("secret".utf8).write(to: secret)
        try FileManager.default.removeItem(at: path)
        try FileManager.default.createSymbolicLink(at: path, withDestinationURL: secret)
        let coordinator = try Gallery.open(url)
        #expect(try Gallery.wrongPhotos(coordinator.newContext()) == ["\(Gallery.names[0]) 1: nil"])
        try change(coordinator.newContext())
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path.path) == secret.path)
        #expect(try String(contentsOf: secret, encoding: .utf8) == "secret")
    }
}
