import Predicates

/// A fetch request as a model stores it: in its list of templates or in a fetched property.
struct FetchRequestTemplate {
    /// The name of the entity to fetch.
    var entityName: String
    /// Which objects; variables (`$NAME`) stand for values given later.
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor] = []
    var fetchLimit = 0
    var fetchOffset = 0
    var fetchBatchSize = 0
    /// The raw value of `NSFetchRequestResultType`.
    var resultType: UInt = 0
    var includesSubentities = true
    var includesPropertyValues = true
    var includesPendingChanges = true
    var returnsObjectsAsFaults = true
    var returnsDistinctResults = false

    /// The template with the variables of its predicate replaced; `NSNull` stands for nil. A variable without a value stays,
    /// and a fetch with it throws an error.
    func substituting(_ variables: [String: Any]) -> FetchRequestTemplate {
        guard let predicate else { return self }
        var template = self
        template.predicate = predicate.withSubstitutionVariables(variables)
        return template
    }
}
