import CoreData
import Foundation

/// Declares the module's store type to the engine, which finds the class by its name.
final class StoreModule: NSObject {}

extension StoreModule: StoreTypeProvider {
    static var storeType: StoreTypeDeclaration {
        StoreTypeDeclaration(
            type: NSPostgreSQLStoreType, storeClass: PostgreSQLStore.self,
            optionsWithoutEffect: [
                NSPersistentStoreMigrationBackupURLOption:
                    "a migration of a PostgreSQL store is one transaction; copy the schema with pg_dump",
                NSPersistentStoreDeferredLightweightMigrationOptionKey:
                    "all of a migration of a PostgreSQL store is done when it is added",
                NSSQLitePragmasOption: "a PostgreSQL store takes settings of its server from its URL",
                NSSQLiteAnalyzeOption: "a PostgreSQL server renews statistics by itself",
                NSSQLiteManualVacuumOption: "a PostgreSQL server compacts tables by itself",
            ])
    }
}

extension StoreModule: ServerURLProvider {
    /// The connection parameters that may be shown: those of the client library that say how to
    /// reach a server and what to ask of it and hold no secret, and those of the store.
    static let serverURLs = ServerURLForm(
        type: NSPostgreSQLStoreType, schemes: ["postgresql", "postgres"],
        shownParameters: [
            "application_name", "channel_binding", "client_encoding", "connect_timeout", "dbname",
            "fallback_application_name", "gssdelegation", "gssencmode", "gsslib", "host", "hostaddr", "keepalives",
            "keepalives_count", "keepalives_idle", "keepalives_interval", "krbsrvname", "load_balance_hosts",
            "max_protocol_version", "min_protocol_version", "options", "passfile", "port", "replication",
            "require_auth", "requirepeer", "requiressl", "service", "servicefile", "ssl", "ssl_max_protocol_version",
            "ssl_min_protocol_version", "sslcert", "sslcertmode", "sslcompression", "sslcrl", "sslcrldir", "sslkey",
            "sslkeylogfile", "sslmode", "sslnegotiation", "sslrootcert", "sslsni", "target_session_attrs",
            "tcp_user_timeout", "user", "ocd.keys", "ocd.schema", "ocd.server",
        ])
}
