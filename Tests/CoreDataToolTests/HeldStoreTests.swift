import CoreData
import TestSupport
import Testing

/// The command and the engine on stores that other programs use at the same time, or left in the
/// middle of something.
struct HeldStoreTests {
    let folder: TestSupport.TemporaryFolder
    let url: URL

    init() throws {
        folder = try TestSupport.TemporaryFolder()
        url = folder.file("Makers.sqlite")
        let name = NSAttributeDescription("name", .stringAttributeType)
        let model = NSManagedObjectModel([NSEntityDescription("Maker", class: "NSManagedObject", [name])])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = coordinator.newContext()
        try context.performAndWait {
            let maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context)
            maker.setValue("Ida", forKey: "name")
            try context.save()
        }
        try coordinator.remove(store)
    }

    /// Makes the store one with a rollback journal.
    private func leaveWAL() { _ = SQLiteFile(url).rows("PRAGMA journal_mode = DELETE") }

    /// The bytes of the store's files, without the shared memory, which belongs to running
    /// programs.
    private func content() throws -> [String: Data] {
        var content: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) where !name.hasSuffix("-shm") {
            content[name] = try Data(contentsOf: folder.file(name))
        }
        return content
    }

    private func holding(_ how: String) throws -> RunningProgram {
        try RunningProgram(OtherProgram.url, ["hold", how, url.path])
    }

    private var commands: [[String]] {
        [["query", url.path, "Maker", "--format", "csv", "--columns", "name"], ["info", url.path]]
    }

    /// Runs the command, which must show the one maker and change nothing.
    private func expectCommittedContent() throws {
        let before = try content()
        let query = try ProgramRun(OtherProgram.command, commands[0])
        #expect(query.output == "name\r\nIda\r\n" || query.output == "name\nIda\n")
        let info = try ProgramRun(OtherProgram.command, commands[1])
        #expect(info.status == 0)
        #expect(info.output.contains("Maker"))
        #expect(try content() == before)
    }

    @Test func aStoreThatIsBeingWrittenShowsWhatWasCommitted() throws {
        let writer = try holding("writing")
        try expectCommittedContent()
        writer.stop()
        try expectCommittedContent()
    }

    @Test func aStoreWithARollbackJournalThatIsBeingWrittenShowsWhatWasCommitted() throws {
        leaveWAL()
        let writer = try holding("writing")
        try expectCommittedContent()
        writer.stop()
    }

    @Test(arguments: LongTests.some(1, of: [false, true]))
    func aStoreThatIsKeptLockedIsNamed(hasRollbackJournal: Bool) throws {
        if hasRollbackJournal { leaveWAL() }
        let writer = try holding("exclusive")
        let before = try content()
        // Each waits for some seconds; both open stores in the same way.
        for arguments in [commands[hasRollbackJournal ? 0 : 1]] {
            let run = try ProgramRun(OtherProgram.command, arguments)
            #expect(run.status == 1)
            #expect(
                run.output
                    == "coredata: '\(url.path)' is locked by another program. Try again when that has finished.\n")
        }
        for mode in LongTests.some(1, of: ["read-only", "writable"]) {
            let opened = try ProgramRun(OtherProgram.url, ["open", mode, url.path])
            #expect(opened.output.hasPrefix("error \(CocoaError.persistentStoreTimeout.rawValue)"))
            #expect(opened.output.contains(url.path))
        }
        #expect(try content() == before)
        writer.stop()
        try expectCommittedContent()
    }

    @Test func aHotJournalIsRolledBackInACopy() throws {
        leaveWAL()
        #expect(try ProgramRun(OtherProgram.url, ["crash", url.path]).status == 9)
        #expect(FileManager.default.fileExists(atPath: url.path + "-journal"))
        try expectCommittedContent()
        // A store that may not be written cannot be rolled back.
        let refused = try ProgramRun(OtherProgram.url, ["open", "read-only", url.path]).output
        #expect(refused.contains(url.path + "-journal"))
        #expect(refused.contains("NSReadOnlyPersistentStoreOption"))
        #expect(try ProgramRun(OtherProgram.url, ["open", "writable", url.path]).output == "names: Ida\nsaved\n")
    }

    // MARK: Ordinary users

    private func setPermissions(_ folderMode: Int, _ fileMode: Int) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            try FileManager.default.setAttributes([.posixPermissions: fileMode], ofItemAtPath: folder.file(name).path)
        }
        try FileManager.default.setAttributes([.posixPermissions: folderMode], ofItemAtPath: folder.url.path)
    }

    private func expectReadableOnly() throws {
        let before = try content()
        let query = try OrdinaryUser.run(OtherProgram.command, commands[0])
        #expect(query.status == 0, "\(query.output)")
        #expect(query.output.contains("Ida"), "\(query.output)")
        #expect(try OrdinaryUser.run(OtherProgram.command, commands[1]).status == 0)
        #expect(try content() == before)
        #expect(try OrdinaryUser.run(OtherProgram.url, ["open", "read-only", url.path]).output == "names: Ida\n")
        let writing = try OrdinaryUser.run(OtherProgram.url, ["open", "writable", url.path]).output
        #expect(writing.hasPrefix("error \(CocoaError.fileWriteNoPermission.rawValue)"), "\(writing)")
        #expect(writing.contains(url.path), "\(writing)")
        #expect(writing.contains("permission"), "\(writing)")
        // SQLite makes an empty WAL where it can, also to read.
        #expect(try content().filter { !$0.value.isEmpty } == before.filter { !$0.value.isEmpty })
    }

    @Test(.enabled(if: OrdinaryUser.isAvailable, "no other user to run programs as"), arguments: [true, false])
    func aStoreInAReadOnlyFolderCanBeReadButNotWritten(usesWAL: Bool) throws {
        if !usesWAL { leaveWAL() }
        try setPermissions(0o555, 0o444)
        defer { try? setPermissions(0o755, 0o644) }
        try expectReadableOnly()
    }

    @Test(.enabled(if: OrdinaryUser.isAvailable, "no other user to run programs as"))
    func aReadOnlyFileInAWritableFolderCanBeReadButNotWritten() throws {
        try setPermissions(0o777, 0o444)
        defer { try? setPermissions(0o755, 0o644) }
        try expectReadableOnly()
    }

    @Test(.enabled(if: geteuid() == 0 && OrdinaryUser.isAvailable, "no other user to run programs as"))
    func aStoreInAReadOnlyFolderIsReadWhileItsOwnerWrites() throws {
        let writer = try holding("writing")
        SQLiteFile(url).execute("SELECT 1")
        try setPermissions(0o555, 0o444)
        defer { try? setPermissions(0o755, 0o644) }
        try expectReadableOnly()
        writer.stop()
    }

    @Test(.enabled(if: OrdinaryUser.isAvailable, "no other user to run programs as"))
    func aFileThatMayNotBeReadIsNamed() throws {
        try setPermissions(0o755, 0o000)
        defer { try? setPermissions(0o755, 0o644) }
        for arguments in commands {
            let run = try OrdinaryUser.run(OtherProgram.command, arguments)
            #expect(run.status == 1)
            #expect(run.output.contains("cannot be read. Check its permissions."))
        }
        for mode in ["read-only", "writable"] {
            let opened = try OrdinaryUser.run(OtherProgram.url, ["open", mode, url.path]).output
            #expect(opened.hasPrefix("error "), "\(opened)")
            #expect(opened.contains(url.path), "\(opened)")
            #expect(opened.contains("change the permissions"), "\(opened)")
        }
    }
}
