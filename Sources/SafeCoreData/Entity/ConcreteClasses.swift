extension EntityObject {
    /// The class, and a concrete subclass for each abstract class reachable from it that has none.
    /// A model with these classes can create objects of all destinations.
    package static var _withConcreteClasses: [any EntityObject.Type] {
        var classes: [any EntityObject.Type] = [self]
        // Each added class may refer to further abstract classes; their number is finite.
        while let missing = missingSubclass(of: ModelAssembly.declarations(of: classes)) { classes.append(missing) }
        return classes
    }

    /// Returns a concrete subclass, found in the program, of the first abstract class that has none
    /// among the declarations.
    private static func missingSubclass(of declarations: [_EntityDeclaration]) -> (any EntityObject.Type)? {
        let concrete = declarations.filter { !$0.isAbstract }.map(\.objectClass)
        return declarations.lazy.filter(\.isAbstract).compactMap { abstract in
            if concrete.contains(where: { $0.isSubclass(of: abstract.objectClass) }) { return nil }
            return ClassLookup.subclasses(of: abstract.objectClass).lazy.compactMap { $0 as? any EntityObject.Type }
                .first { found in
                    // A class without @Entity has no description of its own.
                    let description = found.describeEntity()
                    return !description.isAbstract && description.objectClass == found
                }
        }.first
    }
}
