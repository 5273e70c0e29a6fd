import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// The place of a property in the source. Compiler messages about generated code refer to that
/// line.
struct SourcePlace {
    private let directive: String

    init?(of node: some SyntaxProtocol, in context: some MacroExpansionContext) {
        guard let place = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath) else {
            return nil
        }
        directive = "#sourceLocation(file: \(place.file), line: \(place.line))"
    }

    /// Returns the statement with directives that give it this place.
    func around(_ statement: String) -> String { "\(directive)\n\(statement)\n#sourceLocation()" }
}

struct PropertyPlaces {
    private let places: [String: SourcePlace]

    init(of entity: EntityClass, in context: some MacroExpansionContext) {
        places = entity.properties.reduce(into: [:]) { places, property in
            places[property.name] = SourcePlace(of: property.binding, in: context)
        }
    }

    /// Returns generated code with the place of a property; unchanged if the compiler does not know
    /// the place.
    func placing(_ code: String, at property: EntityProperty) -> String { places[property.name]?.around(code) ?? code }
}
