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

    /// Properties of `NSManagedObject` and `NSObject`.
    private static let inherited: Set<String> = [
        "debugDescription", "description", "entity", "faultingState", "hasChanges", "hasPersistentChangedValues", "hash", "hashValue",
        "isDeleted", "isFault", "isInserted", "isUpdated", "managedObjectContext", "objectID",
    ]

    /// What no key path can name, and what the initializer and the members beside the properties are called.
    private static let written: Set<String> = ["Protocol", "Self", "Snapshot", "Type", "context", "self", "snapshot", "snapshotGraph"]
}
