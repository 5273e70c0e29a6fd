import SwiftSyntax

/// A stored property of an `@Entity` class.
struct EntityProperty {
    /// The role of the property that its own macro states.
    enum Role {
        /// No macro: its type decides between attribute and relationship.
        case plain
        case attribute(AttributeSyntax)
        case relationship(AttributeSyntax)
        case transient
        case derived(AttributeSyntax)
    }

    let variable: VariableDeclSyntax
    let binding: PatternBindingSyntax
    let token: TokenSyntax
    /// The name as written, including backticks.
    let identifier: String
    /// The name in the model.
    let name: String
    let type: TypeSyntax
    let role: Role

    /// Returns nil for anything but a stored property with a name and a type. If that is a mistake,
    /// `EntityProblems` reports it.
    init?(_ variable: VariableDeclSyntax) {
        guard variable.bindingSpecifier.tokenKind == .keyword(.var), variable.bindings.count == 1,
            let binding = variable.bindings.first, binding.accessorBlock == nil,
            !variable.modifiers.contains(where: { Self.excludingModifiers.contains($0.name.tokenKind) }),
            variable.attributes.named("Managed") == nil,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self), let type = binding.typeAnnotation?.type
        else { return nil }
        self.variable = variable
        self.binding = binding
        token = pattern.identifier
        identifier = token.trimmedDescription
        name = token.identifier?.name ?? token.text
        // `T!` is a mistake; the property is then treated as `T?`.
        let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)
        self.type =
            unwrapped.map { TypeSyntax(OptionalTypeSyntax(wrappedType: $0.wrappedType.trimmed)) } ?? type.trimmed
        if let mark = variable.attributes.named("Relationship") {
            role = .relationship(mark)
        } else if let mark = variable.attributes.named("Derived") {
            role = .derived(mark)
        } else if variable.attributes.named("Transient") != nil {
            role = .transient
        } else if let mark = variable.attributes.named("Attribute") {
            role = .attribute(mark)
        } else {
            role = .plain
        }
    }

    /// The macros that state the role of a property, which has at most one of them.
    static let marks = ["Relationship", "Derived", "Transient", "Attribute"]

    static let excludingModifiers: [TokenKind] = [
        .keyword(.static), .keyword(.class), .keyword(.lazy), .keyword(.weak), .keyword(.unowned),
    ]

    var initialValue: ExprSyntax? { binding.initializer?.value.trimmed }

    /// Whether no attribute can have the type, as its text already shows.
    var isUnsupported: Bool {
        if isTransient || transformerName != nil { return false }
        let inner = type.wrappedType ?? type
        return inner.is(FunctionTypeSyntax.self) || inner.is(TupleTypeSyntax.self) || inner.is(SomeOrAnyTypeSyntax.self)
            || ["Any", "AnyObject", "AnyHashable"].contains(inner.trimmedDescription)
    }

    var isOptional: Bool { type.wrappedType != nil }

    var isDerived: Bool {
        if case .derived = role { return true }
        return false
    }

    var isTransient: Bool {
        if case .transient = role { return true }
        return false
    }

    /// The name in `.transformable(by:)`, as written.
    var transformerName: ExprSyntax? {
        guard case .attribute(let mark) = role else { return nil }
        for argument in mark.argumentList {
            if let call = argument.expression.as(FunctionCallExprSyntax.self),
                let member = call.calledExpression.as(MemberAccessExprSyntax.self),
                member.declName.baseName.text == "transformable"
            {
                return call.arguments.first?.expression.trimmed
            }
        }
        return nil
    }

    /// Whether the property is a to-many relationship, as far as its text shows.
    ///
    /// An array or set of an unknown type is treated as one, unless it has `@Attribute`.
    var isToMany: Bool {
        switch role {
        case .attribute, .transient, .derived: return false
        case .relationship: return type.isOrderedSet || type.elementType != nil
        case .plain: return type.isOrderedSet || type.elementType.map { !$0.isPlainValue } ?? false
        }
    }

    /// The expression for the property's kind; the compiler resolves it from the type.
    var kind: ExprSyntax {
        if transformerName != nil { return "_EntityProperties.transformable(\(type).self)" }
        if isTransient { return "_EntityProperties.transient(\(type).self)" }
        return "_EntityProperties.of(\(type).self)"
    }

    /// The initial value if it is a literal, which can also be the model's default; nil for others.
    var literalValue: ExprSyntax? {
        guard let value = initialValue else { return nil }
        if let prefixed = value.as(PrefixOperatorExprSyntax.self), prefixed.operator.text == "-" {
            return prefixed.expression.isNumber ? value : nil
        }
        if let string = value.as(StringLiteralExprSyntax.self) {
            return string.representedLiteralValue == nil ? nil : value
        }
        return value.isNumber || value.is(BooleanLiteralExprSyntax.self) ? value : nil
    }
}

extension ExprSyntax {
    fileprivate var isNumber: Bool { self.is(IntegerLiteralExprSyntax.self) || self.is(FloatLiteralExprSyntax.self) }
}

extension TypeSyntax {
    /// The wrapped type of an optional; nil for others.
    var wrappedType: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        return genericArgument(of: "Optional")
    }

    /// The type of the elements of an array or a set; nil for others.
    var elementType: TypeSyntax? {
        if let array = self.as(ArrayTypeSyntax.self) { return array.element }
        return genericArgument(of: "Set") ?? genericArgument(of: "Array")
    }

    var isOrderedSet: Bool { simpleName == "NSOrderedSet" }

    /// Whether the type is a native attribute type, by its name.
    var isPlainValue: Bool {
        if let wrappedType { return wrappedType.isPlainValue }
        if let elementType { return elementType.isPlainValue }
        return simpleName.map { Self.plainNames.contains($0) } ?? false
    }

    private static let plainNames: Set<String> = [
        "Bool", "Data", "Date", "Decimal", "Double", "Float", "Int", "Int16", "Int32", "Int64", "Int8",
        "NSDecimalNumber",
        "String", "UInt", "UInt16", "UInt32", "UInt64", "UInt8", "URL", "UUID",
    ]

    private var simpleName: String? {
        if let identifier = self.as(IdentifierTypeSyntax.self), identifier.genericArgumentClause == nil {
            return identifier.name.text
        }
        if let member = self.as(MemberTypeSyntax.self), member.genericArgumentClause == nil,
            ["Swift", "Foundation", "CoreData"].contains(member.baseType.trimmedDescription)
        {
            return member.name.text
        }
        return nil
    }

    private func genericArgument(of name: String) -> TypeSyntax? {
        let clause: GenericArgumentClauseSyntax?
        if let identifier = self.as(IdentifierTypeSyntax.self), identifier.name.text == name {
            clause = identifier.genericArgumentClause
        } else if let member = self.as(MemberTypeSyntax.self), member.name.text == name,
            member.baseType.trimmedDescription == "Swift"
        {
            clause = member.genericArgumentClause
        } else {
            clause = nil
        }
        guard let arguments = clause?.arguments, arguments.count == 1, let only = arguments.first else { return nil }
        // The argument is a type in some versions of swift-syntax, and a type or an expression in
        // others.
        return Syntax(only.argument).as(TypeSyntax.self)
    }
}

extension AttributeListSyntax {
    /// Returns the macro or attribute with a name, with or without a module.
    func named(_ name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { attribute in
            attribute.attributeName.trimmedDescription.split(separator: ".").last.map { $0 == name } ?? false
        }
    }
}

extension AttributeSyntax {
    var argumentList: [LabeledExprSyntax] {
        guard case .argumentList(let arguments) = arguments else { return [] }
        return Array(arguments)
    }

    func argument(_ label: String) -> ExprSyntax? {
        argumentList.first { $0.label?.text == label }?.expression.trimmed
    }
}
