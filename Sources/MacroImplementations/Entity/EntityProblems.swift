import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Finds mistakes in an `@Entity` class before the compiler sees the generated code.
struct EntityProblems {
    let entity: EntityClass

    /// Reports every mistake. Returns false if no code can be generated for the class.
    func report(in context: some MacroExpansionContext) -> Bool {
        for member in entity.declaration.memberBlock.members {
            if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                reportProperties(in: condition, context)
            } else if let variable = member.decl.as(VariableDeclSyntax.self), !isTypeMember(variable) {
                problem(of: variable)?.report(in: context)
            }
        }
        guard let problem = Self.problem(ofClass: entity.declaration, inheritsEntity: entity.inheritsEntity) else {
            return true
        }
        problem.report(in: context)
        return false
    }

    /// Returns the reason why a class cannot be an entity; nil if it can.
    static func problem(ofClass declaration: ClassDeclSyntax, inheritsEntity: Bool) -> MacroProblem? {
        guard let superclass = declaration.inheritanceClause?.inheritedTypes.first?.type else {
            return MacroProblem(
                id: "superclass", message: "a class marked @Entity inherits from NSManagedObject or another such class",
                node: declaration.name,
                fixIt: (
                    "Inherit from NSManagedObject",
                    .edit(declaration.name) { name in
                        name = .identifier("\(name.text): NSManagedObject", trailingTrivia: name.trailingTrivia)
                    }
                ))
        }
        if superclass.trimmedDescription == "NSObject" {
            return MacroProblem(
                id: "superclass", message: "a class marked @Entity inherits from NSManagedObject or another such class",
                node: superclass,
                fixIt: (
                    "Inherit from NSManagedObject",
                    .replace(
                        oldNode: Syntax(superclass),
                        newNode: Syntax(
                            IdentifierTypeSyntax(name: .identifier("NSManagedObject"))
                                .with(\.trailingTrivia, superclass.trailingTrivia)))
                ))
        }
        if let parameters = declaration.genericParameterClause {
            return MacroProblem(
                id: "generic", message: "an @Entity class cannot be generic: it stands for one entity of the model",
                node: parameters)
        }
        if let actor = declaration.attributes.named("MainActor") {
            return MacroProblem(
                id: "isolated",
                message:
                    "an @Entity class cannot be isolated to the main actor: its objects belong to the queue of their "
                    + "context",
                node: actor,
                fixIt: (
                    "Remove '@MainActor'",
                    .edit(declaration) { edited in
                        let trivia = edited.leadingTrivia
                        edited.attributes = edited.attributes.filter { $0.as(AttributeSyntax.self)?.id != actor.id }
                        edited.leadingTrivia = trivia
                    }
                ))
        }
        return PropertyNames.problem(ofClass: declaration, inheritsEntity: inheritsEntity)
    }

    /// Reports properties within `#if`: a macro does not know which branch is compiled, and sees no
    /// property in any of them.
    private func reportProperties(in condition: IfConfigDeclSyntax, _ context: some MacroExpansionContext) {
        for case .decls(let members) in condition.clauses.compactMap(\.elements) {
            for member in members {
                if let inner = member.decl.as(IfConfigDeclSyntax.self) {
                    reportProperties(in: inner, context)
                } else if let variable = member.decl.as(VariableDeclSyntax.self), !isTypeMember(variable),
                    variable.attributes.named("Managed") == nil,
                    variable.bindings.contains(where: { $0.accessorBlock == nil })
                {
                    MacroProblem(
                        id: "condition",
                        message:
                            "a property of an @Entity class cannot stand inside '#if': the class is the model, with "
                            + "all its properties",
                        node: variable.bindingSpecifier
                    ).report(in: context)
                }
            }
        }
    }

    private func isTypeMember(_ variable: VariableDeclSyntax) -> Bool {
        variable.modifiers.contains { [.keyword(.static), .keyword(.class)].contains($0.name.tokenKind) }
    }

    /// Whether a property is the primitive property of another one, by Core Data's naming rule:
    /// `primitiveName` of `name`.
    private func isPrimitive(_ variable: VariableDeclSyntax) -> Bool {
        guard let name = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
            name.hasPrefix("primitive")
        else { return false }
        let rest = name.dropFirst("primitive".count)
        return entity.properties.contains { $0.name == rest.prefix(1).lowercased() + rest.dropFirst() }
    }

    private func problem(of variable: VariableDeclSyntax) -> MacroProblem? {
        guard let binding = variable.bindings.first else { return nil }
        let marks = EntityProperty.marks.compactMap { variable.attributes.named($0) }
        let mark = marks.first
        if let accessors = binding.accessorBlock {
            return problem(ofComputed: variable, mark: mark, accessors: accessors)
        }
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            return MacroProblem(
                id: "let",
                message:
                    "a property of an @Entity class needs 'var': its value changes when the object is fetched, "
                    + "refreshed or reset",
                node: variable.bindingSpecifier,
                fixIt: ("Replace 'let' with 'var'", .edit(variable) { $0.bindingSpecifier.tokenKind = .keyword(.var) }))
        }
        if let managed = variable.attributes.named("Managed"), !isPrimitive(variable) {
            return MacroProblem(
                id: "managed", message: "@Entity manages this property already", node: managed,
                fixIt: ("Remove '@Managed'", removing(managed, from: variable)))
        }
        if let modifier = variable.modifiers.first(where: {
            EntityProperty.excludingModifiers.contains($0.name.tokenKind)
        }) {
            return MacroProblem(
                id: "modifier",
                message:
                    "a property of an @Entity class cannot be \(modifier.name.text): the managed object stores its "
                    + "value",
                node: modifier,
                fixIt: (
                    "Remove '\(modifier.name.text)'",
                    .edit(variable) { edited in
                        edited.modifiers = edited.modifiers.filter { $0.name.tokenKind != modifier.name.tokenKind }
                    }
                ))
        }
        if variable.bindings.count > 1 {
            return MacroProblem(
                id: "bindings", message: "declare each property of an @Entity class by itself", node: variable.bindings)
        }
        guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
            return MacroProblem(
                id: "bindings", message: "declare each property of an @Entity class by itself", node: binding.pattern)
        }
        if let problem = PropertyNames.problem(
            of: pattern.identifier, isFinal: entity.isFinal, inheritsEntity: entity.inheritsEntity)
        {
            return problem
        }
        if marks.count > 1 {
            let (kept, other) = (marks[0].attributeName.trimmedDescription, marks[1].attributeName.trimmedDescription)
            return MacroProblem(
                id: "marks", message: "a property is either @\(kept) or @\(other)", node: marks[1],
                fixIt: ("Remove '@\(other)'", removing(marks[1], from: variable)))
        }
        guard let type = binding.typeAnnotation?.type else {
            return missingType(of: pattern, binding)
        }
        return problem(ofType: type, variable)
            ?? EntityProperty(variable).flatMap { problem(of: $0, mark: mark) }
    }

    private func problem(
        ofComputed variable: VariableDeclSyntax, mark: AttributeSyntax?, accessors: AccessorBlockSyntax
    ) -> MacroProblem? {
        if case .accessors(let list) = accessors.accessors,
            let observer = list.first(where: { ["willSet", "didSet"].contains($0.accessorSpecifier.text) })
        {
            return MacroProblem(
                id: "observer",
                message:
                    "a property of an @Entity class cannot have observers: use a computed property beside it, or "
                    + "willSave()",
                node: observer.accessorSpecifier)
        }
        guard let mark else { return nil }
        let name = mark.attributeName.trimmedDescription
        return MacroProblem(
            id: "computed",
            message: "@\(name) needs a stored property: one with accessors of its own is not in the model",
            node: mark, fixIt: ("Remove '@\(name)'", removing(mark, from: variable)))
    }

    private func missingType(of pattern: IdentifierPatternSyntax, _ binding: PatternBindingSyntax) -> MacroProblem {
        let name = pattern.identifier.text
        let literalType = binding.initializer.flatMap { initializer -> String? in
            switch initializer.value.kind {
            case .integerLiteralExpr: "Int"
            case .floatLiteralExpr: "Double"
            case .stringLiteralExpr: "String"
            case .booleanLiteralExpr: "Bool"
            default: nil
            }
        }
        return MacroProblem(
            id: "type", message: "a property of an @Entity class needs its type: write 'var \(name): Type'",
            node: pattern.identifier,
            fixIt: literalType.map { type in
                (
                    "Write ': \(type)'",
                    .edit(binding) { edited in
                        edited.pattern.trailingTrivia = []
                        edited.typeAnnotation = TypeAnnotationSyntax(
                            colon: .colonToken(trailingTrivia: .space),
                            type: TypeSyntax(IdentifierTypeSyntax(name: .identifier(type))), trailingTrivia: .space)
                    }
                )
            })
    }

    private func problem(ofType type: TypeSyntax, _ variable: VariableDeclSyntax) -> MacroProblem? {
        if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let wrapped = unwrapped.wrappedType
            return MacroProblem(
                id: "unwrapped", message: "a property of an @Entity class is either optional or required", node: type,
                fixIt: (
                    "Make it optional",
                    .replace(oldNode: Syntax(type), newNode: Syntax(OptionalTypeSyntax(wrappedType: wrapped)))
                ))
        }
        guard let property = EntityProperty(variable), property.isUnsupported else { return nil }
        let written = (property.type.wrappedType ?? property.type).trimmedDescription
        return MacroProblem(
            id: "unsupported",
            message:
                "Core Data cannot store a '\(written)': use a number, String, Bool, Date, Data, UUID, URL, a Codable "
                + "type, or "
                + "@Attribute(.transformable(by:))", node: type)
    }

    private func problem(of property: EntityProperty, mark: AttributeSyntax?) -> MacroProblem? {
        let type = property.type
        if let hidden = PropertyNames.hiddenType(
            in: property, isFinal: entity.isFinal, inheritsEntity: entity.inheritsEntity)
        {
            return MacroProblem(
                id: "name",
                message:
                    "'\(hidden.text)' means something else in an @Entity class: write it with its module, or give it "
                    + "another name",
                node: hidden)
        }
        if case .relationship(let mark) = property.role {
            if let wrapped = property.binding.typeAnnotation?.type.wrappedType,
                wrapped.elementType != nil || wrapped.isOrderedSet,
                let written = property.binding.typeAnnotation?.type
            {
                return MacroProblem(
                    id: "optional-to-many",
                    message: "a to-many relationship is never nil, but empty: write '\(wrapped.trimmedDescription)'",
                    node: written,
                    fixIt: (
                        "Write '\(wrapped.trimmedDescription)'",
                        .replace(
                            oldNode: Syntax(written),
                            newNode: Syntax(wrapped.trimmed.with(\.trailingTrivia, written.trailingTrivia)))
                    ))
            }
            if let inverse = mark.argument("inverse"), inverse.keyPathProperty == nil,
                !inverse.is(NilLiteralExprSyntax.self)
            {
                return MacroProblem(
                    id: "inverse", message: "the inverse of a relationship is a key path like \\Other.property",
                    node: mark.argumentList.first { $0.label?.text == "inverse" }?.expression ?? inverse)
            }
            if let own = mark.argumentList.first(where: { $0.label?.text == "ownInverse" }) {
                if !own.expression.is(BooleanLiteralExprSyntax.self) {
                    return MacroProblem(
                        id: "own-inverse",
                        message: "whether a relationship is its own inverse is true or false, as it is written",
                        node: own.expression)
                }
                if mark.saysOwnInverse, mark.argument("inverse")?.keyPathProperty != nil {
                    return MacroProblem(
                        id: "two-inverses",
                        message: "a relationship has one inverse: itself or the one that 'inverse' names",
                        node: own.expression)
                }
            }
        }
        if type.isOrderedSet || type.wrappedType?.isOrderedSet == true {
            guard case .relationship(let mark) = property.role, mark.argument("inverse") != nil else {
                return MacroProblem(
                    id: "ordered-set",
                    message:
                        "an NSOrderedSet does not say what it holds: add @Relationship(inverse:), or write an array "
                        + "of the class",
                    node: property.binding.typeAnnotation?.type ?? type)
            }
        }
        if property.isTransient, property.initialValue == nil, !property.isOptional {
            return MacroProblem(
                id: "transient",
                message: "a transient property is not stored: give it an initial value, or an optional type",
                node: property.binding.pattern)
        }
        if property.isDerived, let initializer = property.binding.initializer {
            return MacroProblem(
                id: "derived", message: "a derived property is computed by the store and has no initial value",
                node: initializer,
                fixIt: (
                    "Remove the initial value",
                    .edit(property.binding) { edited in
                        edited.initializer = nil
                        edited.trailingTrivia = initializer.trailingTrivia
                    }
                ))
        }
        return nil
    }

    private func removing(_ mark: AttributeSyntax, from variable: VariableDeclSyntax) -> FixIt.Change {
        .edit(variable) { edited in
            let trivia = edited.leadingTrivia
            edited.attributes = edited.attributes.filter { $0.as(AttributeSyntax.self)?.id != mark.id }
            edited.leadingTrivia = trivia
        }
    }
}
