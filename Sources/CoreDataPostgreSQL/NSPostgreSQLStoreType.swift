import CoreData

/// The type of stores that are a schema of a PostgreSQL database.
///
/// ```swift
/// import CoreData
/// import CoreDataPostgreSQL
///
/// let description = NSPersistentStoreDescription(url: URL(string: "postgresql://db.example.org/shop")!)
/// description.type = NSPostgreSQLStoreType
/// ```
///
/// The store's URL says where the database is and as whom to connect, as every program of PostgreSQL reads it. Passwords are better
/// kept out of it: `~/.pgpass`, service files and the environment of PostgreSQL's own programs are read too.
public let NSPostgreSQLStoreType = "PostgreSQL"

/// The option of a store that holds what a URL cannot: a connection string, `host=db1,db2 dbname=shop target_session_attrs=read-write`.
///
/// The value is a `String`, either a list of `keyword=value` or a URL with several hosts, which `URL` does not read. It goes before
/// the store's URL, which then only names the store.
public let NSPostgreSQLConnectionInfoKey = "NSPostgreSQLConnectionInfo"

extension NSPersistentStore.StoreType {
    /// A schema of a PostgreSQL database.
    public static let postgreSQL = NSPersistentStore.StoreType(rawValue: NSPostgreSQLStoreType)
}
