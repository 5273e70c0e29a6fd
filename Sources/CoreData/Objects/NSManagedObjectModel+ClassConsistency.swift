extension NSManagedObjectModel {
    /// Everything that keeps objects of the model from being made: what keeps the model from being used, or how entities differ
    /// from what their classes say about them. Classes that say nothing differ in nothing.
    ///
    /// - Parameter checksAllClasses: whether classes that are named without their module, and may be named by chance, must
    ///   fit as well.
    func objectProblems(checksAllClasses: Bool = false) -> [String] {
        let problems = consistencyProblems()
        return problems.isEmpty ? classDifferences(checksAllClasses: checksAllClasses) : problems
    }

    private func classDifferences(checksAllClasses: Bool) -> [String] {
        entities.flatMap { entity -> [String] in
            // The class that made the entity, which may have been changed since, or one that a model from elsewhere names.
            let found = entity.givenClass as? NSManagedObject.Type ?? ManagedObjectClasses.namedClass(of: entity)
            guard entity.givenClass != nil || checksAllClasses || ManagedObjectClasses.isMeant(found, by: entity) else { return [] }
            return (found as? any _SelfDescribingClass.Type)?._differences(from: entity) ?? []
        }
    }
}
