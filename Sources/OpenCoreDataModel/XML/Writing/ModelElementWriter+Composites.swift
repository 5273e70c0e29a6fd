import Foundation

extension ModelElementWriter {
    /// Returns the name of the composite with an attribute's elements; adds it if there is none
    /// yet.
    ///
    /// A model keeps no names of composites. Attributes with the same elements share a composite,
    /// which is named after the first of them. If the name is taken, the path of the attribute
    /// comes before it, and then a number follows.
    mutating func nameOfComposite(of attribute: NSCompositeAttributeDescription, _ place: String) -> String {
        var composite = ModelElementText("composite")
        // In declared order, which is the order of their columns.
        for part in attribute.elements {
            composite.children.append(element(of: part, "\(place).\(part.name)", isIndexed: part.isIndexed))
        }
        let contents = composite.document
        if let name = namesOfComposites[contents] { return name }
        let short = Self.capitalized(attribute.name[...])
        let path = place.split(separator: ".").map(Self.capitalized).joined()
        var name = composites[short] == nil ? short : path
        var number = 1
        while composites[name] != nil {
            number += 1
            name = path + "\(number)"
        }
        composites[name] = composite
        namesOfComposites[contents] = name
        return name
    }

    private static func capitalized(_ name: Substring) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    var compositeElements: [ModelElementText] {
        composites.sorted { VersionHash.ascending($0.key, $1.key) }.map { name, elements in
            ModelElementText("composite", ("name", name), children: elements.children)
        }
    }
}
