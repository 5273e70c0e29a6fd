import Foundation
import TestSupport
import Testing

@testable import CoreDataToolKit

/// Stores that are named by a symbolic link in another folder: what belongs to them lies beside the
/// file itself.
struct LinkedStoreTests {
    let store: ShelfStore
    let elsewhere: TestSupport.TemporaryFolder

    init() throws {
        store = try ShelfStore()
        elsewhere = try TestSupport.TemporaryFolder()
    }

    /// A link to a link: the first one relative to the folder of the store, the second one of
    /// another name.
    private func link() throws -> String {
        let near = store.workplace.folder.appendingPathComponent("near.sqlite")
        try FileManager.default.createSymbolicLink(atPath: near.path, withDestinationPath: "Shelf.sqlite")
        let far = elsewhere.file("other.sqlite")
        try FileManager.default.createSymbolicLink(at: far, withDestinationURL: near)
        return far.path
    }

    private func expectCover(_ link: String, warnings: Int = 0) throws {
        let run = try store.run(["query", link, "Thing", "--where", "title == 't1'", "--format", "json"])
        #expect(run.status == 0, "\(run.errors)")
        let cover = try #require(try run.rows().first?["cover"] as? String)
        #expect(Data(base64Encoded: cover) == Data(repeating: 7, count: 200_000))
        let report = try #require(try store.run(["info", link, "--json"]).json() as? [String: Any])
        #expect(report["externalFiles"] as? Int == 1)
        #expect((report["warnings"] as? [String])?.count == warnings)
    }

    @Test func externalValuesAreReadBesideTheFileThatALinkLeadsTo() throws { try expectCover(link()) }

    @Test func aFolderThatIsALinkLeadsToTheFilesToo() throws {
        let folder = elsewhere.file("folder")
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: store.workplace.folder)
        try expectCover(folder.appendingPathComponent("Shelf.sqlite").path)
    }

    @Test func externalValuesOfACopyWithItsJournalAreThoseOfTheFileThatALinkLeadsTo() throws {
        // A store that another program left with rows in its log: copied, and the copy is given the
        // log.
        let other = elsewhere.file("running.sqlite")
        try FileManager.default.copyItem(at: store.url, to: other)
        let writer = SQLiteFile(other)
        #expect(writer.execute("PRAGMA journal_mode = WAL"))
        #expect(writer.execute("PRAGMA wal_autocheckpoint = 0"))
        #expect(writer.execute("UPDATE ZTHING SET ZWEIGHT = 5 WHERE ZTITLE = 't1'"))
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: store.path + suffix)
            try FileManager.default.copyItem(atPath: other.path + suffix, toPath: store.path + suffix)
        }
        withExtendedLifetime(writer) {}
        let link = try link()
        try expectCover(link)
        let run = try store.run(["query", link, "Thing", "--where", "weight == 5", "--format", "json"])
        #expect(try run.rows().count == 1)
    }

    @Test func externalValuesOfAMendedCopyAreThoseOfTheFileThatALinkLeadsTo() throws {
        store.change("UPDATE ZTHING SET Z_ENT = 'Book' WHERE ZTITLE = 't4'")
        try expectCover(link(), warnings: 1)
    }
}
