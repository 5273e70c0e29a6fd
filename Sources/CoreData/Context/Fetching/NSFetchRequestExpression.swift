import Foundation

/// The kind of an ``NSFetchRequestExpression``.
public let NSFetchRequestExpressionType = NSExpression.ExpressionType.fetchRequest

/// An expression whose value is the result of a fetch request.
///
/// The fetch runs on the queue that evaluates the expression, which must be the context's. In a
/// predicate of a fetch, a SQL store evaluates it once, before the statement is made; other stores
/// evaluate it for each row. It cannot be archived.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsfetchrequestexpression>
///
/// ```swift
/// let count = NSFetchRequestExpression.expression(
///     forFetch: NSExpression(forConstantValue: request),
///     context: NSExpression(forConstantValue: context), countOnly: true)
/// ```
open class NSFetchRequestExpression: NSExpression, @unchecked Sendable {
    // Sendable: the properties are constants. The caller uses the objects in the expressions on its
    // queue.

    /// Evaluates to the fetch request.
    public let requestExpression: NSExpression
    /// Evaluates to the context that executes it.
    public let contextExpression: NSExpression
    /// Whether the value is the number of objects, as `count(for:)` gives it, instead of the array
    /// that `fetch(_:)` gives.
    public let isCountOnlyRequest: Bool

    /// An expression whose value is the result of a fetch request, nil if it cannot be executed.
    ///
    /// - Parameters:
    ///   - fetch: evaluates to an `NSFetchRequest`.
    ///   - context: evaluates to an `NSManagedObjectContext`.
    ///   - countFlag: whether to count only.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        NSFetchRequestExpression(fetch, context, countOnly: countFlag)
    }

    private init(_ fetch: NSExpression, _ context: NSExpression, countOnly: Bool) {
        requestExpression = fetch
        contextExpression = context
        isCountOnlyRequest = countOnly
        super.init(fetch: fetch, context: context, countOnly: countOnly)
    }

    /// Fetch requests are not archived.
    public required init?(coder: NSCoder) { nil }
}

extension NSManagedObjectContext: FetchingContext {
    package func value(ofFetch request: Any, countOnly: Bool) -> Any? {
        (request as? any ExecutableFetch)?.result(in: self, countOnly: countOnly)
    }
}

private protocol ExecutableFetch {
    func result(in context: NSManagedObjectContext, countOnly: Bool) -> Any?
}

extension NSFetchRequest: ExecutableFetch {
    fileprivate func result(in context: NSManagedObjectContext, countOnly: Bool) -> Any? {
        do { return countOnly ? try context.count(for: self) : try context.fetch(self) } catch {
            // As for a fault that cannot be read: an expression cannot throw, so the next save
            // does.
            context.readFailure = error
            return nil
        }
    }
}
