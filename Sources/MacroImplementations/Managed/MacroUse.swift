import SwiftSyntax
import SwiftSyntaxMacros

/// The use of a macro: the attribute in the source from which the macros of this plug-in read.
struct MacroUse {
    let attribute: AttributeSyntax

    /// The macro's name as written, for messages.
    var name: String { attribute.attributeName.trimmedDescription }

    /// Returns the literal of the argument `key:`, nil if there is none, or a problem if it is not
    /// a plain literal.
    func key(in context: some MacroExpansionContext) -> Result<String?, ReportedProblem> {
        guard case .argumentList(let arguments) = attribute.arguments, let argument = arguments.first else {
            return .success(nil)
        }
        guard let literal = argument.expression.as(StringLiteralExprSyntax.self),
            let value = literal.representedLiteralValue, !value.isEmpty
        else {
            MacroProblem(
                id: "key", message: "the key of @\(name) must be a string literal that names a property of the model",
                node: argument.expression
            ).report(in: context)
            return .failure(ReportedProblem())
        }
        return .success(value)
    }

    /// Reports a use outside a class or an extension. An extension passes, because it may extend a
    /// class.
    func reportUnlessInClass(in context: some MacroExpansionContext) -> Bool {
        guard let enclosing = context.lexicalContext.first else {
            return reportOutsideClass(in: context)
        }
        if enclosing.is(ClassDeclSyntax.self) || enclosing.is(ExtensionDeclSyntax.self) { return true }
        return reportOutsideClass(in: context)
    }

    private func reportOutsideClass(in context: some MacroExpansionContext) -> Bool {
        MacroProblem(
            id: "class", message: "@\(name) belongs in a class that inherits from NSManagedObject", node: attribute
        ).report(in: context)
        return false
    }

    /// Reports `static` and `class` members: a managed object stores values for each object.
    func reportTypeMember<Declaration: SyntaxProtocol & WithModifiersSyntax>(
        _ declaration: Declaration, kind: String, in context: some MacroExpansionContext
    ) -> Bool {
        let isTypeModifier = { (modifier: DeclModifierSyntax) in
            [.keyword(.static), .keyword(.class)].contains(modifier.name.tokenKind)
        }
        guard let modifier = declaration.modifiers.first(where: isTypeModifier) else { return false }
        MacroProblem(
            id: "static",
            message: "@\(name) needs an instance \(kind): each object has its own values", node: modifier,
            fixIt: (
                "Remove '\(modifier.name.text)'",
                .edit(declaration) { $0.modifiers = $0.modifiers.filter { !isTypeModifier($0) } }
            )
        ).report(in: context)
        return true
    }
}

/// A problem that has already been reported to the compiler.
struct ReportedProblem: Error {}
