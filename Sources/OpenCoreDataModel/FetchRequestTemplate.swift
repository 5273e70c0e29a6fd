import Predicates

/// A fetch request as a model stores it: in its list of templates or in a fetched property.
package struct FetchRequestTemplate {
    /// The name of the entity to fetch.
    package var entityName: String
    /// Which objects; variables (`$NAME`) stand for values given later.
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

    package init(entityName: String) { self.entityName = entityName }

    /// The template with the variables of its predicate replaced; `NSNull` stands for nil. A variable without a value stays,
    /// and a fetch with it throws an error.
    package func substituting(_ variables: [String: Any]) -> FetchRequestTemplate {
        guard let predicate else { return self }
        var template = self
        template.predicate = predicate.withSubstitutionVariables(variables)
        return template
    }
}
