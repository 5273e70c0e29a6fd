import SwiftSyntax
import SwiftSyntaxBuilder

/// Generates the description of the entity, from which a model is built.
struct DeclarationCode {
    let entity: EntityClass
    let places: PropertyPlaces

    var member: DeclSyntax {
        let override = entity.inheritsEntity ? "override " : ""
        let kind = entity.isFinal && !entity.inheritsEntity ? "static" : "class"
        let access = entity.isFinal ? entity.access : entity.overrideAccess
        let lines =
            ["\(entity.properties.isEmpty ? "let" : "var") entity = _EntityDeclaration(\(header))"]
            + entity.properties.map { places.placing(statement(for: $0), at: $0) } + [
                "return entity"
            ]
        return """
            /// The entity that this class declares.
            \(raw: access.prefix)\(raw: override)\(raw: kind) func describeEntity() -> _EntityDeclaration {
                \(raw: lines.joined(separator: "\n    "))
            }
            """
    }

    /// The entity's name and options, as given to `@Entity`.
    private var header: String {
        var arguments = ["\(entity.name).self"]
        var given = entity.mark.argumentList[...]
        if let first = given.first, first.label == nil {
            arguments.append("named: \(first.expression.trimmedDescription) ?? \"\(plainName)\"")
            if first.expression.is(StringLiteralExprSyntax.self) {
                arguments[1] = "named: \(first.expression.trimmedDescription)"
            }
            given = given.dropFirst()
        } else {
            arguments.append("named: \"\(plainName)\"")
        }
        arguments += given.map { $0.with(\.trailingComma, nil).trimmedDescription }
        return arguments.joined(separator: ", ")
    }

    private var plainName: String { entity.declaration.name.identifier?.name ?? entity.declaration.name.text }

    private func statement(for property: EntityProperty) -> String {
        var arguments = ["\"\(property.name)\"", "\\\(entity.name).\(property.identifier)"]
        switch property.role {
        case .plain, .transient:
            arguments.append(property.kind.description)
            arguments += initialValue(of: property)
            return "entity.add(\(arguments.joined(separator: ", ")))"
        case .attribute(let mark):
            arguments.append(property.kind.description)
            arguments += initialValue(of: property)
            let options = mark.argumentList.filter { $0.label == nil }.map { option($0.expression, of: property) }
            if !options.isEmpty { arguments.append("options: [\(options.joined(separator: ", "))]") }
            arguments += labelled(mark)
            return "entity.addAttribute(\(arguments.joined(separator: ", ")))"
        case .derived(let mark):
            arguments.append(property.kind.description)
            if let expression = mark.argumentList.first?.expression {
                arguments.append("from: \(expression.trimmedDescription)")
            }
            return "entity.addDerived(\(arguments.joined(separator: ", ")))"
        case .relationship(let mark):
            let inverse = mark.argument("inverse")
            if property.type.isOrderedSet, let inverse {
                arguments.append("_EntityProperties.orderedSet(\(inverse.description))")
            } else {
                arguments.append(property.kind.description)
            }
            if let inverse, let name = inverse.keyPathProperty {
                arguments.append(
                    "inverse: _EntityDeclaration.inverse(\"\(name)\", \(inverse.description), of: \(arguments[2]), "
                        + "in: \(entity.name).self)"
                )
            } else if mark.saysOwnInverse {
                // The property can be named here, but not in its own mark.
                arguments.append(
                    "inverse: _EntityDeclaration.inverse(\(arguments[0]), \(arguments[1]), of: \(arguments[2]), in: "
                        + "\(entity.name).self)"
                )
            }
            arguments += labelled(mark, except: ["inverse", "ownInverse"])
            return "entity.addRelationship(\(arguments.joined(separator: ", ")))"
        }
    }

    /// Returns the argument for the initial value. A literal is also the model's default. Any other
    /// expression is evaluated for objects that exist when the property is added.
    private func initialValue(of property: EntityProperty) -> [String] {
        if let value = property.literalValue { return ["default: \(value.description)"] }
        guard let value = property.initialValue, !value.is(NilLiteralExprSyntax.self), !property.isTransient else {
            return []
        }
        return ["initial: { \(value.description) }"]
    }

    /// Returns an option of an attribute, in a call that compiles only if the option fits the
    /// attribute's type.
    private func option(_ expression: ExprSyntax, of property: EntityProperty) -> String {
        let text = expression.trimmedDescription
        guard let call = expression.as(FunctionCallExprSyntax.self),
            let member = call.calledExpression.as(MemberAccessExprSyntax.self)
        else { return text }
        switch member.declName.baseName.text {
        case "range": return "_EntityDeclaration.limitingNumber(\(property.kind.description), \(text))"
        case "length", "pattern": return "_EntityDeclaration.limitingText(\(property.kind.description), \(text))"
        default: return text
        }
    }

    private func labelled(_ mark: AttributeSyntax, except excluded: [String] = []) -> [String] {
        mark.argumentList.compactMap { argument in
            guard let label = argument.label?.text, !excluded.contains(label) else { return nil }
            return "\(label): \(argument.expression.trimmedDescription)"
        }
    }
}

extension AttributeSyntax {
    /// Whether the mark declares a relationship as its own inverse.
    var saysOwnInverse: Bool { argument("ownInverse")?.as(BooleanLiteralExprSyntax.self)?.literal.text == "true" }
}

extension ExprSyntax {
    /// The property of a literal key path with one component; nil for anything else. The root type
    /// may be nested in others.
    var keyPathProperty: String? {
        guard let keyPath = self.as(KeyPathExprSyntax.self), keyPath.root != nil else { return nil }
        let names = keyPath.components.map { component -> String? in
            guard case .property(let property) = component.component else { return nil }
            return property.declName.baseName.identifier?.name ?? property.declName.baseName.text
        }
        // Names of nested types differ from properties only by their first letter.
        guard names.dropLast().allSatisfy({ $0?.first?.isUppercase ?? false }) else { return nil }
        return names.last ?? nil
    }
}
