/// Compares the entity that a class describes with the entity of another model.
///
/// It reports the differences that make the class's accessors wrong: missing properties, other
/// types, other optionality, other destinations, numbers of objects, orders and delete rules.
/// Further properties of the model are allowed, except required attributes without a default,
/// because a new object of the class could not get a value for them.
struct EntityDifferences {
    private let declaration: _EntityDeclaration
    private let inherited: Set<String>
    private let entity: NSEntityDescription

    init(of objectClass: any EntityObject.Type, from entity: NSEntityDescription) {
        declaration = objectClass.describeEntity()
        self.entity = entity
        var names: Set<String> = []
        var next = objectClass.entitySuperclass
        while let superclass = next {
            names.formUnion(superclass.describeEntity().properties.map(\.name))
            next = superclass.entitySuperclass
        }
        inherited = names
    }

    /// One sentence for each difference, in the order of the class's declarations.
    var sentences: [String] {
        var sentences: [String] = []
        let properties = entity.propertiesByName
        if entity.isAbstract != declaration.isAbstract {
            sentences.append(
                "\(subject): the class is \(abstract(declaration.isAbstract)), the entity "
                    + "\(abstract(entity.isAbstract))"
            )
        }
        for declared in declaration.properties {
            let place = "\(subject).\(declared.name)"
            guard let found = properties[declared.name] else {
                sentences.append("\(place): the entity has no such property")
                continue
            }
            sentences += differences(declared, found).map { "\(place): \($0)" }
        }
        sentences += undeclared(in: properties)
        return sentences
    }

    private var subject: String { declaration.name }

    private func abstract(_ isAbstract: Bool) -> String { isAbstract ? "abstract" : "not abstract" }

    private func undeclared(in properties: [String: NSPropertyDescription]) -> [String] {
        let declared = inherited.union(declaration.properties.map(\.name))
        return properties.values.compactMap { $0 as? NSAttributeDescription }.filter { attribute in
            !declared.contains(attribute.name) && !attribute.isOptional && attribute.defaultValue == nil
                && !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
        }.map(\.name).sorted().map { "\(subject).\($0): the entity requires it, but the class does not declare it" }
    }

    private func differences(_ declared: NSPropertyDescription, _ found: NSPropertyDescription) -> [String] {
        switch (declared, found) {
        case (let declared as NSAttributeDescription, let found as NSAttributeDescription):
            attributeDifferences(declared, found)
        case (let declared as NSRelationshipDescription, let found as NSRelationshipDescription):
            relationshipDifferences(declared, found)
        default:
            ["the class declares \(kind(declared)), the entity has \(kind(found))"]
        }
    }

    private func kind(_ property: NSPropertyDescription) -> String {
        switch property {
        case is NSAttributeDescription: "an attribute"
        case is NSRelationshipDescription: "a relationship"
        default: "a fetched property"
        }
    }

    private func attributeDifferences(_ declared: NSAttributeDescription, _ found: NSAttributeDescription) -> [String] {
        var differences: [String] = []
        differences += saying(stored, declared, found)
        if declared.isTransient, declared.attributeType == .undefinedAttributeType { return differences }
        if declared.attributeType != found.attributeType {
            let (wanted, present) = (declared.attributeType.displayName, found.attributeType.displayName)
            differences.append("the class declares \(wanted), the entity has \(present)")
        }
        if let declared = declared as? NSCompositeAttributeDescription,
            let found = found as? NSCompositeAttributeDescription
        {
            let (wanted, present) = (elements(declared), elements(found))
            if wanted != present {
                differences.append("the class declares the elements \(wanted), the entity has \(present)")
            }
        }
        if !declared.isTransient { differences += saying(optional, declared, found) }
        return differences
    }

    /// Returns the elements of a composite attribute with their types, sorted by name.
    private func elements(_ composite: NSCompositeAttributeDescription) -> String {
        composite.elements.sorted { $0.name < $1.name }.map { element in
            let inner = (element as? NSCompositeAttributeDescription).map { " (\(elements($0)))" } ?? ""
            return
                "\(element.name) "
                + "(\(element.attributeType.displayName)\(element.isOptional ? ", optional" : ""))\(inner)"
        }.joined(separator: ", ")
    }

    private func relationshipDifferences(
        _ declared: NSRelationshipDescription, _ found: NSRelationshipDescription
    ) -> [String] {
        var differences: [String] = []
        let destination = declaration.relationships.first { $0.description === declared }?.destination
        let wanted = (destination as? any EntityObject.Type)?.describeEntity().name
        if let wanted, let destination = found.destinationEntity?.name, wanted != destination {
            differences.append("the class declares a relationship to \(wanted), the entity has one to \(destination)")
        }
        if declared.isToMany != found.isToMany {
            differences.append("the class declares \(count(declared)), the entity has \(count(found))")
        } else {
            differences += declared.isToMany ? saying(order, declared, found) : saying(optional, declared, found)
        }
        if declared.deleteRule != found.deleteRule {
            differences.append("the class has the delete rule \(rule(declared)), the entity \(rule(found))")
        }
        return differences
    }

    private func saying<Property>(_ text: (Property) -> String, _ declared: Property, _ found: Property) -> [String] {
        text(declared) == text(found) ? [] : ["the class says \(text(declared)), the entity \(text(found))"]
    }

    private func optional(_ property: NSPropertyDescription) -> String { property.isOptional ? "optional" : "required" }
    private func stored(_ property: NSPropertyDescription) -> String { property.isTransient ? "transient" : "stored" }
    private func count(_ relationship: NSRelationshipDescription) -> String {
        relationship.isToMany ? "several objects" : "one object"
    }
    private func order(_ relationship: NSRelationshipDescription) -> String {
        relationship.isOrdered ? "ordered" : "not ordered"
    }

    private func rule(_ relationship: NSRelationshipDescription) -> String {
        switch relationship.deleteRule {
        case .noActionDeleteRule: "No Action"
        case .nullifyDeleteRule: "Nullify"
        case .cascadeDeleteRule: "Cascade"
        case .denyDeleteRule: "Deny"
        }
    }
}
