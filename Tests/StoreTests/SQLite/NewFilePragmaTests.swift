import TestSupport
import Testing

@testable import CoreData

/// Pragmas that count before the first page of a file is written.
struct NewFilePragmaTests {
    private let folder: TemporaryFolder
    private let url: URL

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("company.sqlite")
    }

    private func open(_ pragmas: [String: String]) throws -> OpenStore {
        try OpenStore(model: TestModel.company(), url: url, options: [NSSQLitePragmasOption: pragmas])
    }

    @Test(
        arguments: [
            ("page_size", "8192", "8192"), ("PAGE_SIZE", "65536", "65536"), ("encoding", "UTF-16le", "UTF-16le"),
            ("auto_vacuum", "NONE", "0"), ("auto_vacuum", "FULL", "1"),
        ])
    func aNewStoreIsMadeAsTheyWish(name: String, value: String, result: String) throws {
        let store = try open([name: value])
        try store.insert("Tag", ["name": .string("größer")])
        #expect(
            try store.strings("Tag", "name", NSPredicate(format: "name ENDSWITH[cd] 'OSSER' OR name == 'größer'")) == [
                "größer"
            ])
        try store.close()
        let file = SQLiteFile(url)
        #expect(file.value("PRAGMA \(name)") == result)
        #expect(file.value("PRAGMA journal_mode") == "wal")
        #expect(file.value("SELECT ZNAME FROM ZTAG") == "größer")
        // The file keeps what it was made with.
        let again = try open([:])
        #expect(try again.strings("Tag") == ["größer"])
        #expect(SQLiteFile(url).value("PRAGMA \(name)") == (name == "auto_vacuum" && value == "FULL" ? "2" : result))
    }

    @Test func withoutThemItIsMadeAsAlways() throws {
        try open([:]).close()
        #expect(
            SQLiteFile(url).rows("SELECT page_size, auto_vacuum FROM pragma_page_size, pragma_auto_vacuum") == [
                ["4096", "2"]
            ])
    }
}
