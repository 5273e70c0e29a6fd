import Predicates

extension ModelElementReader {
    func property(from element: ModelElement, entity: String) throws -> NSPropertyDescription? {
        let property: NSPropertyDescription
        switch element.name {
        case "attribute": property = try attribute(from: element, entity: entity, depth: 0)
        case "relationship": property = try relationship(from: element, entity: entity)
        case "fetchedProperty":
            let fetched = NSFetchedPropertyDescription()
            fetched.isTransient = true
            fetched.fetchRequestTemplate = try element.children("fetchRequest").first.map {
                try fetchRequest(from: $0, entity: entity)
            }
            property = fetched
        default: return nil
        }
        try readCommon(element, into: property, entity: entity)
        return property
    }

    func readCommon(_ element: ModelElement, into property: NSPropertyDescription, entity: String) throws {
        guard let name = element.text("name") else {
            throw error("A property has no name.", "Give it one.", at: element, entity: entity)
        }
        property.name = name
        property.isOptional = element.flag("optional")
        if element.flag("transient") { property.isTransient = true }
        property.isIndexed = element.flag("indexed")
        property.isIndexedBySpotlight = element.flag("spotlightIndexingEnabled")
        property.versionHashModifier = element.text("versionHashModifier")
        if let identifier = element.text("elementID") { property.renamingIdentifier = identifier }
        property.userInfo = userInfo(of: element)
    }

    func relationship(from element: ModelElement, entity: String) throws -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        let limit = try count("maxCount", of: element, entity: entity)
        // Files that no editor wrote may give the limit alone: -1 for none.
        let isToMany = element.text("toMany") == nil ? limit.map { $0 != 1 } ?? false : element.flag("toMany")
        relationship.maxCount = isToMany ? limit ?? 0 : 1
        relationship.minCount = try count("minCount", of: element, entity: entity) ?? 0
        relationship.isOrdered = element.flag("ordered")
        let name = element.text("deletionRule") ?? "Nullify"
        guard let rule = Self.deleteRules[name] else {
            throw error(
                "There is no delete rule '\(name)'.", "Use Nullify, Cascade, Deny or No Action.", at: element,
                entity: entity, property: element.text("name"))
        }
        relationship.deleteRule = rule
        return relationship
    }

    static let deleteRules: [String: NSDeleteRule] = [
        "Cascade": .cascadeDeleteRule, "Deny": .denyDeleteRule, "No Action": .noActionDeleteRule,
        "Nullify": .nullifyDeleteRule,
    ]

    func count(_ attribute: String, of element: ModelElement, entity: String) throws -> Int? {
        guard let text = element.text(attribute) else { return nil }
        if text == "-1" { return 0 }
        guard let value = Int(text), value >= 0 else {
            throw error(
                "The \(attribute) '\(text)' is not a count.", "Write a whole number from 0.", at: element,
                entity: entity, property: element.text("name"))
        }
        return value
    }

    func attribute(from element: ModelElement, entity: String, depth: Int) throws -> NSAttributeDescription {
        let name = element.text("name")
        let typeName = element.text("attributeType") ?? "Undefined"
        guard let type = NSAttributeType.byName[typeName] else {
            throw error(
                "There is no attribute type '\(typeName)'.",
                "Use one of \(NSAttributeType.byName.keys.sorted().joined(separator: ", ")).", at: element,
                entity: entity, property: name)
        }
        let attribute: NSAttributeDescription
        if type == .compositeAttributeType {
            attribute = try composite(from: element, entity: entity, depth: depth)
        } else if let text = element.text("derivationExpression") {
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpression = try expression(text, at: element, entity: entity)
            attribute = derived
        } else {
            attribute = NSAttributeDescription()
        }
        attribute.attributeType = type
        attribute.valueTransformerName = element.text("valueTransformerName")
        attribute.allowsExternalBinaryDataStorage = element.flag("allowsExternalBinaryDataStorage")
        attribute.preservesValueInHistoryOnDeletion = element.flag("preserveAfterDeletion")
        attribute.allowsCloudEncryption = element.flag("allowsCloudEncryption")
        let values = AttributeTexts(type: type)
        attribute.defaultValue = try values.defaultValue(of: element) { problem, advice in
            error(problem, advice, at: element, entity: entity, property: name)
        }
        let limits = try values.limits(of: element) { problem, advice in
            error(problem, advice, at: element, entity: entity, property: name)
        }
        attribute.setValidation(predicates: limits.map(\.predicate), warnings: limits.map { NSNumber(value: $0.code) })
        return attribute
    }

    /// Reads an attribute that names a composite of the model, or contains its elements itself.
    func composite(from element: ModelElement, entity: String, depth: Int) throws -> NSCompositeAttributeDescription {
        let name = element.text("name")
        var declaration = element
        if let declared = element.text("composite") {
            guard let found = composites[declared] else {
                throw error(
                    "There is no composite '\(declared)', which the attribute names.", choiceOfComposite, at: element,
                    entity: entity,
                    property: name)
            }
            declaration = found
        }
        guard depth < 16 else {
            throw error(
                "The composite attribute contains itself.", "Remove the circle.", at: element, entity: entity,
                property: name)
        }
        let composite = NSCompositeAttributeDescription()
        composite.elements = try declaration.children("attribute").map { child in
            let part = try attribute(from: child, entity: entity, depth: depth + 1)
            try readCommon(child, into: part, entity: entity)
            if let problem = part.problemAsCompositeElement {
                throw error(problem + ".", "Change the element's type.", at: child, entity: entity, property: name)
            }
            return part
        }
        guard !composite.elements.isEmpty else {
            throw error(
                "The composite attribute has no elements.", choiceOfComposite, at: element, entity: entity,
                property: name)
        }
        return composite
    }

    /// The advice for a composite attribute without elements.
    private var choiceOfComposite: String {
        let names = composites.keys.sorted().joined(separator: ", ")
        return names.isEmpty
            ? "Declare them in a 'composite' element of the model." : "Choose one of the model's composites: \(names)."
    }
}
