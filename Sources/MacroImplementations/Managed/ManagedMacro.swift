import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Generates the accessors of a property in a managed object's storage.
open class ManagedMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        let use = MacroUse(attribute: node)
        guard let variable = declaration.as(VariableDeclSyntax.self), let binding = variable.bindings.first else {
            return []
        }
        guard use.reportUnlessInClass(in: context),
            !use.reportTypeMember(variable, kind: "property", in: context),
            let name = use.name(of: variable, binding, in: context),
            case .success(let key) = use.key(in: context)
        else {
            // Avoids a second error about missing accessors.
            return binding.accessorBlock == nil ? ["get { fatalError() }"] : []
        }

        let slot = StringLiteralExprSyntax(content: key ?? name)
        return [
            "get { _managedValue(forSlotNamed: \(slot)) }",
            "set { _setManagedValue(newValue, forSlotNamed: \(slot)) }",
        ]
    }
}

extension MacroUse {
    /// Returns the property's name; nil when the declaration cannot be a managed property (which is
    /// then reported).
    fileprivate func name(
        of variable: VariableDeclSyntax, _ binding: PatternBindingSyntax, in context: some MacroExpansionContext
    ) -> String? {
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            report(
                "let",
                "@\(name) needs 'var': the values of a managed object change when it is fetched, refreshed or reset",
                at: variable.bindingSpecifier, "Replace 'let' with 'var'",
                .edit(variable) { $0.bindingSpecifier.tokenKind = .keyword(.var) }, in: context)
            return nil
        }
        if let lazy = variable.modifiers.first(where: { $0.name.tokenKind == .keyword(.lazy) }) {
            report(
                "lazy", "@\(name) cannot be lazy: the managed object stores the value, and loads it when it is needed",
                at: lazy, "Remove 'lazy'",
                .edit(variable) { $0.modifiers = $0.modifiers.filter { $0.name.tokenKind != .keyword(.lazy) } },
                in: context)
            return nil
        }
        if let accessors = binding.accessorBlock {
            report(
                "computed",
                "@\(name) writes the accessors itself: a property that has its own is not stored by Core Data",
                at: accessors, "Remove '@\(name)'",
                .edit(variable) { edited in
                    let trivia = edited.leadingTrivia
                    defer { edited.leadingTrivia = trivia }
                    edited.attributes = edited.attributes.filter { element in
                        element.as(AttributeSyntax.self)?.attributeName.trimmedDescription != name
                    }
                }, in: context)
            return nil
        }
        guard let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else { return nil }
        if let initializer = binding.initializer {
            report(
                "initial-value",
                "@\(name) cannot have an initial value: set the attribute's default value in the model, "
                    + "or the value of each new object in awakeFromInsert()",
                at: initializer, "Remove the initial value",
                .edit(binding) { edited in
                    edited.initializer = nil
                    edited.trailingTrivia = initializer.trailingTrivia
                }, in: context)
        }
        if binding.typeAnnotation == nil {
            // A macro cannot know the type of an initial value: no fix-it.
            MacroProblem(
                id: "type",
                message: "@\(name) needs the property's type: write 'var \(identifier.text): Type'", node: identifier
            ).report(in: context)
            return nil
        }
        return identifier.identifier?.name ?? identifier.text
    }

    private func report(
        _ id: String, _ message: String, at node: any SyntaxProtocol, _ fixIt: String, _ change: FixIt.Change,
        in context: some MacroExpansionContext
    ) {
        MacroProblem(id: id, message: message, node: node, fixIt: (fixIt, change)).report(in: context)
    }
}
