import CoreData

/// The type of stores that are a schema of a PostgreSQL database.
///
/// ```swift
/// import CoreData
/// import CoreDataPostgreSQL
///
/// let description = NSPersistentStoreDescription(
///     url: URL(string: "postgresql://db.example.org/shop")!)
/// description.type = NSPostgreSQLStoreType
/// ```
///
/// The store's URL names the database and the role that connects, in the form that every program of
/// PostgreSQL reads. Keep passwords out of it: `~/.pgpass`, service files and the environment
/// variables of PostgreSQL's own programs are read too.
public let NSPostgreSQLStoreType = "PostgreSQL"

/// The option for a connection string, which can hold settings that a URL cannot.
///
/// Example: `host=db1,db2 dbname=shop target_session_attrs=read-write`.
///
/// The value is a `String`: either a list of `keyword=value` or a URL with several hosts, which
/// `URL` does not read. It takes precedence over the store's URL, which then only names the store.
public let NSPostgreSQLConnectionInfoKey = "NSPostgreSQLConnectionInfo"

/// The option for an object that gives the password of each connection: an
/// `NSPostgreSQLPasswordProvider`.
public let NSPostgreSQLPasswordProviderKey = PasswordClosure.option

/// The option of a store whose tables another program, or a person who writes SQL, made and owns.
///
/// The value is a `Bool`. The store then leaves the schema of its URL as it is: it makes no table,
/// function or trigger, there or elsewhere. The user info of the model says which entity is which
/// table:
///
/// ```swift
/// product.userInfo = ["ocd.table": "products", "ocd.key": "product_id"]
/// name.userInfo = ["ocd.column": "title"]
/// description.setOption(true as NSNumber, forKey: NSPostgreSQLGivenTablesOption)
/// ```
///
/// Tables that do not fit the model are refused when the store is added, with an error (134020)
/// that names each table and column. CoreData's article about stores in PostgreSQL says what such a
/// store can do and what it refuses.
public let NSPostgreSQLGivenTablesOption = "NSPostgreSQLGivenTables"

/// The option of a store that also notifies of changes by programs without this package.
///
/// The value is a `Bool`. The tables of the store get triggers. The triggers record each
/// transaction that writes rows with SQL, notify when it is committed, and raise the versions of
/// the rows that it changed. They stay for all programs; `DROP FUNCTION ocd_tell(),
/// ocd_raise_version() CASCADE` removes them. Only the role that owns the tables can make them;
/// another role gets one warning, on standard error.
///
/// ```swift
/// description.setOption(true as NSNumber, forKey: NSPostgreSQLTellsOfAllWritersOption)
/// description.setOption(
///     true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
/// ```
public let NSPostgreSQLTellsOfAllWritersOption = "NSPostgreSQLTellsOfAllWriters"

/// Gives the password of each connection that a store opens, for passwords and tokens that expire
/// or are kept in a vault.
///
/// ```swift
/// let description = NSPersistentStoreDescription(
///     url: URL(string: "postgresql://app@db.example.org/shop")!)
/// description.type = NSPostgreSQLStoreType
/// description.setOption(
///     NSPostgreSQLPasswordProvider { try vault.token(for: "shop") },
///     forKey: NSPostgreSQLPasswordProviderKey)
/// ```
///
/// It takes precedence over a password in the URL. Neither errors nor notifications show the
/// password.
public final class NSPostgreSQLPasswordProvider: NSObject, PasswordProvider {
    private let closure: @Sendable () throws -> String

    /// - Parameter password: called for each connection, on any thread, while a caller waits for
    ///   the connection. An error that it throws is the reason in the error that the caller gets
    ///   (134080 for a store that is opened, 134070 later).
    public init(_ password: @escaping @Sendable () throws -> String) { closure = password }

    package func password() throws -> String { try closure() }
}

extension NSPersistentStore.StoreType {
    /// A schema of a PostgreSQL database.
    public static let postgreSQL = NSPersistentStore.StoreType(rawValue: NSPostgreSQLStoreType)
}
