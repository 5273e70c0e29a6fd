import Foundation

// Fetches that read from the stores while the context's queue is free. They make a plan on the
// queue, read the rows on another thread, and make the objects on the queue.

extension NSManagedObjectContext {
    /// Starts the fetch of a result. Its request's completion block is called on the context's
    /// queue.
    ///
    /// - Throws: An error in the request itself. Errors of the stores go to the result.
    func start<ResultType>(_ result: NSAsynchronousFetchResult<ResultType>) throws {
        let given = result.fetchRequest.fetchRequest
        guard let request = given.copy() as? NSFetchRequest<ResultType> else { return }
        if request.affectedStores == nil { request.affectedStores = result.fetchRequest.affectedStores }
        // The predicate is read on another thread, where objects must not be touched.
        request.predicate = request.predicate.map(DetachedPredicate.predicate)
        processChanges(includedIn: request)
        let resolved = try resolve(request)
        given.noteEntity(resolved.layout.entity)
        // The copy of the request is used by one thread after another, never by two at once.
        let handedOver = Unchecked(request)
        guard request.resultType == .managedObjectResultType, !needsObjects(resolved.stores) else {
            gate.async { [self] in
                complete(result) { try fetch(handedOver.value) }
            }
            return
        }
        let plan: Unchecked<FetchPlan>
        do {
            plan = Unchecked(try FetchExecutor(request, resolved, in: self).plan())
        } catch {
            // The unsaved objects raise the error that a store would have raised.
            gate.async { [self] in complete(result) { throw error } }
            return
        }
        let takenOver = takenOverCount
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            // Passed to the queue, and not used here again.
            let answers = Unchecked(Swift.Result { result.isCancelled ? [] : try plan.value.answers() })
            gate.async { [self] in
                complete(result) {
                    let answers = try answers.value.get()
                    processChanges(includedIn: handedOver.value)
                    // Changes made or merged meanwhile may need rows that were not read.
                    let executor = FetchExecutor(handedOver.value, plan.value.request, in: self)
                    let now = try executor.plan()
                    guard takenOver == takenOverCount, now.asksForTheSame(as: plan.value) else {
                        return try fetch(handedOver.value)
                    }
                    return try asOperation { try executor.results(from: answers, now) }
                }
            }
        }
    }

    /// Ends a fetch on the context's queue.
    private func complete<ResultType>(
        _ result: NSAsynchronousFetchResult<ResultType>, _ objects: () throws -> [ResultType]
    ) {
        CurrentContext.run(in: self) {
            do {
                // Cancelling is no failure: the result is just empty.
                result.finish(with: result.isCancelled ? [] : try objects())
            } catch {
                result.fail(with: error)
            }
            result.fetchRequest.completionBlock?(result)
            processPendingChanges()
        }
    }
}

/// Copies predicates so that any thread may read their constants: object IDs replace the objects.
private enum DetachedPredicate {
    static func predicate(_ predicate: NSPredicate) -> NSPredicate {
        switch predicate {
        case let compound as NSCompoundPredicate:
            return NSCompoundPredicate(
                type: compound.compoundPredicateType,
                subpredicates: compound.subpredicates.compactMap { $0 as? NSPredicate }.map(self.predicate))
        case let comparison as NSComparisonPredicate where comparison.customSelector == nil:
            return NSComparisonPredicate(
                leftExpression: expression(comparison.leftExpression),
                rightExpression: expression(comparison.rightExpression),
                modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
                options: comparison.options)
        default: return predicate
        }
    }

    private static func expression(_ expression: NSExpression) -> NSExpression {
        switch expression.expressionType {
        case .constantValue:
            guard let value = expression.constantValue, let detached = detached(value) else { return expression }
            return NSExpression(forConstantValue: detached)
        case .fetchRequest:
            // Executed here, because the stores read on another thread.
            return self.expression(NSExpression(forConstantValue: expression.expressionValue(with: nil, context: nil)))
        case .aggregate:
            guard let elements = expression.collection as? [NSExpression] else { return expression }
            return NSExpression(forAggregate: elements.map(self.expression))
        case .subquery:
            guard let collection = expression.collection as? NSExpression else { return expression }
            return NSExpression(
                forSubquery: collection, usingIteratorVariable: expression.variable,
                predicate: predicate(expression.predicate))
        default: return expression
        }
    }

    /// Returns the same value with IDs in place of objects; nil when it holds no objects.
    private static func detached(_ value: Any) -> Any? {
        func ids(_ elements: some Sequence<Any>) -> [Any]? {
            var found = false
            let mapped = elements.map { element -> Any in
                guard let object = element as? NSManagedObject else { return element }
                found = true
                return object.objectID
            }
            return found ? mapped : nil
        }
        switch value {
        case let object as NSManagedObject: return object.objectID
        case let set as Set<NSManagedObject>: return set.map(\.objectID)
        case let set as NSSet: return ids(set.allObjects)
        case let set as NSOrderedSet: return ids(set.array)
        case let array as [Any]: return ids(array)
        default: return nil
        }
    }
}
