import CoreData

/// The transactions of a store's history that a person asks for.
struct HistoryTimeline {
    /// The only entities whose changes are shown; nil for all. A person who names an entity means
    /// its subentities, too.
    var entities: [NSEntityDescription]?
    /// The only object whose changes are shown.
    var object: NSManagedObjectID?
    /// The time before which transactions are left out.
    var since: Date?
    /// The number of last transactions to show; nil for all.
    var limit: Int?

    private static let pageSize = 500

    /// Passes the transactions to a closure, the oldest first. Those without a change that is asked
    /// for are left out.
    ///
    /// They are read in parts, so that memory does not grow with the history.
    func read(
        _ context: NSManagedObjectContext,
        _ body: (NSPersistentHistoryTransaction, [NSPersistentHistoryChange]) throws -> Void
    ) throws {
        var last = try limit.flatMap { try number(before: $0, context) } ?? 0
        while true {
            let page = try transactions(after: last, limit: Self.pageSize, context)
            for transaction in page { try body(transaction, transaction.changes ?? []) }
            guard let end = page.last, page.count == Self.pageSize else { return }
            last = end.transactionNumber
        }
    }

    /// Returns the number of the transaction before the last ones of a number; nil where there are
    /// fewer.
    private func number(before count: Int, _ context: NSManagedObjectContext) throws -> Int64? {
        if count == 0 { return Int64.max }
        let request = NSPersistentHistoryTransaction.fetchRequest ?? NSFetchRequest()
        request.predicate = predicate(after: 0)
        request.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
        request.fetchOffset = count
        request.fetchLimit = 1
        let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: request)
        history.resultType = .transactionsOnly
        return try Self.result(of: history, context).first?.transactionNumber
    }

    private func transactions(
        after number: Int64, limit: Int, _ context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let request = NSPersistentHistoryTransaction.fetchRequest ?? NSFetchRequest()
        request.predicate = predicate(after: number)
        request.fetchLimit = limit
        let found = try Self.result(of: .fetchHistory(withFetch: request), context)
        guard let change = changePredicate("") else { return found }
        // The same transactions with the changes that are asked for alone.
        let changes = NSPersistentHistoryChange.fetchRequest ?? NSFetchRequest()
        changes.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
            change, NSPredicate(format: "transactionNumber IN %@", found.map(\.transactionNumber)),
        ])
        let history = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: changes)
        history.resultType = .transactionsAndChanges
        return try Self.result(of: history, context)
    }

    private func predicate(after number: Int64) -> NSPredicate {
        var conditions = [NSPredicate(format: "transactionNumber > %lld", number)]
        if let since { conditions.append(NSPredicate(format: "timestamp >= %@", since as NSDate)) }
        if let change = changePredicate("$c.") {
            let found = NSExpression(
                forSubquery: NSExpression(forKeyPath: "changes"), usingIteratorVariable: "c", predicate: change)
            conditions.append(
                NSComparisonPredicate(
                    leftExpression: NSExpression(forFunction: "count:", arguments: [found]),
                    rightExpression: NSExpression(forConstantValue: 0), modifier: .direct, type: .greaterThan))
        }
        return NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
    }

    /// Returns the condition on a change; nil where all are asked for.
    private func changePredicate(_ prefix: String) -> NSPredicate? {
        var conditions: [NSPredicate] = []
        if let object { conditions.append(NSPredicate(format: "\(prefix)changedObjectID == %@", object)) }
        if let entities { conditions.append(NSPredicate(format: "\(prefix)changedEntity IN %@", entities)) }
        return conditions.isEmpty ? nil : NSCompoundPredicate(andPredicateWithSubpredicates: conditions)
    }

    private static func result(
        of request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return result?.result as? [NSPersistentHistoryTransaction] ?? []
    }
}
