extension EntityObject {
    /// The class, and a concrete subclass for each abstract class among those that it leads to which has none: what a model needs
    /// that objects of all destinations are to be made with.
    package static var _withConcreteClasses: [any EntityObject.Type] {
        var classes: [any EntityObject.Type] = [self]
        // Each round may lead to further abstract classes, of which there are finitely many.
        while let missing = missingSubclass(of: ModelAssembly.declarations(of: classes)) { classes.append(missing) }
        return classes
    }

    /// A concrete subclass of the first abstract class of which there is none among the declarations and one in the program.
    private static func missingSubclass(of declarations: [_EntityDeclaration]) -> (any EntityObject.Type)? {
        let concrete = declarations.filter { !$0.isAbstract }.map(\.objectClass)
        return declarations.lazy.filter(\.isAbstract).compactMap { abstract in
            if concrete.contains(where: { $0.isSubclass(of: abstract.objectClass) }) { return nil }
            return ClassLookup.subclasses(of: abstract.objectClass).lazy.compactMap { $0 as? any EntityObject.Type }.first { found in
                // A class without @Entity has no description of its own.
                let description = found.describeEntity()
                return !description.isAbstract && description.objectClass == found
            }
        }.first
    }
}
