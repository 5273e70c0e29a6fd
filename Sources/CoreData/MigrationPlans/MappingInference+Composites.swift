/// Composite attributes: their elements are matched and checked like attributes.
extension MappingInference {
    /// Finds the sources of composite attributes' elements, and of attributes that were elements,
    /// by path.
    ///
    /// An element is found by its name or renaming identifier in the former version of its
    /// composite attribute. An attribute that became a composite one moves to the element of its
    /// name, and back. A renaming identifier with dots is a path.
    static func matchElements(of entity: NSEntityDescription, _ pair: inout EntityPair) {
        let sources = pair.source.propertiesByName
        for case let attribute as NSAttributeDescription in entity.propertiesByName.values where isStored(attribute) {
            let formerName = pair.sourceNames[attribute.name]
            let former = formerName.flatMap { sources[$0] as? NSAttributeDescription }
            if let composite = attribute as? NSCompositeAttributeDescription {
                match(composite, attribute.name, former, formerName ?? "", &pair)
            } else if let composite = former as? NSCompositeAttributeDescription {
                let element = composite.elements.first {
                    $0.name == attribute.name || $0.name == attribute.renamingIdentifier
                }
                if let element, !(element is NSCompositeAttributeDescription) {
                    pair.sourceNames[attribute.name] = composite.name + "." + element.name
                }
            } else if former == nil, let path = attribute.renamingIdentifier, path.contains("."),
                pair.source.element(at: path) != nil
            {
                pair.sourceNames[attribute.name] = path
            }
        }
    }

    private static func match(
        _ composite: NSCompositeAttributeDescription, _ path: String, _ former: NSAttributeDescription?,
        _ formerPath: String,
        _ pair: inout EntityPair
    ) {
        func items(_ elements: [NSAttributeDescription]) -> [RenamingMatch.Item] {
            elements.map { .init(name: $0.name, identifier: $0.renamingIdentifier) }
        }
        let formerElements = (former as? NSCompositeAttributeDescription)?.elements ?? []
        let names = RenamingMatch(from: items(formerElements), to: items(composite.elements)).sourceNames
        for element in composite.elements {
            let elementPath = path + "." + element.name
            let formerElement = names[element.name].flatMap { name in formerElements.first { $0.name == name } }
            if let inner = element as? NSCompositeAttributeDescription {
                match(inner, elementPath, formerElement, formerPath + "." + (formerElement?.name ?? ""), &pair)
            } else if let formerElement {
                if formerElement is NSCompositeAttributeDescription { continue }
                pair.sourceNames[elementPath] = formerPath + "." + formerElement.name
            } else if let former, !(former is NSCompositeAttributeDescription) {
                let name = formerPath.split(separator: ".").last.map(String.init)
                if element.name == name || element.renamingIdentifier == name {
                    pair.sourceNames[elementPath] = formerPath
                }
            } else if let identifier = element.renamingIdentifier, identifier != element.name,
                pair.source.element(at: identifier) != nil
            {
                pair.sourceNames[elementPath] = identifier
            }
        }
    }

    /// Whether an attribute is or was a composite one, so that it is checked here.
    static func concernsComposites(_ attribute: NSAttributeDescription, _ former: NSPropertyDescription?) -> Bool {
        attribute is NSCompositeAttributeDescription || former is NSCompositeAttributeDescription
    }

    mutating func checkElements(
        of attribute: NSAttributeDescription, from former: NSPropertyDescription?, _ entity: NSEntityDescription,
        _ pair: EntityPair
    ) {
        guard let composite = attribute as? NSCompositeAttributeDescription else {
            guard let element = pair.sourceNames[attribute.name].flatMap({ pair.source.element(at: $0) }),
                element !== former
            else {
                return add(
                    entity, attribute, "it was a composite attribute that has no element of its name.",
                    "Give its renaming identifier as the path of an element, or give it another name.")
            }
            checkType(of: attribute, attribute.name, from: element, entity, attribute)
            requireDefault(attribute, attribute.defaultValue, "", entity, attribute)
            return
        }
        let elements = composite.elements(under: composite.name)
        let hasFormerElements = elements.contains { pair.sourceNames[$0.path] != nil }
        if former != nil, !hasFormerElements {
            let was =
                former is NSCompositeAttributeDescription
                ? "has none of its former elements" : "has no element for its values"
            add(
                entity, attribute,
                "it \(former is NSCompositeAttributeDescription ? "" : "was no composite attribute and ")\(was).",
                "Give an element the former name as its renaming identifier, or give the new attribute another name.")
            return
        }
        let mustBeThere = !composite.isOptional && (former == nil || former?.isOptional == true)
        for (path, element) in elements {
            let source = pair.sourceNames[path].flatMap { pair.source.element(at: $0) }
            if let source { checkType(of: element, path, from: source, entity, attribute) }
            let isNew = source == nil && (hasFormerElements || mustBeThere)
            let wasOptional = source?.isOptional == true || source != nil && mustBeThere
            guard !element.isOptional, isNew || wasOptional else { continue }
            requireDefault(
                element, composite.defaultValue(at: path, element), "its element '\(path)' is required, and ", entity,
                attribute)
        }
        if mustBeThere, composite.isEnumeration,
            elements.allSatisfy({ composite.defaultValue(at: $0.path, $0.attribute) == nil }),
            elements.allSatisfy(\.attribute.isOptional)
        {
            requireDefault(composite, nil, "", entity, attribute)
        }
    }

    private mutating func checkType(
        of attribute: NSAttributeDescription, _ path: String, from source: NSAttributeDescription,
        _ entity: NSEntityDescription,
        _ property: NSAttributeDescription
    ) {
        if Self.holds(attribute.attributeType, all: source.attributeType) { return }
        add(
            entity, property,
            "'\(path)' was of type \(source.attributeType.displayName), now \(attribute.attributeType.displayName).",
            "Keep the type, or give the new one another name and convert the values in the program.")
    }

    private mutating func requireDefault(
        _ attribute: NSAttributeDescription, _ value: Any?, _ what: String, _ entity: NSEntityDescription,
        _ property: NSAttributeDescription
    ) {
        if attribute.isOptional || value != nil || entity.isAbstract { return }
        add(
            entity, property, "\(what)there is no default value for the objects without a value.",
            "Give a default value, or make it optional.")
    }
}

extension NSCompositeAttributeDescription {
    /// Returns the default of an element: from the composite attribute's own default, or else the
    /// element's.
    fileprivate func defaultValue(at path: String, _ element: NSAttributeDescription) -> Any? {
        guard let defaultValue else { return element.defaultValue }
        return path.split(separator: ".").dropFirst().reduce(defaultValue as Any?) { value, name in
            value.flatMap(CompositeLayout.dictionary)?[String(name)]
        }
    }
}
