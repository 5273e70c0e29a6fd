extension CoreDataErrors {
    /// A fetch whose predicate could not be evaluated.
    static func make(_ predicate: NSPredicate, _ error: PredicateEvaluationError) -> NSError {
        make(
            .coreData, "The predicate '\(predicate.predicateFormat)' cannot be evaluated: \(error)",
            userInfo: ["NSPredicateFormat": predicate.predicateFormat])
    }
}
