import MacroPluginSupport
import SwiftSyntax

/// The names that a property of an `@Entity` class cannot have.
enum PropertyNames {
    /// Why a name cannot be that of a property.
    ///
    /// - Parameters:
    ///   - isFinal: whether no class inherits from this one, whose members then do not name the object that they give values.
    ///   - inheritsEntity: whether the initializer takes the values of the superclass.
    static func problem(of identifier: TokenSyntax, isFinal: Bool, inheritsEntity: Bool) -> MacroProblem? {
        let name = identifier.identifier?.name ?? identifier.text
        if inherited.contains(name) {
            return MacroProblem(
                id: "name", message: "every managed object has a '\(name)' of its own: give the property another name", node: identifier)
        }
        if written.contains(name) || (name == "object" && !isFinal) || (name == "inherited" && inheritsEntity) {
            return MacroProblem(
                id: "name", message: "'\(name)' means something else in an @Entity class: give the property another name",
                node: identifier)
        }
        let isName = name.unicodeScalars.allSatisfy { $0 == "_" || $0.properties.isXIDContinue || $0.properties.isEmoji }
        return isName
            ? nil
            : MacroProblem(
                id: "name", message: "a model has no property named '\(name)': use letters, digits and '_'", node: identifier)
    }

    /// The type in a property's type that is named like one which the macro writes into the class; nil when there is none.
    ///
    /// Written there, the name means the other one. Behind a module's name or another type's it does not.
    static func hiddenType(in property: EntityProperty, isFinal: Bool, inheritsEntity: Bool) -> TokenSyntax? {
        var names = types(isFinal: isFinal, inheritsEntity: inheritsEntity)
        // Only snapshots have this one, and no transient properties.
        if property.isTransient { names.remove("Object") }
        return property.binding.typeAnnotation?.type.tokens(viewMode: .sourceAccurate).first { token in
            names.contains(token.identifier?.name ?? token.text) && token.parent?.is(IdentifierTypeSyntax.self) ?? false
        }
    }

    /// Why a class cannot have its name: within it the name means a type that the macro writes.
    static func problem(ofClass declaration: ClassDeclSyntax, inheritsEntity: Bool) -> MacroProblem? {
        let isFinal = declaration.modifiers.contains { $0.name.tokenKind == .keyword(.final) }
        let name = declaration.name.identifier?.name ?? declaration.name.text
        guard types(isFinal: isFinal, inheritsEntity: inheritsEntity).contains(name) else { return nil }
        return MacroProblem(
            id: "name", message: "'\(name)' means something else in an @Entity class: give the class another name", node: declaration.name)
    }

    /// The types that the macro writes into the class, and those that the class inherits of them.
    private static func types(isFinal: Bool, inheritsEntity: Bool) -> Set<String> {
        isFinal && !inheritsEntity ? ["Object", "Snapshot"] : ["InitialValues", "Object", "Snapshot"]
    }

    /// Properties of `NSManagedObject` and `NSObject`.
    private static let inherited: Set<String> = [
        "debugDescription", "description", "entity", "faultingState", "hasChanges", "hasPersistentChangedValues", "hash", "hashValue",
        "isDeleted", "isFault", "isInserted", "isUpdated", "managedObjectContext", "objectID",
    ]

    /// What no key path can name, and what the initializer and the members beside the properties are called.
    private static let written: Set<String> = ["Protocol", "Self", "Snapshot", "Type", "context", "self", "snapshot", "snapshotGraph"]
}
