import CoreData
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Stores of makers that several processes use at once.
struct SharedFileTests {
    let folder: TemporaryFolder
    let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("Makers.sqlite")
        let (coordinator, store) = try Self.open(url)
        let context = coordinator.newContext()
        try context.performAndWait {
            Self.maker("Ida", in: context)
            try context.save()
        }
        try coordinator.remove(store)
    }

    private static func open(
        _ url: URL, attributes: [String] = ["name"], options: [AnyHashable: Any] = [:]
    ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        let types: [String: NSAttributeType] = ["data": .binaryDataAttributeType]
        let properties = attributes.map { NSAttributeDescription($0, types[$0] ?? .stringAttributeType) }
        let model = NSManagedObjectModel([NSEntityDescription("Maker", class: "NSManagedObject", properties)])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let migrating: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: migrating.merging(options) { $1 })
        return (coordinator, store)
    }

    @discardableResult
    private static func maker(_ name: String, in context: NSManagedObjectContext) -> NSManagedObject {
        let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
        maker.setValue(name, forKey: "name")
        return maker
    }

    private static func size(ofFileAt path: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber)?.intValue ?? 0
    }

    private func holding(_ how: String) throws -> RunningProgram {
        try RunningProgram(OtherProgram.url, ["hold", how, url.path])
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    /// The error says which file another process keeps, and which process that is.
    private func expectNamesHolder(_ error: (any Error)?) throws {
        let error = try #require(error) as NSError
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSPersistentStoreTimeoutError)
        for part in [url.path, "(OtherProgram)", "NSPersistentStoreTimeoutOption"] {
            #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
        }
    }

    // MARK: Waiting

    @Test(arguments: ["WAL", "DELETE"])
    func aSaveThatWaitsTooLongNamesTheProcessThatWrites(journal: String) throws {
        let (coordinator, _) = try Self.open(
            url, options: [NSPersistentStoreTimeoutOption: 1, NSSQLitePragmasOption: ["journal_mode": journal]])
        let context = coordinator.newContext()
        let writer = try holding("writing")
        try context.performAndWait {
            Self.maker("Ada", in: context)
            let start = ContinuousClock.now
            let error = #expect(throws: (any Error).self) { try context.save() }
            #expect(ContinuousClock.now - start >= .seconds(1))
            try expectNamesHolder(error)
            writer.stop()
            try context.save()
        }
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZMAKER ORDER BY ZNAME") == ["Ada", "Ida"])
    }

    @Test func anotherStackOfTheSameProcessIsNamedSo() throws {
        let (coordinator, _) = try Self.open(url, options: [NSPersistentStoreTimeoutOption: 0])
        let context = coordinator.newContext()
        let writer = SQLiteFile(url)
        try writer.run("BEGIN IMMEDIATE")
        context.performAndWait {
            Self.maker("Ada", in: context)
            let error = #expect(throws: (any Error).self) { try context.save() }
            #expect(error?.localizedDescription.contains("by another connection of this process") == true)
        }
    }

    @Test func programsThatSaveWithoutAPauseAllTakeTheirTurn() throws {
        let outputs = Counter()
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            let run = try? ProgramRun(OtherProgram.url, ["save", url.path, "100"])
            if run?.output == "saved 100\n" { outputs.increase() }
        }
        #expect(outputs.value == 6)
        #expect(SQLiteFile(url).integer("SELECT count(*) FROM ZMAKER") == 601)
    }

    // MARK: Opening and migrating

    @Test(arguments: ["WAL", "DELETE"])
    func anErrorAtOpeningNamesTheProcessThatKeepsTheFile(journal: String) throws {
        _ = SQLiteFile(url).rows("PRAGMA journal_mode = \(journal)")
        let holder = try holding("exclusive")
        let error = #expect(throws: (any Error).self) {
            try Self.open(url, options: [NSPersistentStoreTimeoutOption: 0])
        }
        try expectNamesHolder(error)
        holder.stop()
        _ = try Self.open(url)
    }

    @Test func aMigrationThatWaitsTooLongNamesTheProcessThatWrites() throws {
        let holder = try holding("writing")
        let error = #expect(throws: (any Error).self) {
            try Self.open(url, attributes: ["name", "town"], options: [NSPersistentStoreTimeoutOption: 0])
        }
        try expectNamesHolder(error)
        holder.stop()
        _ = try Self.open(url, attributes: ["name", "town"])
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZMAKER") == ["Ida"])
    }

    @Test(arguments: ["WAL", "DELETE"])
    func ofSeveralProcessesThatOpenAnOldStoreOneMigratesIt(journal: String) throws {
        _ = SQLiteFile(url).rows("PRAGMA journal_mode = \(journal)")
        let copy = folder.file("Copy.sqlite")
        try FileManager.default.copyItem(at: url, to: copy)
        #expect(try ProgramRun(OtherProgram.url, ["migrate", copy.path]).output == "ready\nopened 1\n")
        // None can migrate it before all have begun.
        let gate = SQLiteFile(url)
        try gate.run("BEGIN IMMEDIATE")
        let programs = try (0..<4).map { _ in try RunningProgram(OtherProgram.url, ["migrate", url.path]) }
        try gate.run("COMMIT")
        #expect(programs.map { $0.nextLine() } == Array(repeating: "opened 1", count: 4))
        for program in programs { program.stop() }
        // Each migration changes the schema.
        let version = "PRAGMA schema_version"
        #expect(SQLiteFile(url).value(version) == SQLiteFile(copy).value(version))
        #expect(SQLiteFile(url).rows("SELECT ZNAME, ZTOWN FROM ZMAKER") == [["Ida", nil]])
    }

    // MARK: The log

    /// Saves 70 MB while another process reads a former state, and then once more without it.
    @Test func aLogThatALongReaderKeepsIsReportedAndShrinksAfterwards() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let test = try SharedFileTests()
            let (coordinator, _) = try Self.open(test.url, attributes: ["name", "data"])
            let log = test.url.path + "-wal"
            let context = coordinator.newContext()
            let reader = try test.holding("reading")
            try context.performAndWait {
                for number in 0..<7 {
                    Self.maker("\(number)", in: context).setValue(Data(count: 10 << 20), forKey: "data")
                    try context.save()
                }
                precondition(Self.size(ofFileAt: log) > 70 << 20)
                reader.stop()
                Self.maker("last", in: context)
                try context.save()
                precondition(Self.size(ofFileAt: log) < 1 << 20)
            }
            exit(0)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.components(separatedBy: "write-ahead log").count == 2, "\(text)")
        for part in ["Makers.sqlite", "MB", "(OtherProgram)"] { #expect(text.contains(part), "\(text)") }
    }

    // MARK: Reading only

    @Test func aReadOnlyStoreLeavesNoFiles() throws {
        let (coordinator, store) = try Self.open(url, options: [NSReadOnlyPersistentStoreOption: true])
        let context = coordinator.newContext()
        let count = try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Maker")).count
        }
        #expect(count == 1)
        try coordinator.remove(store)
        #expect(try files() == ["Makers.sqlite"])
    }

    @Test func aReadOnlyStoreWithSeveralReadersLeavesNoFiles() throws {
        let (coordinator, store) = try Self.open(url, options: [NSReadOnlyPersistentStoreOption: true])
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let context = coordinator.newContext()
            context.performAndWait {
                _ = try? context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Maker")).map {
                    $0.value(forKey: "name") as? String
                }
            }
        }
        try coordinator.remove(store)
        #expect(try files() == ["Makers.sqlite"])
    }

    @Test func readingMetadataLeavesNoFiles() throws {
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(try files() == ["Makers.sqlite"])
    }

    @Test func aReadOnlyStoreKeepsTheLogOfAnotherProcess() throws {
        let writer = try holding("writing")
        let (coordinator, store) = try Self.open(url, options: [NSReadOnlyPersistentStoreOption: true])
        try coordinator.remove(store)
        #expect(try files() == ["Makers.sqlite", "Makers.sqlite-shm", "Makers.sqlite-wal"])
        writer.stop()
    }

    @Test(.enabled(if: OrdinaryUser.isAvailable, "No other user may run the tests' programs."))
    func aReadOnlyStoreInAReadOnlyFolderLeavesNoFiles() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.url.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path) }
        #expect(try OrdinaryUser.run(OtherProgram.url, ["open", "read-only", url.path]).output == "names: Ida\n")
        #expect(try files() == ["Makers.sqlite"])
    }
}
