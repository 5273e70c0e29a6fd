/// An error of a typed query that no store can evaluate. A predicate that cannot be translated
/// throws a `PredicateTranslationError` instead.
///
/// ```swift
/// do {
///     // a computed property
///     items = try context.fetch(Item.self, sortBy: [SortDescriptor(\.displayName)])
/// } catch let error as QueryError {
///     print(error.description)
/// }
/// ```
public struct QueryError: Error, Hashable, Sendable, CustomStringConvertible, LocalizedError {
    public let description: String

    public var errorDescription: String? { description }

    static func unknownProperty(of type: NSManagedObject.Type, _ keyPath: AnyKeyPath) -> QueryError {
        QueryError(
            description:
                "\(type) cannot be sorted by a property of type \(Swift.type(of: keyPath).valueType) that the model "
                + "does not "
                + "describe (\(keyPath)), or that is computed from others. Sort the result instead.")
    }

    static func unsortable(_ type: NSManagedObject.Type, _ name: String, _ reason: String) -> QueryError {
        QueryError(
            description:
                "\(type) cannot be sorted by \(name): \(reason). Sort by a number, text, date or raw value, or sort "
                + "the result "
                + "instead.")
    }

    static func sortByComparator(_ type: NSManagedObject.Type) -> QueryError {
        QueryError(
            description:
                "A sort descriptor of \(type) compares in a way that no store knows: give it a key path, or sort the "
                + "result instead.")
    }
}
