import Foundation
import SwiftParser
import SwiftSyntax

/// The declarations of one source file, and the names that it uses.
struct SourceNames {
    /// The place of a name in a file.
    struct Use: Hashable {
        let name: String
        let line: Int
    }

    /// Names of what stands outside of types: what can be used by its name alone.
    private(set) var declared: Set<String> = []
    /// Names of types of the file, private and inner ones too, and of generic parameters: they mean
    /// nothing else in it.
    private(set) var ownTypes: Set<String> = []
    /// Names of members of types and extensions.
    private(set) var declaredMembers: Set<String> = []
    /// Names of members of extensions, by the type that is extended.
    private(set) var extensionMembers: [String: Set<String>] = [:]
    /// Names of variables, parameters and functions of the file, which a name that stands alone may
    /// mean.
    private(set) var ownValues: Set<String> = []
    /// Names that are used alone.
    private(set) var used: Set<Use> = []
    /// Names that are used behind a point.
    private(set) var usedMembers: Set<Use> = []

    init(source: String) {
        let tree = Parser.parse(source: source)
        let visitor = NameVisitor(SourceLocationConverter(fileName: "", tree: tree))
        visitor.walk(tree)
        declared = visitor.declared
        ownTypes = visitor.ownTypes
        ownValues = visitor.ownValues
        declaredMembers = visitor.declaredMembers
        extensionMembers = visitor.extensionMembers
        used = visitor.used
        usedMembers = visitor.usedMembers
    }
}

private final class NameVisitor: SyntaxVisitor {
    private let locations: SourceLocationConverter
    /// How deep in types the visitor is.
    private var typeDepth = 0
    /// How deep in bodies of functions and variables, whose declarations nobody else sees.
    private var bodyDepth = 0
    /// The types and extensions around: for an extension the type that it extends.
    private var extended: [String?] = []
    private(set) var ownTypes: Set<String> = []
    private(set) var ownValues: Set<String> = []
    private(set) var declared: Set<String> = []
    private(set) var declaredMembers: Set<String> = []
    private(set) var extensionMembers: [String: Set<String>] = [:]
    private(set) var used: Set<SourceNames.Use> = []
    private(set) var usedMembers: Set<SourceNames.Use> = []

    init(_ locations: SourceLocationConverter) {
        self.locations = locations
        super.init(viewMode: .sourceAccurate)
    }

    private func declare(_ token: TokenSyntax, _ modifiers: DeclModifierListSyntax, isType: Bool) {
        let name = token.text.trimmingCharacters(in: ["`"])
        if isType { ownTypes.insert(name) }
        if bodyDepth > 0
            || modifiers.contains(where: { $0.detail == nil && ["private", "fileprivate"].contains($0.name.text) })
        {
            return
        }
        // A type within another is used by way of that.
        if typeDepth == 0 {
            _ = declared.insert(name)
            return
        }
        declaredMembers.insert(name)
        if let type = extended.last ?? nil { extensionMembers[type, default: []].insert(name) }
    }

    private func use(_ token: TokenSyntax, isMember: Bool) {
        let line = locations.location(for: token.positionAfterSkippingLeadingTrivia).line
        let use = SourceNames.Use(name: token.text.trimmingCharacters(in: ["`"]), line: line)
        if isMember { usedMembers.insert(use) } else { used.insert(use) }
    }

    // MARK: Declarations

    private func enter(_ name: TokenSyntax?, _ modifiers: DeclModifierListSyntax) -> SyntaxVisitorContinueKind {
        if let name { declare(name, modifiers, isType: true) }
        typeDepth += 1
        extended.append(nil)
        return .visitChildren
    }

    private func leave() {
        typeDepth -= 1
        extended.removeLast()
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name, node.modifiers) }
    override func visitPost(_ node: ClassDeclSyntax) { leave() }
    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name, node.modifiers) }
    override func visitPost(_ node: StructDeclSyntax) { leave() }
    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name, node.modifiers) }
    override func visitPost(_ node: EnumDeclSyntax) { leave() }
    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind { enter(node.name, node.modifiers) }
    override func visitPost(_ node: ProtocolDeclSyntax) { leave() }
    override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
        _ = enter(nil, node.modifiers)
        // `Outer.Inner` is known by its last name.
        extended[extended.count - 1] = node.extendedType.trimmedDescription.split(separator: ".").last.map(String.init)
        return .visitChildren
    }
    override func visitPost(_ node: ExtensionDeclSyntax) { leave() }

    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
        declare(node.name, node.modifiers, isType: true)
        return .visitChildren
    }

    override func visit(_ node: GenericParameterSyntax) -> SyntaxVisitorContinueKind {
        ownTypes.insert(node.name.text)
        return .visitChildren
    }

    override func visit(_ node: AssociatedTypeDeclSyntax) -> SyntaxVisitorContinueKind {
        ownTypes.insert(node.name.text)
        return .visitChildren
    }

    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind {
        if bodyDepth == 0 { declaredMembers.insert(node.name.text) }
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        // An operator is many functions, of which its name does not say which is meant.
        if node.name.text.first.map({ $0.isLetter || $0 == "_" }) ?? false {
            declare(node.name, node.modifiers, isType: false)
            ownValues.insert(node.name.text)
        }
        bodyDepth += 1
        return .visitChildren
    }
    override func visitPost(_ node: FunctionDeclSyntax) { bodyDepth -= 1 }

    override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
        bodyDepth += 1
        return .visitChildren
    }
    override func visitPost(_ node: InitializerDeclSyntax) { bodyDepth -= 1 }
    override func visit(_ node: AccessorBlockSyntax) -> SyntaxVisitorContinueKind {
        bodyDepth += 1
        return .visitChildren
    }
    override func visitPost(_ node: AccessorBlockSyntax) { bodyDepth -= 1 }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind {
        bodyDepth += 1
        return .visitChildren
    }
    override func visitPost(_ node: ClosureExprSyntax) { bodyDepth -= 1 }

    override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
        for binding in node.bindings {
            if let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier {
                declare(name, node.modifiers, isType: false)
            }
        }
        return .visitChildren
    }

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        ownValues.insert(node.identifier.text)
        return .visitChildren
    }

    override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind {
        ownValues.insert((node.secondName ?? node.firstName).text)
        return .visitChildren
    }

    override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind {
        ownValues.insert(node.name.text)
        return .visitChildren
    }

    override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
        ownValues.insert((node.secondName ?? node.firstName).text)
        return .visitChildren
    }

    // MARK: Uses

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let isMember = node.parent?.as(MemberAccessExprSyntax.self).map { $0.declName.id == node.id } ?? false
        use(node.baseName, isMember: isMember)
        return .visitChildren
    }

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        use(node.name, isMember: false)
        return .visitChildren
    }

    override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
        use(node.name, isMember: false)
        return .visitChildren
    }
}
