import TestSupport
import Testing

@testable import CoreData

/// Stores with too many rows to look at when they are opened: files that no row names go while the
/// store is used.
struct BackgroundSweepTests {
    let folder: TemporaryFolder
    let url: URL
    let files: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("gallery.sqlite")
        files = Gallery.folder(of: url)
        try Gallery.create(url)
    }

    private func place(_ count: Int) throws -> [URL] {
        try (0..<count).map { _ in
            let file = files.appendingPathComponent(UUID().uuidString)
            try Data("left over".utf8).write(to: file)
            return file
        }
    }

    private func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

    /// Opens the store as one that has many rows.
    private func open(_ options: [AnyHashable: Any] = [:]) throws -> NSPersistentStoreCoordinator {
        try ExternalFileSweep.$fewRows.withValue(3) { try Gallery.open(url, options: options) }
    }

    private func sweep(_ coordinator: NSPersistentStoreCoordinator) throws -> BackgroundSweep {
        try #require((coordinator.persistentStores.first as? SQLiteStore)?.openPool?.backgroundSweep)
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test(arguments: ["WAL", "DELETE"]) func filesThatNoRowNamesGoWhileTheStoreIsOpen(journal: String) throws {
        let named = try Set(Gallery.files(of: url))
        let leftOver = try place(20)
        let coordinator = try open([NSSQLitePragmasOption: ["journal_mode": journal]])
        try sweep(coordinator).wait()
        #expect(!leftOver.contains(where: isThere))
        #expect(try Set(Gallery.files(of: url)) == named)
        #expect(try Gallery.wrongPhotos(coordinator.newContext()).isEmpty)
        try close(coordinator)
    }

    @Test func manyRowsWithExternalValuesKeepTheirFiles() throws {
        // The same file for thousands of rows, as no program would write it, and a hundred files
        // behind them.
        let file = SQLiteFile(url)
        let one = try #require(Gallery.filesNamed(file).first)
        let bytes = "CAST(X'02' || '\(one)' || X'00' AS BLOB)"
        #expect(
            file.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20001) INSERT INTO ZNOTE "
                    + "(Z_ENT, Z_OPT, ZTEXT, ZSCAN) "
                    + "SELECT (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'), 1, 'n', \(bytes) FROM n"))
        let last = try place(100)
        for file in last {
            let value = "CAST(X'02' || '\(file.lastPathComponent)' || X'00' AS BLOB)"
            #expect(
                SQLiteFile(url).execute(
                    "INSERT INTO ZNOTE (Z_ENT, Z_OPT, ZTEXT, ZSCAN) SELECT Z_ENT, 1, 'last', \(value) FROM "
                        + "Z_PRIMARYKEY WHERE Z_NAME = 'Note'"
                ))
        }
        let leftOver = try place(50)
        // As any program opens it: there are more rows than are looked at meanwhile.
        let coordinator = try Gallery.open(url)
        try sweep(coordinator).wait()
        #expect(!leftOver.contains(where: isThere))
        #expect(last.allSatisfy(isThere))
        #expect(isThere(files.appendingPathComponent(one)))
        try close(coordinator)
    }

    @Test func savesMeanwhileKeepTheirFiles() throws {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<15 {
            let leftOver = try place(3)
            let coordinator = try open()
            let context = coordinator.newContext()
            for _ in 0..<4 { _ = try Gallery.step(in: context, &generator) }
            try sweep(coordinator).wait()
            for _ in 0..<2 { _ = try Gallery.step(in: context, &generator) }
            #expect(try Gallery.wrongPhotos(coordinator.newContext()).isEmpty)
            try close(coordinator)
            #expect(!leftOver.contains(where: isThere))
        }
        #expect(try Gallery.problems(url).isEmpty)
    }

    @Test func closingAtOnceEndsTheSweepAndHarmsNothing() throws {
        let named = try Set(Gallery.files(of: url))
        for _ in 0..<30 {
            _ = try place(1)
            try close(try open())
        }
        #expect(try Set(Gallery.files(of: url)).isSuperset(of: named))
        let coordinator = try open()
        try sweep(coordinator).wait()
        try close(coordinator)
        #expect(try Set(Gallery.files(of: url)) == named)
    }

    @Test func filesThatASaveElsewhereHasNotCommittedYetStay() throws {
        let writer = SQLiteFile(url)
        let coordinator = try Gallery.open(url)
        try close(coordinator)
        #expect(writer.execute("BEGIN IMMEDIATE"))
        let fresh = try place(1)
        let other = try open([NSPersistentStoreTimeoutOption: 0.05])
        try sweep(other).wait()
        #expect(fresh.allSatisfy(isThere))
        writer.execute("ROLLBACK")
        try close(other)
    }

    @Test func filesThatAReaderElsewhereStillSeesStayUntilTheStoreIsClosed() throws {
        let reader = SQLiteFile(url)
        reader.execute("BEGIN")
        _ = reader.value("SELECT count(*) FROM ZPERSON")
        let file = "SELECT CAST(substr(ZPHOTO, 2, 36) AS TEXT) FROM ZPERSON WHERE ZNAME = '\(Gallery.names[0])'"
        let superseded = files.appendingPathComponent(try #require(SQLiteFile(url).value(file)))
        #expect(SQLiteFile(url).execute("UPDATE ZPERSON SET ZPHOTO = NULL WHERE ZNAME = '\(Gallery.names[0])'"))
        let coordinator = try open()
        try sweep(coordinator).wait()
        #expect(isThere(superseded))
        reader.execute("COMMIT")
        try close(coordinator)
        #expect(!isThere(superseded))
    }

    @Test func aStoreThatIsOnlyReadIsNotLookedThrough() throws {
        let leftOver = try place(1)
        let coordinator = try open([NSReadOnlyPersistentStoreOption: true])
        try sweep(coordinator).wait()
        try close(coordinator)
        #expect(leftOver.allSatisfy(isThere))
    }
}
