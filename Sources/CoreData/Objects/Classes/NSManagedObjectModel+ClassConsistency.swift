extension NSManagedObjectModel {
    /// The problems that prevent making objects of the model: those that make the model unusable,
    /// or the differences between entities and the descriptions of their classes. A class without a
    /// description has no differences.
    ///
    /// - Parameter checksAllClasses: whether to check also classes that are named without their
    ///   module, which may have the entity's class name by chance.
    func objectProblems(checksAllClasses: Bool = false) -> [String] {
        let problems = consistencyProblems()
        return problems.isEmpty ? classDifferences(checksAllClasses: checksAllClasses) : problems
    }

    private func classDifferences(checksAllClasses: Bool) -> [String] {
        entities.flatMap { entity -> [String] in
            // The class that made the entity, or a class named by another program's model.
            let found = entity.givenClass as? NSManagedObject.Type ?? ManagedObjectClasses.namedClass(of: entity)
            guard entity.givenClass != nil || checksAllClasses || ManagedObjectClasses.isMeant(found, by: entity) else {
                return []
            }
            return (found as? any _SelfDescribingClass.Type)?._differences(from: entity) ?? []
        }
    }
}
