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

/// The option of a store that is asked for the password of each connection: an `NSPostgreSQLPasswordProvider`.
public let NSPostgreSQLPasswordProviderKey = PasswordClosure.option

/// The option of a store whose tables others have made and own: another program, or somebody who writes SQL.
///
/// The value is a `Bool`. The schema of the store's URL is then left as it is: no table, function or trigger is made, in it or elsewhere. The
/// user info of the model says which entity is which table:
///
/// ```swift
/// product.userInfo = ["ocd.table": "products", "ocd.key": "product_id"]
/// name.userInfo = ["ocd.column": "title"]
/// description.setOption(true as NSNumber, forKey: NSPostgreSQLGivenTablesOption)
/// ```
///
/// Tables that do not fit the model are refused when the store is added, with an error (134020) that names each table and column.
/// What such a store can do and what it refuses is in CoreData's article about stores in PostgreSQL.
public let NSPostgreSQLGivenTablesOption = "NSPostgreSQLGivenTables"

/// The option of a store that tells of changes which programs without this package make, as it does of all others.
///
/// The value is a `Bool`. The tables of the store get triggers: a transaction that writes rows with SQL is recorded and told when it is
/// committed, and the versions of the rows that it has changed are raised. They stay for all programs; `DROP FUNCTION ocd_tell(),
/// ocd_raise_version() CASCADE` removes them. To make them takes the role that owns the tables; others are told so once, on standard error.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSPostgreSQLTellsOfAllWritersOption)
/// description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
/// ```
public let NSPostgreSQLTellsOfAllWritersOption = "NSPostgreSQLTellsOfAllWriters"

/// Gives the password of each connection that a store opens, for passwords and tokens that expire or lie in a vault.
///
/// ```swift
/// let description = NSPersistentStoreDescription(url: URL(string: "postgresql://app@db.example.org/shop")!)
/// description.type = NSPostgreSQLStoreType
/// description.setOption(
///     NSPostgreSQLPasswordProvider { try vault.token(for: "shop") }, forKey: NSPostgreSQLPasswordProviderKey)
/// ```
///
/// It goes before a password in the URL. Neither errors nor notifications show what it gives.
public final class NSPostgreSQLPasswordProvider: NSObject, PasswordProvider {
    private let closure: @Sendable () throws -> String

    /// - Parameter password: called for each connection, on any thread, while somebody waits for the connection. What it throws is the
    ///   reason in the error that they get (134080 for a store that is opened, 134070 later).
    public init(_ password: @escaping @Sendable () throws -> String) { closure = password }

    package func password() throws -> String { try closure() }
}

extension NSPersistentStore.StoreType {
    /// A schema of a PostgreSQL database.
    public static let postgreSQL = NSPersistentStore.StoreType(rawValue: NSPostgreSQLStoreType)
}
