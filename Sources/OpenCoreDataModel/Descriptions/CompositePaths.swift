import Foundation

// The elements of composite attributes by path: `address.city`.

extension NSCompositeAttributeDescription {
    /// Returns the elements that have values, with their paths, in declared order. The elements of
    /// composite elements are included.
    package func elements(under path: String) -> [(path: String, attribute: NSAttributeDescription)] {
        elements.flatMap { element -> [(path: String, attribute: NSAttributeDescription)] in
            let elementPath = path + "." + element.name
            guard let inner = element as? NSCompositeAttributeDescription else { return [(elementPath, element)] }
            return inner.elements(under: elementPath)
        }
    }
}

extension NSEntityDescription {
    /// Returns the composite attribute at the start of a path; nil for a path of one name.
    package func propertyHoldingElement(at path: String) -> NSPropertyDescription? {
        let names = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        return names.count == 2 ? propertiesByName[String(names[0])] : nil
    }

    /// Returns the attribute, or element of a composite attribute, at the end of a path.
    package func element(at path: String) -> NSAttributeDescription? {
        var names = path.pathNames[...]
        guard let first = names.popFirst(), var attribute = propertiesByName[first] as? NSAttributeDescription else {
            return nil
        }
        for name in names {
            guard
                let element = (attribute as? NSCompositeAttributeDescription)?.elements.first(where: { $0.name == name }
                )
            else {
                return nil
            }
            attribute = element
        }
        return attribute
    }

    /// Returns the index expression for an element of a composite attribute; nil for any other
    /// path.
    func expression(ofElementAt path: String) -> NSExpressionDescription? {
        guard path.contains("."), let element = element(at: path) else { return nil }
        let description = NSExpressionDescription()
        description.name = path
        description.expression = NSExpression(forKeyPath: path)
        description.expressionResultType = element.attributeType
        return description
    }
}
