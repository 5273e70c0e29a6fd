import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Generates the body of a method that changes a to-many relationship, such as `addToChildren(_:)`.
open class ManagedAccessorMacro: BodyMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingBodyFor declaration: some DeclSyntaxProtocol & WithOptionalCodeBlockSyntax,
        in context: some MacroExpansionContext
    ) throws -> [CodeBlockItemSyntax] {
        let use = MacroUse(attribute: node)
        guard use.reportUnlessInClass(in: context),
            let function = declaration.as(FunctionDeclSyntax.self)
        else { return [] }
        guard !use.reportTypeMember(function, kind: "method", in: context),
            case .success(let key) = use.key(in: context)
        else { return use.placeholder }
        if let body = function.body {
            MacroProblem(
                id: "body", message: "@\(use.name) writes the body itself", node: body,
                fixIt: (
                    "Remove the body",
                    .edit(function) { edited in
                        edited.body = nil
                        edited.trailingTrivia = []
                    }
                )
            ).report(in: context)
            return use.placeholder
        }
        guard let change = RelationshipChange(function, hasKey: key != nil) else {
            MacroProblem(
                id: "signature",
                message: """
                    @\(use.name) needs one of the methods that change a to-many relationship: \
                    addToName(_:), removeFromName(_:), insertIntoName(_:at:), removeFromName(at:) or \
                    replaceName(at:with:), without a result; with a key also addName(_:), removeName(_:), \
                    insertName(_:at:) and removeName(at:)
                    """,
                node: function.name
            ).report(in: context)
            return use.placeholder
        }
        return [change.call(forKey: key ?? change.key)]
    }
}

extension MacroUse {
    /// A body that avoids a second error for a method that has been reported.
    fileprivate var placeholder: [CodeBlockItemSyntax] { ["fatalError()"] }
}

/// A method of a to-many relationship, read from its name and labels.
private struct RelationshipChange {
    /// The name of the relationship: the rest of the method's name after the verb, with its first
    /// letter in lower case.
    let key: String
    private let helper: String
    private let arguments: [(label: String, name: TokenSyntax)]

    private static let forms: [(verb: String, labels: [String], helper: String)] = [
        ("addTo", ["_"], "_addRelated"),
        ("removeFrom", ["_"], "_removeRelated"),
        ("insertInto", ["_", "at"], "_insertRelated"),
        ("removeFrom", ["at"], "_removeRelated"),
        ("replace", ["at", "with"], "_replaceRelated"),
    ]

    /// The forms of methods whose relationship is given by `key:`, with short verbs.
    private static let shortForms = forms.map { form in
        (
            verb: ["addTo": "add", "removeFrom": "remove", "insertInto": "insert"][form.verb] ?? form.verb,
            labels: form.labels,
            helper: form.helper
        )
    }

    /// - Parameter hasKey: whether the relationship is given by `key:`.
    init?(_ function: FunctionDeclSyntax, hasKey: Bool) {
        let name = function.name.identifier?.name ?? function.name.text
        let parameters = function.signature.parameterClause.parameters
        let labels = parameters.map { $0.firstName.text }
        guard Self.isVoid(function.signature.returnClause?.type),
            let form = (Self.forms + (hasKey ? Self.shortForms : [])).first(where: {
                $0.labels == labels && name.hasPrefix($0.verb)
            })
        else { return nil }
        let relationship = name.dropFirst(form.verb.count)
        guard let first = relationship.first else { return nil }
        key = first.lowercased() + relationship.dropFirst()
        helper = form.helper
        arguments = parameters.map { ($0.firstName.text, $0.secondName ?? $0.firstName) }
    }

    private static func isVoid(_ type: TypeSyntax?) -> Bool {
        type == nil || ["Void", "()"].contains(type?.trimmedDescription)
    }

    func call(forKey key: String) -> CodeBlockItemSyntax {
        let values = arguments.map { label, name in
            label == "_" ? name.trimmedDescription : "\(label): \(name.trimmedDescription)"
        }
        let list = values.joined(separator: ", ")
        return "\(raw: helper)(\(raw: list), forKey: \(StringLiteralExprSyntax(content: key)))"
    }
}
