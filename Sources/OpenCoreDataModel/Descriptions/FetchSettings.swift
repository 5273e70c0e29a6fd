import Foundation
import Predicates

/// All settings of a fetch request but its entity.
package struct FetchSettings: Equatable {
    /// The condition on the objects; variables (`$NAME`) stand for values given later.
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor]?
    package var fetchLimit = 0
    package var fetchOffset = 0
    package var fetchBatchSize = 0
    /// The raw value of `NSFetchRequestResultType`.
    package var resultType: UInt = 0
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    package var returnsObjectsAsFaults = true
    package var returnsDistinctResults = false
    package var shouldRefreshRefetchedObjects = false
    package var relationshipKeyPathsForPrefetching: [String]?
    /// The columns of dictionary results: properties, their names, and descriptions of expressions.
    @ComparedColumns package var propertiesToFetch: [Any]?
    /// The columns that dictionary results are grouped by, in the same form.
    @ComparedColumns package var propertiesToGroupBy: [Any]?
    /// The condition on the groups; variables stand for values given later, too.
    package var havingPredicate: NSPredicate?
    /// The stores to fetch from; nil for all. Only a layer above knows their type.
    @ComparedAsSet package var affectedStores: [NSObject]?

    package init() {}

    /// Returns the settings with columns that belong to no model.
    ///
    /// A property of an entity becomes its name, which copies of the model have, too. An
    /// expression, which a program may change, becomes a copy.
    package func withOwnColumns() -> FetchSettings {
        func own(_ properties: [Any]) -> [Any] {
            properties.map { property in
                switch property {
                case let expression as NSExpressionDescription: expression.copy()
                case let property as NSPropertyDescription: property.name
                default: property
                }
            }
        }
        var settings = self
        settings.propertiesToFetch = propertiesToFetch.map(own)
        settings.propertiesToGroupBy = propertiesToGroupBy.map(own)
        return settings
    }
}

/// Columns of which a property of an entity is compared by its name.
@propertyWrapper
package struct ComparedColumns: Equatable {
    package var wrappedValue: [Any]?

    package init(wrappedValue: [Any]?) { self.wrappedValue = wrappedValue }

    package static func == (first: Self, second: Self) -> Bool { first.hashable == second.hashable }

    private var hashable: [AnyHashable?]? {
        wrappedValue?.map { column in
            switch column {
            case let expression as NSExpressionDescription: expression
            case let property as NSPropertyDescription: property.name
            case let name as String: name
            default: column as? AnyHashable
            }
        }
    }
}

/// Objects that are compared without their order.
@propertyWrapper
package struct ComparedAsSet: Equatable {
    package var wrappedValue: [NSObject]?

    package init(wrappedValue: [NSObject]?) { self.wrappedValue = wrappedValue }

    package static func == (first: Self, second: Self) -> Bool {
        first.wrappedValue.map(Set.init) == second.wrappedValue.map(Set.init)
    }
}
