import SwiftSyntax
import SwiftSyntaxMacros

// The macros that add options to a property. `@Entity` reads them; they generate no code
// themselves.

/// A macro that only marks a property of an `@Entity` class.
public protocol PropertyMark: PeerMacro {}

extension PropertyMark {
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let enclosing = context.lexicalContext.first?.as(ClassDeclSyntax.self)
        if enclosing?.attributes.named("Entity") == nil || !declaration.is(VariableDeclSyntax.self) {
            MacroProblem(
                id: "mark",
                message:
                    "@\(node.attributeName.trimmedDescription) belongs on a stored property of a class marked @Entity",
                node: node
            ).report(in: context)
        }
        return []
    }
}

/// Marks an attribute with options.
open class AttributeMacro: PropertyMark {}

/// Marks a relationship with its rules.
open class RelationshipMacro: PropertyMark {}

/// Marks a property that is not stored.
open class TransientMacro: PropertyMark {}

/// Marks a property that the store computes.
open class DerivedMacro: PropertyMark {}
