import Foundation

/// The settings in a model file for the classes that Xcode generates. Compiled models lack them.
package struct CodeGeneration: Sendable {
    package enum Kind: String, Sendable {
        /// Nothing: a person writes the class.
        case manual = ""
        /// The class and its properties.
        case `class`
        /// The properties, as an extension of a class that a person writes.
        case category
    }

    package struct Entity: Sendable {
        package let kind: Kind
        /// For each attribute, whether the property is a number and not an object.
        package let usesScalars: [String: Bool]
        /// For each attribute, the type of its values.
        package let valueTypes: [String: String]
    }

    package let entities: [String: Entity]

    /// Reads the settings; nil for a model that is not a source file.
    package init?(reading url: URL, version: String? = nil) throws {
        guard ["xcdatamodeld", "xcdatamodel"].contains(url.pathExtension) || url.lastPathComponent == "contents" else {
            return nil
        }
        let file = try ModelFile.version(of: url, named: version)
        let contents = file.lastPathComponent == "contents" ? file : file.appendingPathComponent("contents")
        guard let data = try? Data(contentsOf: contents) else { return nil }
        let root = try ModelElementParser.parse(data, file: contents.path)
        let read = root.children("entity").map { element in (element.text("name") ?? "", Entity(element)) }
        entities = Dictionary(read, uniquingKeysWith: { first, _ in first })
    }
}

extension CodeGeneration.Entity {
    fileprivate init(_ element: ModelElement) {
        kind = element.text("codeGenerationType").flatMap(CodeGeneration.Kind.init) ?? .manual
        var usesScalars: [String: Bool] = [:]
        var valueTypes: [String: String] = [:]
        for attribute in element.children("attribute") {
            guard let name = attribute.text("name") else { continue }
            if attribute.text("usesScalarValueType") != nil {
                usesScalars[name] = attribute.flag("usesScalarValueType")
            }
            valueTypes[name] = attribute.text("customClassName")
        }
        (self.usesScalars, self.valueTypes) = (usesScalars, valueTypes)
    }
}
