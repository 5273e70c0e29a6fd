import SwiftSyntax

/// A class with `@Entity`, as far as its source text shows.
struct EntityClass {
    let declaration: ClassDeclSyntax
    let mark: AttributeSyntax
    let properties: [EntityProperty]
    /// Whether the superclass is an `@Entity` class too. The compiler reports this: the class then
    /// already conforms.
    let inheritsEntity: Bool

    init(_ declaration: ClassDeclSyntax, mark: AttributeSyntax, inheritsEntity: Bool) {
        self.declaration = declaration
        self.mark = mark
        self.inheritsEntity = inheritsEntity
        let isFinal = declaration.modifiers.contains { $0.name.tokenKind == .keyword(.final) }
        properties = declaration.memberBlock.members.compactMap { member in
            member.decl.as(VariableDeclSyntax.self).flatMap { EntityProperty($0) }
        }.filter {
            !$0.isUnsupported
                && PropertyNames.problem(of: $0.token, isFinal: isFinal, inheritsEntity: inheritsEntity) == nil
        }
    }

    var name: String { declaration.name.trimmedDescription }

    var superclass: TypeSyntax? { declaration.inheritanceClause?.inheritedTypes.first?.type.trimmed }

    /// Whether only subclasses have objects, as far as the source text shows.
    var isAbstract: Bool { mark.argument("isAbstract")?.as(BooleanLiteralExprSyntax.self)?.literal.text == "true" }

    var isFinal: Bool { declaration.modifiers.contains { $0.name.tokenKind == .keyword(.final) } }

    /// Whether the class declares a designated initializer besides the framework's.
    var hasOwnInitializer: Bool {
        initializers.contains { initializer in
            !initializer.modifiers.contains { $0.name.tokenKind == .keyword(.convenience) }
                && initializer.labels != ["entity", "insertInto"]
        }
    }

    /// Whether the class declares an initializer with these argument labels.
    func declaresInitializer(_ labels: [String]) -> Bool { initializers.contains { $0.labels == labels } }

    private var initializers: [InitializerDeclSyntax] {
        declaration.memberBlock.members.compactMap { $0.decl.as(InitializerDeclSyntax.self) }
    }

    // MARK: Access

    /// The access level of members that other modules need if they use the class.
    var access: Access { Access(declaration.modifiers) == .open ? .public : Access(declaration.modifiers) }

    /// The access level of members that subclasses override: that of the class, `open` if it is
    /// open.
    var overrideAccess: Access { Access(declaration.modifiers) }

    /// The access level of declarations with a parameter for each argument: at most that of each
    /// property, because no property's type may be less visible.
    var initializerAccess: Access { min(access, arguments.map { Access($0.variable.modifiers) }.min() ?? access) }

    /// The modifier of declarations with a parameter for each argument. A hidden property makes
    /// them hidden only if its type may be hidden too.
    var initializerPrefix: String {
        let hidden = arguments.filter { Access($0.variable.modifiers) <= .fileprivate && !$0.type.isPlainValue }
        if hidden.contains(where: hasPrivateType) { return "private " }
        return hidden.isEmpty ? initializerAccess.prefix : "fileprivate "
    }

    /// Whether a property's type names a private type of the class: no other type can then have a
    /// member of it.
    func hasPrivateType(_ property: EntityProperty) -> Bool {
        let names = privateTypes
        return !names.isEmpty && property.type.tokens(viewMode: .sourceAccurate).contains { names.contains($0.text) }
    }

    private var privateTypes: Set<String> {
        Set(
            declaration.memberBlock.members.compactMap { member in
                guard let modifiers = member.decl.asProtocol((any WithModifiersSyntax).self)?.modifiers,
                    Access(modifiers) == .private
                else { return nil }
                return member.decl.asProtocol((any NamedDeclSyntax).self)?.name.text
            })
    }

    /// The properties that the initializer takes, in the order of their declaration.
    ///
    /// Derived and transient properties are excluded, and so are properties that need no value and
    /// are less visible than the class.
    var arguments: [EntityProperty] {
        properties.filter { property in
            if property.isDerived || property.isTransient { return false }
            if Access(property.variable.modifiers) >= min(access, .public) { return true }
            return property.initialValue == nil && !property.isOptional && !property.isToMany
        }
    }

    /// The properties that get their initial value before `awakeFromInsert()`: those that the
    /// initializer does not take, because they are less visible than the class, and those whose
    /// argument can be omitted.
    var earlyInitialValues: [EntityProperty] {
        let taken = Set(arguments.map(\.name))
        return properties.filter { property in
            property.initialValue != nil && !property.isTransient && !property.isDerived
                && (!taken.contains(property.name) || yieldsToAwaking(property))
        }
    }

    /// Whether a value that `awakeFromInsert()` sets takes precedence over the property's initial
    /// value.
    ///
    /// The argument's default is then nil, because any other default could not be distinguished
    /// from a value of the caller.
    func yieldsToAwaking(_ property: EntityProperty) -> Bool {
        overridesAwakeFromInsert && property.initialValue != nil && !property.isOptional
    }

    private var overridesAwakeFromInsert: Bool {
        declaration.memberBlock.members.contains { member in
            guard let function = member.decl.as(FunctionDeclSyntax.self) else { return false }
            return function.name.text == "awakeFromInsert" && function.signature.parameterClause.parameters.isEmpty
        }
    }
}

/// The access level of a declaration.
enum Access: Int, Comparable {
    case `private`, `fileprivate`, `internal`, package, `public`, open

    /// Creates the level that modifiers give, ignoring that of the setter.
    init(_ modifiers: DeclModifierListSyntax) {
        self = .internal
        for modifier in modifiers where modifier.detail == nil {
            switch modifier.name.tokenKind {
            case .keyword(.private): self = .private
            case .keyword(.fileprivate): self = .fileprivate
            case .keyword(.package): self = .package
            case .keyword(.public): self = .public
            case .keyword(.open): self = .open
            default: continue
            }
        }
    }

    static func < (first: Access, second: Access) -> Bool { first.rawValue < second.rawValue }

    /// The modifier and a space. A private class's members need none: they are as visible as it is.
    var prefix: String {
        switch self {
        case .private, .fileprivate: ""
        case .internal: ""
        case .package: "package "
        case .public: "public "
        case .open: "open "
        }
    }
}

extension InitializerDeclSyntax {
    var labels: [String] { signature.parameterClause.parameters.map(\.firstName.text) }
}
