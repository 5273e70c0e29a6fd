import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A mistake in the use of a macro: the message, its place in the source, and a fix-it if there is
/// a clear one.
package struct MacroProblem {
    let id: String
    let message: String
    let node: any SyntaxProtocol
    var fixIt: (message: String, change: FixIt.Change)?

    package init(
        id: String, message: String, node: any SyntaxProtocol, fixIt: (message: String, change: FixIt.Change)? = nil
    ) {
        self.id = id
        self.message = message
        self.node = node
        self.fixIt = fixIt
    }

    package func report(in context: some MacroExpansionContext) {
        var fixIts: [FixIt] = []
        if let fixIt {
            fixIts = [FixIt(message: FixItText(text: fixIt.message, id: id), changes: [fixIt.change])]
        }
        context.diagnose(Diagnostic(node: node, message: ProblemText(message: message, id: id), fixIts: fixIts))
    }
}

private struct ProblemText: DiagnosticMessage {
    let message: String
    let id: String
    var diagnosticID: MessageID { MessageID(domain: "CoreDataMacros", id: id) }
    var severity: DiagnosticSeverity { .error }
}

private struct FixItText: FixItMessage {
    let text: String
    let id: String
    var message: String { text }
    var fixItID: MessageID { MessageID(domain: "CoreDataMacros", id: id) }
}

extension FixIt.Change {
    /// Replaces a declaration by an edited copy of itself.
    package static func edit<Node: SyntaxProtocol>(_ node: Node, _ body: (inout Node) -> Void) -> FixIt.Change {
        var edited = node
        body(&edited)
        return .replace(oldNode: Syntax(node), newNode: Syntax(edited))
    }
}
