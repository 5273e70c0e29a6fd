import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Makes a class an entity: generates accessors for its properties, its initializers, its
/// description and its conformance.
open class EntityMacro {
    static let propertyMacro = "_EntityProperty"
}

extension EntityMacro: MemberAttributeMacro {
    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard declaration.is(ClassDeclSyntax.self), let variable = member.as(VariableDeclSyntax.self),
            EntityProperty(variable) != nil
        else { return [] }
        return ["@\(raw: propertyMacro)"]
    }
}

extension EntityMacro: MemberMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let classDeclaration = declaration.as(ClassDeclSyntax.self) else {
            MacroProblem(
                id: "class", message: "@Entity belongs on a class that inherits from NSManagedObject", node: node
            ).report(in: context)
            return []
        }
        let entity = EntityClass(classDeclaration, mark: node, inheritsEntity: protocols.isEmpty)
        guard EntityProblems(entity: entity).report(in: context) else { return [] }
        let places = PropertyPlaces(of: entity, in: context)
        return InitializerCode(entity: entity).members + [DeclarationCode(entity: entity, places: places).member]
            + SnapshotCode(entity: entity, places: places).members
    }
}

extension EntityMacro: ExtensionMacro {
    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let classDeclaration = declaration.as(ClassDeclSyntax.self), !protocols.isEmpty,
            EntityProblems.problem(ofClass: classDeclaration, inheritsEntity: false) == nil
        else { return [] }
        // Explicit, because a module's default isolation may be the main actor.
        return [try ExtensionDeclSyntax("extension \(type.trimmed): nonisolated EntityObject {}")]
    }
}
