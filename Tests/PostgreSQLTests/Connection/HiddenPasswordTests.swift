import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// Passwords of stores are shown by nothing that a program prints.
@Suite(.long, .enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL's server"), .timeLimit(.minutes(5)))
struct HiddenPasswordTests {
    typealias Way = PasswordedStore.Way

    /// The look at values that the other tests take does see what errors and lists within them
    /// hold.
    @Test func whatIsHiddenDeepIsFound() throws {
        let url = try #require(URL(string: "postgresql://app:secret@db.example/shop"))
        let inner = NSError(domain: NSCocoaErrorDomain, code: 1, userInfo: [NSURLErrorKey: url])
        let outer = NSError(
            domain: NSCocoaErrorDomain, code: 2,
            userInfo: [NSDetailedErrorsKey: [inner], NSLocalizedDescriptionKey: "plain"])
        let notification = Notification(
            name: .NSPersistentStoreRemoteChange, object: nil, userInfo: ["list": [["error": outer]]])
        #expect(ShownTexts.of(notification).contains(url.absoluteString))
    }

    // MARK: Open stores

    @Test(arguments: Way.allCases) func whatAStoreSaysOfItselfShowsNone(way: Way) throws {
        let guarded = try PasswordedStore(way)
        let store = try guarded.open()
        #expect(store.url?.absoluteString.contains(guarded.schema) == true)
        ShownTexts.expectNoPassword(in: store)
        let coordinator = guarded.coordinator
        for value in [
            coordinator, coordinator.persistentStores, coordinator.url(for: store), coordinator.metadata(for: store),
        ] as [Any] {
            ShownTexts.expectNoPassword(in: value)
        }
        let context = guarded.newContext()
        try context.performAndWait {
            let tag = context.insert("Tag", ["label": "new"])
            try context.save()
            for value in [tag, tag.objectID, tag.objectID.uriRepresentation(), context] as [Any] {
                ShownTexts.expectNoPassword(in: value)
            }
        }
    }

    @Test(arguments: Way.allCases) func aStoreThatIsGivenAnotherURLShowsNone(way: Way) throws {
        let guarded = try PasswordedStore(way)
        let store = try guarded.open()
        // Refused as well as taken.
        for parameter in ["&ocd.unknown=1", "&application_name=other"] {
            let url = try #require(URL(string: guarded.url.absoluteString + parameter))
            _ = guarded.coordinator.setURL(url, for: store)
            ShownTexts.expectNoPassword(in: store)
        }
    }

    // MARK: Notifications

    @Test(arguments: Way.allCases) func notificationsShowNone(way: Way) throws {
        let following = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
        let guarded = try PasswordedStore(way, options: following)
        let log = NotificationLog(
            [
                .NSPersistentStoreCoordinatorStoresWillChange, .NSPersistentStoreCoordinatorStoresDidChange,
                .NSPersistentStoreRemoteChange,
            ],
            from: guarded.coordinator)
        let store = try guarded.open()
        let context = guarded.newContext()
        let isTold = try wait(upTo: 30) {
            try context.performAndWait {
                _ = context.insert("Tag", ["label": "new"])
                try context.save()
            }
            return wait(upTo: 1) { log.names.contains(.NSPersistentStoreRemoteChange) }
        }
        #expect(isTold)
        let other = try PasswordedStore(way)
        let moved = try guarded.coordinator.migratePersistentStore(
            store, to: other.url, options: other.options, withType: NSPostgreSQLStoreType)
        ShownTexts.expectNoPassword(in: moved)
        let removal = NotificationLog(.NSPersistentStoreCoordinatorWillRemoveStore, from: moved)
        try guarded.coordinator.remove(moved)
        #expect(removal.count == 1)
        let all = log.all + removal.all
        #expect(all.contains { $0.userInfo?[NSAddedPersistentStoresKey] != nil })
        #expect(all.contains { $0.userInfo?[NSRemovedPersistentStoresKey] != nil })
        #expect(all.contains { $0.userInfo?[NSUUIDChangedPersistentStoresKey] != nil })
        for notification in all { ShownTexts.expectNoPassword(in: notification, notification.name.rawValue) }
    }

    // MARK: Errors

    enum Failure: CaseIterable, Sendable {
        case wrongPassword, unknownDatabase, unreachableServer, unknownParameter

        func store(_ way: Way) throws -> PasswordedStore {
            switch self {
            case .wrongPassword: try PasswordedStore(way, password: "another secret")
            case .unknownDatabase: try PasswordedStore(way, database: "nodatabase")
            case .unreachableServer: try PasswordedStore(way, host: "/nowhere/at/all")
            case .unknownParameter: try PasswordedStore(way, parameters: "&ocd.unknown=1")
            }
        }

        /// The words to expect in the error.
        var words: String {
            switch self {
            case .wrongPassword: "28P01"
            case .unknownDatabase: "3D000"
            case .unreachableServer: "/nowhere/at/all"
            case .unknownParameter: "ocd.unknown"
            }
        }

        /// The words to expect in the advice.
        var advice: String? {
            switch self {
            case .wrongPassword: "password"
            case .unknownDatabase: "Create the database"
            case .unreachableServer: "whether the server runs"
            case .unknownParameter: nil
            }
        }
    }

    @Test(arguments: Way.allCases, Failure.allCases) func anErrorOfOpeningShowsNone(way: Way, failure: Failure) throws {
        let guarded = try failure.store(way)
        let error = try #require(throws: NSError.self) { try guarded.open() }
        #expect(error.localizedDescription.contains(failure.words), "\(error)")
        if let advice = failure.advice {
            #expect(error.localizedRecoverySuggestion?.contains(advice) == true, "\(error)")
        }
        ShownTexts.expectNoPassword(in: error)
    }

    @Test(arguments: Way.allCases, Failure.allCases) func anErrorAboutAClosedStoreShowsNone(way: Way, failure: Failure)
        throws
    {
        let guarded = try failure.store(way)
        let (type, coordinator) = (NSPostgreSQLStoreType, guarded.coordinator)
        let reading = errorThrown {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: type, at: guarded.url, options: guarded.options)
        }
        // In a database that is not there nothing has to be destroyed.
        let destroying = errorThrown {
            try coordinator.destroyPersistentStore(at: guarded.url, ofType: type, options: guarded.options)
        }
        let replacing = errorThrown {
            try coordinator.replacePersistentStore(
                at: guarded.url, destinationOptions: guarded.options, withPersistentStoreFrom: guarded.url,
                sourceOptions: guarded.options,
                ofType: type)
        }
        #expect(reading != nil)
        #expect(replacing != nil)
        for error in [reading, destroying, replacing].compactMap({ $0 }) { ShownTexts.expectNoPassword(in: error) }
    }

    @Test(arguments: Way.allCases) func anErrorOfAMoveShowsNone(way: Way) throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("store.sqlite"))
        let target = try PasswordedStore(way, password: "another secret")
        let error = try #require(throws: NSError.self) {
            try coordinator.migratePersistentStore(
                store, to: target.url, options: target.options, withType: NSPostgreSQLStoreType)
        }
        ShownTexts.expectNoPassword(in: error)
    }

    @Test(arguments: Way.allCases) func anErrorOfARefusedStatementShowsNone(way: Way) throws {
        let guarded = try PasswordedStore(way)
        try guarded.open()
        let context = guarded.newContext()
        try guarded.run("ALTER TABLE item RENAME COLUMN stock_count TO amount")
        try context.performAndWait {
            ShownTexts.expectNoPassword(in: try #require(throws: NSError.self) { try context.all("Item") })
            _ = context.insert("Item", ["name": "new"])
            ShownTexts.expectNoPassword(in: try #require(throws: NSError.self) { try context.save() })
        }
    }

    @Test(arguments: Way.allCases) func anErrorOfALostConnectionShowsNone(way: Way) throws {
        var proxy: PostgreSQLProxy? = try PostgreSQLProxy(WireConnection.server())
        let made = try PasswordedStore(way)
        try made.coordinator.remove(made.open())
        let address = try #require(proxy?.url(schema: made.schema))
        let parameters = URLComponents(url: address, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let host = try #require(parameters.first { $0.name == "host" }?.value)
        let guarded = try PasswordedStore(
            way, host: host, schema: made.schema, options: [NSPersistentStoreTimeoutOption: 3])
        try guarded.open()
        let context = guarded.newContext()
        try context.performAndWait {
            #expect(try context.all("Item").isEmpty)
            // All connections end, and no other can be made.
            proxy = nil
            ShownTexts.expectNoPassword(in: try #require(throws: NSError.self) { try context.all("Item") })
            _ = context.insert("Item", ["name": "new"])
            ShownTexts.expectNoPassword(in: try #require(throws: NSError.self) { try context.save() })
        }
    }

    /// A connection string is an option, by which the program says where the store is: errors show
    /// it no more than a URL.
    @Test(arguments: ["password='another secret'", "password=another secret", "password='another secret"])
    func anErrorOfAConnectionStringShowsNone(password: String) throws {
        let server = try WireConnection.server()
        let url = try #require(URL(string: "postgresql:///?ocd.schema=\(server.newSchemaName())"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let info = "\(server.connectionString(user: server.scramUser)) \(password)"
        let error = try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(
                ofType: NSPostgreSQLStoreType, configurationName: nil, at: url,
                options: [NSPostgreSQLConnectionInfoKey: info])
        }
        ShownTexts.expectNoPassword(in: error)
    }

    /// The client library takes all before the first `@` for the user and the password, whatever a
    /// URL's rules say of `#` and `?`.
    @Test(arguments: ["1234#secret", "1234?secret", "1234%23secret", "1234%3Fsecret"])
    func aPasswordWithCharactersThatEndAHostShowsNone(password: String) throws {
        let url = try #require(URL(string: "postgresql://app:\(password)@/app?host=/nowhere/at/all&ocd.schema=nothing"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())
        let error = try #require(throws: NSError.self) {
            try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url)
        }
        ShownTexts.expectNoPassword(in: error)
    }

    // MARK: Warnings

    @Test(arguments: Way.allCases) func warningsShowNone(way: Way) throws {
        let made = try PasswordedStore(way)
        try made.coordinator.remove(made.open())
        let role = try WireConnection.server().scramUser
        try made.run("REVOKE SELECT ON ocd_transaction FROM \(role)")
        let guarded = try PasswordedStore(
            way, schema: made.schema, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        try guarded.open()
        // It names the store by its URL.
        #expect(
            wait(upTo: 30) {
                Warnings.all.contains { $0.contains("may not read its transactions") && $0.contains("=\(made.schema)") }
            })
        for sentence in Warnings.all { #expect(!sentence.contains(PasswordedStore.mark), "\(sentence)") }
    }
}
