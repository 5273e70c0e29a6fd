import Foundation
import Predicates

/// A fetch request as a model stores it: in its list of templates or in a fetched property.
package struct FetchRequestTemplate {
    /// The name of the entity to fetch.
    package var entityName: String
    /// The condition on the objects; variables (`$NAME`) stand for values given later.
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor] = []
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
    /// The columns of dictionary results: names of properties, and descriptions of expressions.
    package private(set) var propertiesToFetch: [Any]?
    /// The columns that dictionary results are grouped by, in the same form.
    package private(set) var propertiesToGroupBy: [Any]?
    /// The condition on the groups; variables stand for values given later, too.
    package var havingPredicate: NSPredicate?
    /// The stores to fetch from; nil for all. Only a layer above knows their type.
    package var affectedStores: [AnyObject]?

    package init(entityName: String) { self.entityName = entityName }

    /// Returns the template with the variables of its predicates replaced; `NSNull` stands for nil.
    ///
    /// A variable without a value stays, and a fetch with it throws an error.
    package func substituting(_ variables: [String: Any]) -> FetchRequestTemplate {
        var template = self
        template.predicate = predicate?.withSubstitutionVariables(variables)
        template.havingPredicate = havingPredicate?.withSubstitutionVariables(variables)
        return template
    }

    /// Sets the columns of dictionary results, and the columns that they are grouped by.
    package mutating func setColumns(_ properties: [Any]?, groupedBy groups: [Any]?) {
        propertiesToFetch = properties.map(Self.columns)
        propertiesToGroupBy = groups.map(Self.columns)
    }

    /// Returns columns that belong to no model.
    ///
    /// A property of an entity becomes its name, which copies of the model have, too. An
    /// expression, which a program may change, becomes a copy.
    package static func columns(_ properties: [Any]) -> [Any] {
        properties.map { property in
            switch property {
            case let expression as NSExpressionDescription: expression.copy()
            case let property as NSPropertyDescription: property.name
            default: property
            }
        }
    }
}
