import SwiftSyntax

/// The names that a property of an `@Entity` class cannot have.
enum PropertyNames {
    /// Returns the reason why a property cannot have a name; nil if it can.
    ///
    /// - Parameters:
    ///   - isFinal: whether no class inherits from this one, whose members then do not name the
    ///     object whose values they set.
    ///   - inheritsEntity: whether the initializer takes the values of the superclass.
    static func problem(of identifier: TokenSyntax, isFinal: Bool, inheritsEntity: Bool) -> MacroProblem? {
        let name = identifier.identifier?.name ?? identifier.text
        if inherited.contains(name) {
            return MacroProblem(
                id: "name", message: "every managed object has a '\(name)' of its own: give the property another name",
                node: identifier)
        }
        if written.contains(name) || (name == "object" && !isFinal) || (name == "inherited" && inheritsEntity) {
            return MacroProblem(
                id: "name",
                message: "'\(name)' means something else in an @Entity class: give the property another name",
                node: identifier)
        }
        let isName = name.unicodeScalars.allSatisfy {
            $0 == "_" || $0.properties.isXIDContinue || $0.properties.isEmoji
        }
        return isName
            ? nil
            : MacroProblem(
                id: "name", message: "a model has no property named '\(name)': use letters, digits and '_'",
                node: identifier)
    }

    /// Returns a type within a property's type that has the same name as a type that the macro
    /// generates in the class; nil if there is none.
    ///
    /// In the class the name would refer to the generated type, unless a module or another type
    /// qualifies it.
    static func hiddenType(in property: EntityProperty, isFinal: Bool, inheritsEntity: Bool) -> TokenSyntax? {
        var names = types(isFinal: isFinal, inheritsEntity: inheritsEntity)
        // `Object` is a member of snapshots only, which have no transient properties.
        if property.isTransient { names.remove("Object") }
        return property.binding.typeAnnotation?.type.tokens(viewMode: .sourceAccurate).first { token in
            names.contains(token.identifier?.name ?? token.text) && token.parent?.is(IdentifierTypeSyntax.self) ?? false
        }
    }

    /// Returns the reason why a class cannot have its name; nil if it can. Within the class the
    /// name would refer to a generated type.
    static func problem(ofClass declaration: ClassDeclSyntax, inheritsEntity: Bool) -> MacroProblem? {
        let isFinal = declaration.modifiers.contains { $0.name.tokenKind == .keyword(.final) }
        let name = declaration.name.identifier?.name ?? declaration.name.text
        guard types(isFinal: isFinal, inheritsEntity: inheritsEntity).contains(name) else { return nil }
        return MacroProblem(
            id: "name", message: "'\(name)' means something else in an @Entity class: give the class another name",
            node: declaration.name)
    }

    /// Returns the types that the macro generates in the class, including inherited ones.
    private static func types(isFinal: Bool, inheritsEntity: Bool) -> Set<String> {
        isFinal && !inheritsEntity ? ["Object", "Snapshot"] : ["InitialValues", "Object", "Snapshot"]
    }

    /// Properties of `NSManagedObject` and `NSObject`.
    private static let inherited: Set<String> = [
        "debugDescription", "description", "entity", "faultingState", "hasChanges", "hasPersistentChangedValues",
        "hash", "hashValue",
        "isDeleted", "isFault", "isInserted", "isUpdated", "managedObjectContext", "objectID",
    ]

    /// Names that no key path can contain, and names that the initializer and generated members
    /// use.
    private static let written: Set<String> = [
        "Protocol", "Self", "Snapshot", "Type", "context", "self", "snapshot", "snapshotGraph",
    ]
}
