import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQL

/// A store of a role that is asked for a password.
struct PasswordedStore {
    /// How a store is given the password.
    enum Way: String, CaseIterable, Sendable {
        case beforeTheHost, amongTheParameters, provider
    }

    /// A word of every password here, and of nothing else.
    static let mark = "secret"

    let url: URL
    let options: [AnyHashable: Any]
    let schema: String
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Warehouse.model())

    /// - Parameters:
    ///   - password: the right one unless given.
    ///   - host: the folder of the server's socket unless given.
    ///   - schema: one of its own, which is the role's, unless given.
    init(
        _ way: Way, password: String? = nil, database: String? = nil, host: String? = nil, schema: String? = nil,
        parameters: String = "",
        options: [AnyHashable: Any] = [:]
    ) throws {
        let server = try WireConnection.server()
        let password = password ?? server.password
        #expect(password.contains(Self.mark))
        self.schema = schema ?? server.newSchemaName()
        let encoded = try #require(password.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let place =
            "/\(database ?? server.database)?host=\(host ?? server.socketFolder)&ocd.schema=\(self.schema)\(parameters)"
        switch way {
        case .beforeTheHost:
            url = try #require(URL(string: "postgresql://\(server.scramUser):\(encoded)@\(place)"))
            self.options = options
        case .amongTheParameters:
            url = try #require(URL(string: "postgresql://\(place)&user=\(server.scramUser)&password=\(encoded)"))
            self.options = options
        case .provider:
            url = try #require(URL(string: "postgresql://\(place)&user=\(server.scramUser)"))
            self.options = options.merging([NSPostgreSQLPasswordProviderKey: NSPostgreSQLPasswordProvider { password }])
            { $1 }
        }
        let connection = try WireConnection.open()
        defer { connection.close() }
        let making = "CREATE SCHEMA IF NOT EXISTS \(self.schema) AUTHORIZATION \(server.scramUser)"
        try connection.run("SET client_min_messages TO warning; \(making)")
    }

    @discardableResult
    func open() throws -> NSPersistentStore {
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: url, options: options)
    }

    func newContext() -> NSManagedObjectContext {
        let context = coordinator.newContext()
        return context
    }

    /// Runs SQL in the store's schema as somebody who may do everything.
    func run(_ sql: String) throws {
        let connection = try WireConnection.open()
        defer { connection.close() }
        try connection.run("SET search_path TO \(schema); \(sql)")
    }
}

/// All texts that a value shows to a program that prints it: its own, and those of the values
/// inside it.
enum ShownTexts {
    private static let greatestDepth = 10

    static func of(_ value: Any, depth: Int = 0) -> [String] {
        if depth > greatestDepth { return [] }
        var texts = [String(describing: value), String(reflecting: value)]
        func add(_ other: Any?) {
            if let other { texts += of(other, depth: depth + 1) }
        }
        switch value {
        case is String: break
        case let url as URL: texts += [url.absoluteString, url.path]
        case let store as NSPersistentStore:
            add(store.url)
            add(store.options)
            add(store.metadata)
        case let notification as Notification:
            add(notification.object)
            add(notification.userInfo)
        case let dictionary as [AnyHashable: Any]:
            for (key, value) in dictionary {
                add(key.base)
                add(value)
            }
        case let list as [Any]: for element in list { add(element) }
        case let set as Set<AnyHashable>: for element in set { add(element.base) }
        case let error as any Error:
            let error = error as NSError
            texts += [error.localizedDescription, error.debugDescription]
            texts += [error.localizedFailureReason, error.localizedRecoverySuggestion].compactMap { $0 }
            add(error.userInfo)
        default: break
        }
        return texts
    }

    /// Expects that nothing that a value leads to has a word of the passwords.
    static func expectNoPassword(in value: Any, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation)
    {
        let showing = of(value).filter { $0.contains(PasswordedStore.mark) }
        #expect(showing.isEmpty, "\(what) \(showing)", sourceLocation: sourceLocation)
    }
}
