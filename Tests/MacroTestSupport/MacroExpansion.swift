import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// A source text with its macros expanded, the problems found in it, and what the fix-its put in
/// their place.
package struct MacroExpansion {
    package let expanded: String
    /// `line:column: message`, in order.
    package let problems: [String]
    package let remedies: [String]

    /// - Parameter conformances: for a macro's name the protocols that its type does not conform to
    ///   yet.
    package init(_ source: String, macros: [String: any Macro.Type], conformances: [String: [TypeSyntax]] = [:]) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "Test.swift")])
        let specifications = macros.reduce(into: [String: MacroSpec]()) { result, macro in
            result[macro.key] = MacroSpec(type: macro.value, conformances: conformances[macro.key] ?? [])
        }
        expanded =
            file.expand(macroSpecs: specifications) { node in
                BasicMacroExpansionContext(sharingWith: context, lexicalContext: node.enclosingDeclarations)
            }.description
        problems = context.diagnostics.map { diagnostic in
            let place = context.location(for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "Test.swift")
            return "\(place.line):\(place.column): \(diagnostic.message)"
        }
        remedies = context.diagnostics.flatMap(\.fixIts).flatMap(\.changes).compactMap { change in
            guard case .replace(_, let newNode) = change else { return nil }
            return newNode.trimmedDescription
        }
    }
}

extension SyntaxProtocol {
    fileprivate var enclosingDeclarations: [Syntax] {
        sequence(first: Syntax(self)) { $0.parent }.dropFirst().filter {
            $0.asProtocol((any DeclGroupSyntax).self) != nil
        }
    }
}
