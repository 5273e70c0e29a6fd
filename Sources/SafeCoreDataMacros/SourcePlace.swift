import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Where a property stands in the source: what the compiler says about generated code is said about that line.
struct SourcePlace {
    private let directive: String

    init?(of node: some SyntaxProtocol, in context: some MacroExpansionContext) {
        guard let place = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath) else { return nil }
        directive = "#sourceLocation(file: \(place.file), line: \(place.line))"
    }

    /// The statement as if it stood there.
    func around(_ statement: String) -> String { "\(directive)\n\(statement)\n#sourceLocation()" }
}

/// Where each property of a class stands.
struct PropertyPlaces {
    private let places: [String: SourcePlace]

    init(of entity: EntityClass, in context: some MacroExpansionContext) {
        places = entity.properties.reduce(into: [:]) { places, property in
            places[property.name] = SourcePlace(of: property.binding, in: context)
        }
    }

    /// Generated code as if it stood where the property does; unchanged where the compiler does not say where that is.
    func placing(_ code: String, at property: EntityProperty) -> String { places[property.name]?.around(code) ?? code }
}
