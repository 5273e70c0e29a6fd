import CoreData
import Foundation

// Connection settings from the store's options.
extension PostgreSQLStore {
    static func configuration(
        _ address: PostgreSQLAddress, _ options: [AnyHashable: Any]?, isReadOnly: Bool
    ) throws -> PostgreSQLPool.Configuration {
        var configuration = PostgreSQLPool.Configuration(address: address, isReadOnly: isReadOnly, timeout: 30)
        configuration.hasExternalTables = flag(options, NSPostgreSQLGivenTablesOption)
        if let seconds = timeout(options) {
            configuration.timeout = min(
                max(PostgreSQLSettings.shortestTimeout, seconds), PostgreSQLSettings.longestTimeout)
        }
        if let size = try mostConnections(options) { configuration.maximumConnections = size }
        if let provider = options?[PasswordClosure.option] {
            guard let provider = provider as? any PasswordProvider else {
                throw CoreDataErrors.make(
                    .persistentStoreOpen,
                    "The option \(PasswordClosure.option) must be an NSPostgreSQLPasswordProvider, not "
                        + "\(Swift.type(of: provider))."
                )
            }
            configuration.password = { try provider.password() }
        }
        return configuration
    }
}
