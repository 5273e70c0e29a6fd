import Foundation

private let notInModel = "which is not in the model."

extension NSManagedObjectModel {
    /// Returns the problems that keep the model from being used, in sentences. Cost: O(size of the
    /// model).
    package func consistencyProblems() -> [String] {
        var problems: [String] = []
        var names: Set<String> = []
        for entity in entities {
            let name = entity.name ?? ""
            if name.isEmpty { problems.append("An entity has no name.") }
            if !names.insert(name).inserted { problems.append("There are two entities named '\(name)'.") }
            problems += Self.problems(ofName: name, "entity '\(name)'")
        }
        for entity in entities { problems += ModelConsistency(model: self, entity: entity).problems() }
        for configuration in configurations {
            for entity in self.entities(forConfigurationName: configuration) ?? [] where entity.owningModel !== self {
                problems.append(
                    "The configuration '\(configuration)' holds the entity '\(entity.name ?? "")', \(notInModel)")
            }
        }
        for (name, template) in fetchRequestTemplates.sorted(by: { $0.key < $1.key })
        where entitiesByName[template.entityName] == nil {
            problems.append(
                "The fetch request template '\(name)' fetches the entity '\(template.entityName)', \(notInModel)")
        }
        return problems
    }

    /// Returns the problems that keep a name from being used for a table, column or index.
    fileprivate static func problems(ofName name: String, _ subject: String) -> [String] {
        guard name.utf8.contains(0) else { return [] }
        let text = subject.replacingOccurrences(of: "\0", with: "\\0")
        return ["The \(text) has the character U+0000 in its name, which no store takes."]
    }
}

private struct ModelConsistency {
    let model: NSManagedObjectModel
    let entity: NSEntityDescription

    private var name: String { entity.name ?? "" }
    private var subject: String { "The entity '\(name)'" }

    func problems() -> [String] {
        hierarchyProblems() + propertyProblems() + constraintProblems() + indexProblems()
    }

    private func hierarchyProblems() -> [String] {
        var problems: [String] = []
        if let superentity = entity.superentity, superentity.owningModel !== model {
            problems.append("\(subject) inherits from '\(superentity.name ?? "")', \(notInModel)")
        }
        for subentity in entity.subentities where subentity.owningModel !== model {
            problems.append("\(subject) has the subentity '\(subentity.name ?? "")', \(notInModel)")
        }
        var seen: Set<ObjectIdentifier> = []
        var next: NSEntityDescription? = entity
        while let current = next {
            let isNew = seen.insert(ObjectIdentifier(current)).inserted
            guard isNew else { return problems + ["\(subject) inherits from itself."] }
            next = current.superentity
        }
        return problems
    }

    private func propertyProblems() -> [String] {
        var problems: [String] = []
        var names: Set<String> = []
        for property in entity.ownProperties {
            if property.name.isEmpty { problems.append("The entity '\(name)' has a property without a name.") }
            if !names.insert(property.name).inserted {
                problems.append("\(subject) has two properties named '\(property.name)'.")
            }
            problems += NSManagedObjectModel.problems(ofName: property.name, property.diagnosticName)
            switch property {
            case let attribute as NSAttributeDescription: problems += self.problems(of: attribute, depth: 0)
            case let relationship as NSRelationshipDescription: problems += self.problems(of: relationship)
            case let fetched as NSFetchedPropertyDescription:
                guard let template = fetched.fetchRequestTemplate else {
                    problems.append("The \(fetched.diagnosticName) has no fetch request.")
                    continue
                }
                if model.entitiesByName[template.entityName] == nil {
                    problems.append(
                        "The \(fetched.diagnosticName) fetches the entity '\(template.entityName)', \(notInModel)")
                }
            default:
                problems.append("The \(property.diagnosticName) is neither an attribute nor a relationship.")
            }
        }
        return problems
    }

    private func problems(of attribute: NSAttributeDescription, depth: Int) -> [String] {
        var problems: [String] = []
        if attribute.attributeType == .undefinedAttributeType && !attribute.isTransient {
            problems.append("The \(attribute.diagnosticName) has no type although it is not transient.")
        }
        if let derived = attribute as? NSDerivedAttributeDescription, derived.derivationExpression == nil {
            problems.append("The \(attribute.diagnosticName) has no derivation expression.")
        }
        let composite = attribute as? NSCompositeAttributeDescription
        if (attribute.attributeType == .compositeAttributeType) != (composite != nil) {
            problems.append(
                "The \(attribute.diagnosticName) must be an NSCompositeAttributeDescription exactly if its type is "
                    + "composite.")
        }
        guard let composite, depth < 16 else { return problems }
        if composite.elements.isEmpty { problems.append("The \(composite.diagnosticName) has no elements.") }
        var names: Set<String> = []
        for element in composite.elements {
            if !names.insert(element.name).inserted {
                problems.append("The \(composite.diagnosticName) has two elements named '\(element.name)'.")
            }
            problems += NSManagedObjectModel.problems(ofName: element.name, element.diagnosticName)
            if let problem = element.problemAsCompositeElement {
                problems.append("In the \(composite.diagnosticName), \(problem).")
            } else {
                problems += self.problems(of: element, depth: depth + 1)
            }
        }
        return problems
    }

    private func problems(of relationship: NSRelationshipDescription) -> [String] {
        let subject = "The \(relationship.diagnosticName)"
        guard let destination = relationship.destinationEntity else {
            return ["\(subject) has no destination entity."]
        }
        var problems: [String] = []
        if destination.owningModel !== model {
            problems.append("\(subject) leads to the entity '\(destination.name ?? "")', \(notInModel)")
        }
        if relationship.maxCount != 0 && relationship.minCount > relationship.maxCount {
            problems.append(
                "\(subject) wants at least \(relationship.minCount) and at most \(relationship.maxCount) objects.")
        }
        guard let inverse = relationship.inverseRelationship else { return problems }
        guard let inverseEntity = inverse.owningEntity, inverseEntity.owningModel === model,
            inverseEntity.ownProperties.contains(where: { $0 === inverse })
        else {
            return problems + ["\(subject) has the inverse '\(inverse.name)', which is in no entity of the model."]
        }
        if !destination.isKindOf(entity: inverseEntity) && !inverseEntity.isKindOf(entity: destination) {
            problems.append(
                "\(subject) leads to '\(destination.name ?? "")' but its inverse '\(inverse.name)' belongs to "
                    + "'\(inverseEntity.name ?? "")'.")
        }
        let back = inverse.inverseRelationship
        if back !== relationship && !(back?.name == relationship.name && isRelated(back?.owningEntity)) {
            problems.append(
                "\(subject) names '\(inverseEntity.name ?? "").\(inverse.name)' as its inverse, whose inverse is "
                    + "\(back.map { "'\($0.owningEntity?.name ?? "").\($0.name)'" } ?? "nothing").")
        }
        return problems
    }

    private func isRelated(_ other: NSEntityDescription?) -> Bool {
        other.map { entity.isKindOf(entity: $0) || $0.isKindOf(entity: entity) } ?? false
    }

    private func constraintProblems() -> [String] {
        let properties = entity.propertiesByName
        var problems: [String] = []
        for constraint in entity.uniquenessConstraintNames {
            if constraint.isEmpty { problems.append("\(subject) has an empty uniqueness constraint.") }
            for part in constraint {
                let property = properties[part]
                let isToOne = (property as? NSRelationshipDescription).map { !$0.isToMany } ?? false
                // `address.city` is an element of a composite attribute.
                if !(property is NSAttributeDescription) && !isToOne && entity.element(at: part) == nil {
                    problems.append(
                        "A uniqueness constraint of the entity '\(name)' names '\(part)', which is not one of its "
                            + "attributes.")
                }
            }
        }
        return problems
    }

    private func indexProblems() -> [String] {
        let properties = entity.propertiesByName
        var problems: [String] = []
        var names: Set<String> = []
        for index in entity.indexes {
            if !names.insert(index.name).inserted {
                problems.append("\(subject) has two indexes named '\(index.name)'.")
            }
            let place = "index '\(index.name)' of the entity '\(name)'"
            problems += NSManagedObjectModel.problems(ofName: index.name, place)
            if index.elements.isEmpty { problems.append("The \(place) is empty.") }
            for element in index.elements where !(element.property is NSExpressionDescription) {
                let part = element.propertyName ?? ""
                // A to-many relationship has no column, but models in use name some: stores leave
                // them out of the index.
                if properties[part] == nil {
                    problems.append("The \(place) names the property '\(part)', which it does not have.")
                }
            }
        }
        return problems
    }
}
