import Foundation

// What the URL and the options of a store say.
extension SQLiteStore {
    static let nullDevice = "/dev/null"

    /// Whether a store at the URL is in memory.
    ///
    /// A store at the null device has its own database; one with a name below it shares the
    /// database of that name.
    static func isInMemory(_ url: URL) -> Bool { url.path == nullDevice || isSharedMemory(url) }

    static func isSharedMemory(_ url: URL) -> Bool { url.path.hasPrefix(nullDevice + "/") }

    static func configuration(
        _ url: URL, _ options: [AnyHashable: Any]?, isReadOnly: Bool
    ) throws -> SQLiteConnectionPool.Configuration {
        var configuration = SQLiteConnectionPool.Configuration(path: url.path)
        configuration.isReadOnly = isReadOnly
        configuration.isImmutable = isReadOnly && flag(options, StoreInspection.immutableFileOption)
        configuration.isInMemory = isInMemory(url)
        if let seconds = timeout(options) { configuration.timeout = seconds }
        if let size = try mostConnections(options) { configuration.maximumConnections = size }
        if let pragmas = options?[NSSQLitePragmasOption] {
            guard let pragmas = pragmas as? [String: String] else {
                throw CoreDataErrors.make(
                    .persistentStoreOpen,
                    "NSSQLitePragmasOption must be a dictionary of strings, not \(pragmas).")
            }
            configuration.pragmas = pragmas.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
        return configuration
    }
}
