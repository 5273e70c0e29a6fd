import SwiftSyntax
import SwiftSyntaxMacros

/// Generates the accessors of a property of an `@Entity` class. `@Entity` adds this macro to each
/// property.
open class EntityPropertyMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax,
        providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self), let property = EntityProperty(variable) else {
            return []
        }
        if property.isUnsupported { return ["get { fatalError() }", "set { fatalError() }"] }
        let place = SourcePlace(of: property.binding, in: context)
        func accessor(_ keyword: String, _ call: String) -> AccessorDeclSyntax {
            let statement = "\(property.kind.description).\(call)"
            return "\(raw: keyword) {\n\(raw: place?.around(statement) ?? statement)\n}"
        }
        let setter = accessor("set", "set(newValue, self, \"\(property.name)\")")
        if property.isDerived { return [accessor("get", "get(self, \"\(property.name)\")")] }
        if property.isTransient, let value = property.initialValue {
            return [accessor("get", "get(self, \"\(property.name)\", initialValue: \(value.description))"), setter]
        }
        return [accessor("get", "get(self, \"\(property.name)\")"), setter]
    }
}
