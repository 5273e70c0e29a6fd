import Foundation

/// Reads or deletes the persistent history of stores.
///
/// A store has a history if it is added with `NSPersistentHistoryTrackingKey`: each save and each
/// batch request, of every process, is a transaction. Requests go to the stores that have one; a
/// request for other stores finds nothing. Unsaved changes are not part of it.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistenthistorychangerequest>
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// let history = try context.execute(request) as? NSPersistentHistoryResult
/// for transaction in history?.result as? [NSPersistentHistoryTransaction] ?? [] {
///     viewContext.perform {
///         viewContext.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
///     }
///     lastToken = transaction.token
/// }
/// ```
public final class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    private enum Place {
        case start
        case token(NSPersistentHistoryToken)
        case date(Date)
    }

    private var place = Place.start
    private var isDeletion = false

    /// The form of the result: transactions and their changes to begin with, for a request made
    /// with a fetch of changes these alone, and for a deletion the status.
    public var resultType = NSPersistentHistoryResultType.transactionsAndChanges

    /// A further condition: a fetch request for `NSPersistentHistoryTransaction` or
    /// `NSPersistentHistoryChange`, whose predicate, order, limit and offset apply.
    ///
    /// Predicates may name the properties of these classes, also `changedObjectID` and
    /// `changedEntity`, compared with object IDs and entities. A fetch of changes finds
    /// transactions with the changes that match, and no others.
    ///
    /// ```swift
    /// let others = NSPersistentHistoryTransaction.fetchRequest
    /// others?.predicate = NSPredicate(format: "author != %@", "app")
    /// request.fetchRequest = others
    /// ```
    public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// The token that the request was made with.
    public var token: NSPersistentHistoryToken? {
        if case .token(let token) = place { return token }
        return nil
    }

    /// A request for the whole history.
    public required init() { super.init() }

    private convenience init(_ place: Place, isDeletion: Bool = false) {
        self.init()
        self.place = place
        self.isDeletion = isDeletion
        if isDeletion { resultType = .statusOnly }
    }

    // MARK: - Fetching

    /// A request for the transactions after a token's, oldest first; for nil, all that are kept.
    ///
    /// Executing it fails with code 134301 if a transaction after the token's was deleted: read all
    /// objects again then, and go on from `currentPersistentHistoryToken(fromStores:)`.
    public class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        self.init(token.map(Place.token) ?? .start)
    }

    /// A request for the transactions after another one.
    public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        fetchHistory(after: transaction?.token)
    }

    /// A request for the transactions after a date.
    ///
    /// A clock may be set back: a token misses nothing.
    public class func fetchHistory(after date: Date) -> Self { self.init(.date(date)) }

    /// A request for the transactions or changes that a fetch request finds.
    ///
    /// ```swift
    /// let deletions = NSPersistentHistoryChange.fetchRequest!
    /// deletions.predicate = NSPredicate(
    ///     format: "changeType == %d", NSPersistentHistoryChangeType.delete.rawValue)
    /// let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: deletions)
    /// ```
    ///
    /// - Parameter fetchRequest: a request for the entity of `NSPersistentHistoryTransaction` or
    ///   `NSPersistentHistoryChange`.
    public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = self.init()
        request.fetchRequest = fetchRequest
        if Self.subject(of: fetchRequest) == .changes { request.resultType = .changesOnly }
        return request
    }

    // MARK: - Deleting

    /// A request that deletes the transactions before a token's, which stays; for nil, all.
    public class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        self.init(token.map(Place.token) ?? .start, isDeletion: true)
    }

    /// A request that deletes the transactions before another one, which stays; for nil, all.
    public class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        deleteHistory(before: transaction?.token)
    }

    /// A request that deletes the transactions before the first one of this date or a later one.
    public class func deleteHistory(before date: Date) -> Self { self.init(.date(date), isDeletion: true) }

    // MARK: - Executing

    override func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let coordinator = try context.requireCoordinator("execute a request for history")
        let histories = coordinator.histories(among: affectedStores)
        if isDeletion { return NSPersistentHistoryResult(resultType, try delete(histories)) }
        let form = resultType
        var asked = HistoryFetch(try subject())
        asked.wantsChanges = resultType != .transactionsOnly
        if let fetchRequest {
            asked.sortDescriptors = fetchRequest.sortDescriptors ?? []
            asked.limit = fetchRequest.fetchLimit
            asked.offset = fetchRequest.fetchOffset
        }
        var entries: [(store: NSPersistentStore, records: HistoryRecords)] = []
        var count = 0
        for (store, history) in histories {
            var fetch = asked
            fetch.predicate = predicate(asked.subject, store)
            // The limits apply to the results of all stores together.
            if histories.count > 1 {
                if fetch.limit > 0 { fetch.limit += fetch.offset }
                fetch.offset = 0
            }
            switch form {
            case .statusOnly: break
            case .count: count += try history.historyCount(fetch)
            default: entries.append((store, try history.history(fetch)))
            }
            try requireAll(history, store)
        }
        switch form {
        case .statusOnly: return NSPersistentHistoryResult(form, true)
        case .count:
            if histories.count > 1 { count = asked.window(of: 0..<count).count }
            return NSPersistentHistoryResult(form, count)
        default: return NSPersistentHistoryResult(form, HistoryResults(entries, asked).result(form))
        }
    }

    /// The kind of record that the limits apply to: that of the fetch request, otherwise changes if
    /// the result has nothing else.
    private func subject() throws -> HistoryFetch.Subject {
        guard let fetchRequest else {
            return resultType == .changesOnly || resultType == .objectIDs ? .changes : .transactions
        }
        guard let subject = Self.subject(of: fetchRequest) else {
            throw CoreDataErrors.noHistoryEntity(fetchRequest.entityName)
        }
        return subject
    }

    private static func subject(of request: NSFetchRequest<any NSFetchRequestResult>) -> HistoryFetch.Subject? {
        switch request.entityName?.lowercased() {
        case HistoryModel.transactionName.lowercased(): .transactions
        case HistoryModel.changeName.lowercased(): .changes
        default: nil
        }
    }

    /// The condition on the records of a store; nil for all.
    private func predicate(_ subject: HistoryFetch.Subject, _ store: NSPersistentStore) -> NSPredicate? {
        var conditions: [NSPredicate] = []
        switch place {
        case .start: break
        case .token(let token):
            guard let number = token.number(in: store) else { break }
            conditions.append(NSExpression(forKeyPath: HistoryModel.number).compared(.greaterThan, number))
        case .date(let date):
            let path = (subject == .changes ? HistoryModel.transactionOfChange + "." : "") + HistoryModel.date
            // Every transaction has a date; one that is damaged is not hidden.
            if date > .distantPast { conditions.append(NSExpression(forKeyPath: path).compared(.greaterThan, date)) }
        }
        conditions += fetchRequest?.predicate.map { [$0] } ?? []
        return conditions.count > 1
            ? NSCompoundPredicate(andPredicateWithSubpredicates: conditions) : conditions.first
    }

    /// Checks that no transaction after the token was deleted. After the fetch: transactions are
    /// deleted in their order, so that what is kept now was kept then.
    private func requireAll(_ history: any StoreHistory, _ store: NSPersistentStore) throws {
        guard case .token(let token) = place, let number = token.number(in: store) else { return }
        let span = try history.historySpan()
        guard span.holdsAll(after: number) else { throw CoreDataErrors.expiredHistoryToken(number, span, of: store) }
    }

    private func delete(_ histories: [(store: NSPersistentStore, history: any StoreHistory)]) throws -> Any {
        guard fetchRequest == nil else { throw CoreDataErrors.deletionOfSomeHistory() }
        var count = 0
        for (store, history) in histories {
            let range: HistoryRange?
            switch place {
            case .start: range = .all
            case .token(let token): range = token.number(in: store).map(HistoryRange.before)
            case .date(let date): range = .until(date)
            }
            if let range { count += try history.deleteHistory(range) }
        }
        return resultType == .count ? count : true
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        if let request = copy as? NSPersistentHistoryChangeRequest {
            request.place = place
            request.isDeletion = isDeletion
            request.resultType = resultType
            request.fetchRequest = fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
        }
        return copy
    }
}
