import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Migrations of stores in a database that end in the middle, wherever that is, and programs that
/// migrate one store at the same time.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct CutMigrationTests {
    private let proxy: PostgreSQLProxy

    init() throws { proxy = try PostgreSQLProxy(WireConnection.server()) }

    // MARK: Ends

    /// Every open is cut some bytes later than the one before, until one is not.
    @Test(arguments: VersionedShelves.Change.allCases)
    func aStoreIsOfOneVersionWhereverItsMigrationIsCut(change: VersionedShelves.Change) throws {
        var store = try VersionedShelves(change)
        let step = LongTests.areEnabled ? 211 : 1_999
        var (bytes, formerStores) = (step, 0)
        while true {
            let cuts = proxy.cuts
            proxy.conduct.bytesUntilCut = bytes
            let error = errorThrown { try store.migrate(through: proxy.url(schema: store.schema)) }
            let wasCut = proxy.cuts > cuts
            proxy.conduct.bytesUntilCut = nil
            let isLater = try store.isLater("cut behind \(bytes) bytes")
            // What was reported as opened is of the later version.
            #expect(isLater || error != nil, "cut behind \(bytes) bytes")
            #expect(error == nil || error?.domain == NSCocoaErrorDomain, "\(error as Any)")
            guard wasCut else { break }
            bytes += step
            if isLater {
                try store.expectAllRows()
                store = try VersionedShelves(change)
            } else {
                formerStores += 1
            }
        }
        #expect(formerStores > 3)
        try store.expectAllRows()
    }

    /// Parts of what a migration sends, in about their order.
    private static func statements(_ change: VersionedShelves.Change) -> [String] {
        let first = ["pg_advisory_xact_lock", "ACCESS EXCLUSIVE MODE", "SELECT number, last_key", "RENAME TO"]
        let middle =
            switch change {
            case .altered: ["RENAME COLUMN", "ADD COLUMN", "DROP DEFAULT", "DROP NOT NULL"]
            case .copied: ["CREATE TABLE", "INSERT INTO", "DROP TABLE"]
            }
        return first + middle + ["DELETE FROM ocd_entity", "UPDATE ocd_store", "INSERT INTO ocd_model"]
    }

    @Test(arguments: VersionedShelves.Change.allCases)
    func aStoreIsOfTheFormerVersionWhicheverAnswerIsLost(change: VersionedShelves.Change) throws {
        let store = try VersionedShelves(change)
        for statement in Self.statements(change) {
            let cuts = proxy.cuts
            proxy.conduct.losesAnswerTo = statement
            let error = errorThrown { try store.migrate(through: proxy.url(schema: store.schema)) }
            proxy.conduct.losesAnswerTo = nil
            try #require(proxy.cuts == cuts + 1, "no request has '\(statement)'")
            #expect(error?.domain == NSCocoaErrorDomain, "\(statement): \(error as Any)")
            let isLater = try store.isLater("\(statement)")
            #expect(!isLater, "\(statement)")
        }
        try store.expectAllRows()
    }

    @Test(arguments: VersionedShelves.Change.allCases)
    func aMigrationWhoseCommitIsNotAnsweredIsDone(change: VersionedShelves.Change) throws {
        let store = try VersionedShelves(change)
        proxy.conduct.losesCommit = true
        // Opening may fail, or find out.
        let error = errorThrown { try store.migrate(through: proxy.url(schema: store.schema)) }
        #expect(proxy.cuts == 1)
        #expect(error == nil || error?.domain == NSCocoaErrorDomain, "\(error as Any)")
        let isLater = try store.isLater()
        #expect(isLater)
        let reports = try VersionedShelves.migrate(store.url, change)
        #expect(reports.isEmpty)
        try store.expectAllRows()
    }

    @Test(arguments: VersionedShelves.Change.allCases)
    func aMigrationWhoseServerProcessIsEndedIsMadeTheNextTime(change: VersionedShelves.Change) throws {
        let store = try VersionedShelves(change)
        let url = store.url
        var ended = 0
        for step in 1...30 {
            let reports = Counter()
            let error = errorThrown {
                _ = try VersionedShelves.migrate(url, change) { fraction in
                    guard fraction > 0, fraction < 1, reports.increase() == step else { return }
                    VersionedShelves.endMigration(of: url)
                }
            }
            guard error != nil else { break }
            ended += 1
            let isLater = try store.isLater("ended at report \(step)")
            #expect(!isLater, "ended at report \(step)")
        }
        // When the tables are there, when their indexes are, and when all is done but the commit.
        #expect(ended >= 3)
        try store.expectAllRows()
    }

    /// On the connection that is made in the place of the lost one.
    @Test func aSaveThatIsCutFindsTheStoreMigrated() throws {
        let store = try VersionedShelves(.altered)
        let former = try VersionedShelves.open(VersionedShelves.former(), at: proxy.url(schema: store.schema))
        try former.performAndWait {
            let book = try former.all("Book", "pages == 3")[0]
            book.setValue("unsaved", forKey: "title")
            proxy.conduct.bytesUntilCut = 0
            try store.migrate()
            let error = try #require(throws: NSError.self) { try former.save() }
            #expect(error.code == NSPersistentStoreIncompatibleVersionHashError, "\(error)")
        }
        proxy.conduct.bytesUntilCut = nil
        try store.expectAllRows()
    }

    // MARK: Several at once

    @Test(arguments: VersionedShelves.Change.allCases)
    func ofFourProgramsOneMigratesAndTheOthersFindItDone(change: VersionedShelves.Change) throws {
        let store = try VersionedShelves(change)
        let url = store.url
        let programs = (0..<4).map { _ in
            OtherThread { try VersionedShelves.migrate(url, change).contains { $0 > 0 && $0 < 1 } }
        }
        let made = try programs.map { try $0.value() }
        #expect(made.filter { $0 }.count == 1)
        try store.expectAllRows()
    }

    /// The first one's connection ends while the second waits for it.
    @Test(arguments: VersionedShelves.Change.allCases)
    func whoWaitsForAMigrationThatIsEndedMakesIt(change: VersionedShelves.Change) throws {
        let store = try VersionedShelves(change)
        let (url, schema) = (store.url, store.schema)
        let waiting = Mutex<OtherThread<[Double]>?>(nil)
        let error = errorThrown {
            _ = try VersionedShelves.migrate(url, change) { fraction in
                // Once.
                guard fraction > 0.85, fraction < 0.95 else { return }
                let second = OtherThread { try VersionedShelves.migrate(url, change) }
                waiting.withLock { $0 = second }
                let tables = PostgreSQLTables(url)
                let count = """
                    SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objsubid = 1 \
                    AND (classid::bigint << 32 | objid::bigint) = hashtextextended('OpenCoreData \(schema)', 0)
                    """
                #expect(wait { tables.integer(count) != 0 || second.isOver })
                VersionedShelves.endMigration(of: url)
            }
        }
        #expect(error != nil)
        let second = try #require(waiting.withLock { $0 })
        let reports = try second.value()
        #expect(reports.contains { $0 > 0 && $0 < 1 })
        let isLater = try store.isLater()
        #expect(isLater)
        try store.expectAllRows()
    }
}
