import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Stores whose functions were made by another version of the package.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .needsICU)
struct FunctionVersionTests {
    private let warehouse: Warehouse
    private let tables: PostgreSQLTables

    /// A store with an older function, by which rows and an index were written; it takes no marks
    /// off.
    init() throws {
        warehouse = try Warehouse(TextLibrary.model(.init(search: nil, order: nil)))
        tables = PostgreSQLTables(warehouse.url)
        try replaceFunctions(version: 0)
        let context = warehouse.context
        try context.performAndWait {
            for number in 0..<300 { _ = context.insert("Book", ["title": "Ärger \(number)"]) }
            try context.save()
        }
    }

    private func replaceFunctions(version: Int) throws {
        _ = try tables.result(
            "CREATE OR REPLACE FUNCTION ocd_fold(t text, options integer) RETURNS text LANGUAGE plpgsql IMMUTABLE "
                + "STRICT "
                + "AS $$ BEGIN RETURN lower(t COLLATE \"und-x-icu\"); END $$; CREATE OR REPLACE FUNCTION "
                + "ocd_functions() RETURNS integer LANGUAGE sql IMMUTABLE "
                + "AS 'SELECT \(version)'; REINDEX INDEX book_by_title_cd; ANALYZE book")
    }

    /// How many titles are found without their marks, by the index.
    private func count(_ context: NSManagedObjectContext) throws -> Int {
        try context.performAndWait {
            let store = try #require(context.persistentStoreCoordinator?.persistentStores.first as? PostgreSQLStore)
            try store.backend().pool.withConnection { try $0.wire.run("SET enable_seqscan TO off") }
            return try context.all("Book", "title ==[cd] 'ARGER 7'").count
        }
    }

    private var version: Int? { tables.integer("SELECT ocd_functions()") }
    private var isOld: Bool {
        tables.value("SELECT prosrc FROM pg_proc WHERE oid = to_regproc('ocd_fold')")?.contains(
            "RETURN lower(t COLLATE") == true
    }

    private func sentences() -> [String] {
        Warnings.all.filter { $0.contains("functions") && $0.contains(warehouse.schema) }
    }

    /// A role that uses the store without owning it.
    private func url(ofRole role: String) throws -> URL {
        let schema = warehouse.schema
        _ = try tables.result(
            "CREATE ROLE \(role) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO \(role); "
                + "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
        return try #require(
            URL(string: warehouse.url.absoluteString.replacingOccurrences(of: "user=app", with: "user=\(role)")))
    }

    private func open(_ url: URL) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: TextLibrary.model(.init(search: nil, order: nil)))
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        return context
    }

    @Test func whoOwnsThemReplacesThemAndWhatIndexesHaveOfThem() throws {
        #expect(try count(warehouse.context) == 0)
        let other = try warehouse.otherProgram()
        #expect(version == PostgreSQLFunctions.version)
        #expect(!isOld)
        #expect(try count(other) == 1)
        // The program that was there goes on.
        #expect(try count(warehouse.context) == 1)
        #expect(sentences().isEmpty)
    }

    @Test func functionsThatDoNotSayTheirVersionAreOlder() throws {
        _ = try tables.result("DROP FUNCTION ocd_functions()")
        _ = try warehouse.otherProgram()
        #expect(version == PostgreSQLFunctions.version)
        #expect(!isOld)
    }

    @Test func functionsOfALaterVersionStay() throws {
        try replaceFunctions(version: PostgreSQLFunctions.version + 1)
        _ = try warehouse.otherProgram()
        #expect(version == PostgreSQLFunctions.version + 1)
        #expect(isOld)
        #expect(sentences().isEmpty)
    }

    @Test func whoDoesNotOwnThemSaysSoAndGoesOn() throws {
        let url = try url(ofRole: "\(warehouse.schema)_user")
        for _ in 0..<2 {
            let user = try open(url)
            try user.performAndWait {
                #expect(try user.all("Book", "title ==[c] 'äRGER 7' OR title BEGINSWITH[cd] 'ärger 8'").count > 0)
                _ = user.insert("Book", ["title": "new"])
                try user.save()
            }
        }
        #expect(version == 0)
        #expect(isOld)
        #expect(sentences().count == 1)
        let sentence = try #require(sentences().first)
        #expect(sentence.contains("version 0"), "\(sentence)")
        #expect(sentence.contains("as the role 'app'"), "\(sentence)")
    }

    @Test func whoOnlyReadsLeavesThem() throws {
        let reader = try warehouse.otherProgram(options: [NSReadOnlyPersistentStoreOption: true])
        #expect(try reader.performAndWait { try reader.all("Book", "title ==[c] 'ÄRGER 7'").count } == 1)
        #expect(version == 0)
        #expect(isOld)
        #expect(sentences().first?.contains("reading") == true)
    }

    @Test func twoThatComeAtOnceReplaceThemOnce() throws {
        let url = warehouse.url
        let others = (0..<6).map { _ in
            OtherThread {
                let coordinator = NSPersistentStoreCoordinator(
                    managedObjectModel: TextLibrary.model(.init(search: nil, order: nil)))
                try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
            }
        }
        for other in others { _ = try other.value() }
        #expect(version == PostgreSQLFunctions.version)
        #expect(!isOld)
        #expect(try count(warehouse.context) == 1)
        #expect(sentences().isEmpty)
    }

    @Test func rowsThatOthersHoldDoNotKeepAStoreFromOpening() throws {
        let holder = PostgreSQLTables(warehouse.url)
        _ = try holder.result("BEGIN; UPDATE book SET year = 1")
        let other = try warehouse.otherProgram(options: [NSPersistentStoreTimeoutOption: 0.3])
        #expect(try other.performAndWait { try other.all("Book", "title BEGINSWITH 'Ärger 1'").count } > 0)
        #expect(isOld)
        #expect(sentences().count == 1)
        _ = try holder.result("ROLLBACK")
    }

    /// Stores replace their functions only for a new version: a changed text needs one. The number
    /// here is the new one's.
    @Test func aChangeOfTheFunctionsRaisesTheirVersion() {
        let texts = (PostgreSQLFunctions.statements(hasICU: true) + PostgreSQLFunctions.collations).joined(
            separator: ";\n")
        let numbers = [3: "20owjy71su43c"]
        #expect(String(SnakeCaseNaming.hash(texts), radix: 36) == numbers[PostgreSQLFunctions.version])
    }
}
