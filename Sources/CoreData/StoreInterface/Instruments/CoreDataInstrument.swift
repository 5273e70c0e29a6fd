/// Receives what stores and contexts do, for the logs and metrics of a program.
///
/// Set it before the first store is opened: a connection that exists already does not tell of its
/// statements.
///
/// ```swift
/// struct Metrics: CoreDataInstrument {
///     func record(_ event: CoreDataEvent) {
///         guard case .statement(let statement) = event else { return }
///         statementTimer.recordNanoseconds(statement.nanoseconds)
///     }
/// }
///
/// NSPersistentStoreCoordinator.instrument = Metrics()
/// ```
public protocol CoreDataInstrument: Sendable {
    /// Records an event.
    ///
    /// It is called on the thread that did the work, with locks of the store held: it must neither
    /// use contexts or stores nor wait.
    func record(_ event: CoreDataEvent)
}

/// An action of a store or a context, reported when it is done.
public enum CoreDataEvent: Sendable {
    /// A store ran a statement of SQL.
    case statement(ExecutedStatement)
    /// A context ran a fetch request.
    case fetch(ExecutedFetch)
    /// A context saved.
    case save(ExecutedSave)
    /// The rows of faults of one entity were read from a store, not from its row cache.
    ///
    /// - Parameters:
    ///   - entity: The name of the entity.
    ///   - relationship: The to-many relationship whose members were read; nil for the row of the
    ///     object itself.
    ///   - count: The number of rows.
    case fault(context: String?, entity: String, relationship: String?, count: Int)
    /// A save found rows that others had changed, or unique values that they had taken.
    ///
    /// - Parameter count: The number of conflicts.
    case conflicts(context: String?, count: Int)
    /// A context took over changes that others had saved.
    ///
    /// - Parameter count: The number of objects that others have inserted, updated or deleted.
    case merge(context: String?, count: Int)
    /// Something looks like a mistake. Only a program that was started with
    /// `OPENCOREDATA_DIAGNOSTICS=1` is told.
    case warning(String)
}

/// A statement that a store ran.
public struct ExecutedStatement: Sendable {
    /// The text, with parameters in the places of the values.
    public let sql: String
    /// The number of rows that a query returned or, on PostgreSQL, a statement changed.
    public let rows: Int
    /// The number of rows that SQLite visited one after the other for lack of an index; 0 on
    /// PostgreSQL.
    public let scannedRows: Int
    /// The time from the start of the statement to its end, with what the program did between rows.
    /// Statements that go to a server together each have the time of their round trip.
    public let nanoseconds: Int64
    /// The path of the file, or the URL of the server's store without its password.
    public let store: String
}

/// A fetch of a context.
public struct ExecutedFetch: Sendable {
    /// The name of the context.
    public let context: String?
    /// The name of the fetched entity.
    public let entity: String
    /// The number of results.
    public let count: Int
    /// The `fetchLimit` and the `fetchBatchSize` of the request; 0 for none.
    public let limit: Int
    public let batchSize: Int
    /// The time of the fetch; of an asynchronous one, of what it did on the context's queue.
    public let nanoseconds: Int64
}

/// A save of a context.
public struct ExecutedSave: Sendable {
    /// The name of the context.
    public let context: String?
    /// The numbers of objects.
    public let inserted: Int
    public let updated: Int
    public let deleted: Int
    /// The number of objects that the context holds after the save.
    public let held: Int
    /// The time of `save()`.
    public let nanoseconds: Int64
}

extension CoreDataEvent: CustomStringConvertible {
    /// The event as a line for a log. It contains no values of objects.
    public var description: String {
        switch self {
        case .statement(let statement):
            "\(Milliseconds(statement.nanoseconds)), \(statement.rows) rows, \(statement.store): \(statement.sql)"
        case .fetch(let fetch):
            "fetched \(fetch.count) results of \(fetch.entity) into \(Self.name(fetch.context)) in "
                + "\(Milliseconds(fetch.nanoseconds))"
        case .save(let save):
            "saved \(save.inserted) inserted, \(save.updated) updated and \(save.deleted) deleted objects of "
                + "\(Self.name(save.context)) in \(Milliseconds(save.nanoseconds))"
        case .fault(_, let entity, let relationship, let count):
            "read \(count) rows for \(relationship.map { "\(entity).\($0)" } ?? "a fault of \(entity)")"
        case .conflicts(let context, let count): "\(count) conflicts in a save of \(Self.name(context))"
        case .merge(let context, let count): "merged \(count) changed objects into \(Self.name(context))"
        case .warning(let warning): warning
        }
    }

    private static func name(_ context: String?) -> String { context ?? "a context without a name" }
}
