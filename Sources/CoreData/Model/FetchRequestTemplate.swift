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

    /// The template with every variable of its predicate replaced; `NSNull` stands for nil.
    ///
    /// - Precondition: every variable has a value.
    func substituting(_ variables: [String: Any]) -> FetchRequestTemplate {
        guard let predicate else { return self }
        let missing = PredicateVariables.unbound(in: predicate).subtracting(variables.keys)
        precondition(
            missing.isEmpty,
            "a fetch request template for '\(entityName)' is given no value for \(missing.sorted()); use NSNull for nil"
        )
        var template = self
        template.predicate = predicate.withSubstitutionVariables(variables)
        return template
    }
}
