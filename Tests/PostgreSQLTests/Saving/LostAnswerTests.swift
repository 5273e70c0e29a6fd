import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Connections that are lost during a commit, and again while it is looked up what became of it.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"))
struct LostAnswerTests {
    private let proxy: PostgreSQLProxy

    init() throws { proxy = try PostgreSQLProxy(WireConnection.server()) }

    /// Saves something, so that no later save has to commit the taking of keys.
    private func takeKeys(_ context: NSManagedObjectContext) throws {
        try context.performAndWait {
            _ = context.insert("Item", ["name": "taken"])
            try context.save()
        }
    }

    /// The save never arrives, the look-up that gives it up does, and the answer to this is lost.
    @Test func aLookUpDoesNotTakeItselfForTheSave() throws {
        let warehouse = try Warehouse(through: proxy)
        let context = warehouse.context
        try takeKeys(context)
        try context.performAndWait {
            for name in ["first", "second"] {
                _ = context.insert("Item", ["name": name])
                proxy.conduct.dropsCommit = true
                proxy.conduct.losesAnswerTo = PostgreSQLTransactions.givenUp
                let cuts = proxy.cuts
                try context.save()
                #expect(proxy.cuts == cuts + 2)
            }
        }
        #expect(try warehouse.texts("SELECT name FROM item ORDER BY id") == ["taken", "first", "second"])
    }

    /// The save arrives, whatever its author is called.
    @Test func aSaveIsKnownByItsOwnMark() throws {
        let warehouse = try Warehouse(through: proxy)
        let context = warehouse.context
        try takeKeys(context)
        try context.performAndWait {
            context.transactionAuthor = "OpenCoreData: given up"
            context.name = "OpenCoreData: given up"
            _ = context.insert("Item", ["name": "once"])
            proxy.conduct.losesCommit = true
            try context.save()
            #expect(proxy.cuts == 1)
        }
        #expect(try warehouse.texts("SELECT name FROM item ORDER BY id") == ["taken", "once"])
        #expect(try warehouse.texts("SELECT count(*) FROM ocd_transaction") == ["2"])
    }

    /// A look-up that fails is reported, with the outcome as unknown.
    @Test func whateverKeepsTheLookUpFromAskingIsToldWithWhatIsUnknown() throws {
        struct Expired: Error {}
        let isExpired = Counter()
        let provider = NSPostgreSQLPasswordProvider {
            if isExpired.value > 0 { throw Expired() }
            return ""
        }
        let warehouse = try Warehouse(
            options: [NSPostgreSQLPasswordProviderKey: provider, NSPersistentStoreTimeoutOption: 2], through: proxy)
        let context = warehouse.context
        try takeKeys(context)
        try context.performAndWait {
            _ = context.insert("Item", ["name": "saved"])
            isExpired.increase()
            proxy.conduct.losesCommit = true
            let error = try #require(throws: NSError.self) { try context.save() }
            #expect(proxy.cuts == 1)
            #expect(error.localizedDescription.contains("cannot be asked whether it was"), "\(error)")
            #expect(error.localizedDescription.contains("Expired"), "\(error)")
            let save = try #require(
                try warehouse.texts("SELECT save FROM ocd_transaction WHERE number = 2").first ?? nil)
            #expect(error.localizedRecoverySuggestion?.contains(save) == true, "\(error)")
        }
    }

    // MARK: Copies

    /// Copies a store in memory through the proxy into a store that is there already.
    private func copy(_ conduct: (inout PostgreSQLProxy.Conduct) -> Void) throws -> (
        copy: Result<Void, any Error>, count: String?
    ) {
        let warehouse = try Warehouse(through: proxy)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let source = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = coordinator.newContext()
        try context.performAndWait {
            for number in 0..<70 { _ = context.insert("Item", ["name": "\(number)"]) }
            try context.save()
        }
        conduct(&proxy.conduct)
        let result = Result<Void, any Error> {
            let copy = try coordinator.migratePersistentStore(
                source, to: warehouse.url, withType: NSPostgreSQLStoreType)
            #expect(coordinator.persistentStores == [copy])
            let found = try context.performAndWait { try context.all("Item").count }
            #expect(found == 70)
        }
        return (result, try warehouse.texts("SELECT count(*) FROM item")[0])
    }

    /// The first commit takes the keys.
    @Test func aCopyWhoseAnswerIsLostIsDone() throws {
        let (result, count) = try copy { conduct in
            conduct.losesCommit = true
            conduct.commitsThatArrive = 1
        }
        #expect(proxy.cuts == 1)
        #expect(throws: Never.self) { try result.get() }
        #expect(count == "70")
    }

    @Test func aCopyThatIsCutBeforeIsNotDone() throws {
        let (result, count) = try copy { conduct in
            conduct.dropsCommit = true
            conduct.commitsThatArrive = 1
        }
        #expect(proxy.cuts == 1)
        #expect(throws: NSError.self) { try result.get() }
        #expect(count == "0")
    }
}
