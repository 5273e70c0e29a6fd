import Predicates

extension ModelArchiveReader {
    func property(
        _ object: ObjectArchive.Object, name key: String, entity: String, depth: Int
    ) throws -> NSPropertyDescription {
        let property: NSPropertyDescription
        let name = try archive.text("NSPropertyName", of: object) ?? key
        switch object.className {
        case "NSAttributeDescription":
            property = try attribute(object, NSAttributeDescription(), entity: entity, name: name)
        case "NSDerivedAttributeDescription":
            let derived = NSDerivedAttributeDescription()
            derived.derivationExpression = try archive.object("NSDerivationExpression", of: object).map {
                try predicates.expression($0)
            }
            property = try attribute(object, derived, entity: entity, name: name)
        case "NSCompositeAttributeDescription":
            property = try composite(object, entity: entity, name: name, depth: depth)
        case "NSRelationshipDescription": property = try relationship(object, entity: entity, name: name)
        case "NSFetchedPropertyDescription":
            let fetched = NSFetchedPropertyDescription()
            fetched.fetchRequestTemplate = try archive.object("NSFetchRequest", of: object).map { try fetchRequest($0) }
            property = fetched
        case "NSExpressionDescription":
            let description = NSExpressionDescription()
            description.expression = try archive.object("NSExpression", of: object).map {
                try predicates.expression($0)
            }
            let type = try archive.integer("NSExpressionResultType", of: object) ?? 0
            description.expressionResultType =
                UInt(exactly: type).flatMap(NSAttributeType.init) ?? .undefinedAttributeType
            property = description
        default:
            throw ModelReadingError.unknownPart(
                "The archive's property '\(entity).\(name)' is of the unknown class '\(object.className)'.")
        }
        property.name = name
        property.isOptional = try archive.boolean("NSIsOptional", of: object)
        property.isTransient = try archive.boolean("NSIsTransient", of: object)
        property.isIndexed = try archive.boolean("NSIsIndexed", of: object)
        property.isIndexedBySpotlight = try archive.boolean(ModelArchiveKeys.indexedBySpotlight, of: object)
        property.versionHashModifier = try archive.text("NSVersionHashModifier", of: object)
        if let identifier = try archive.text("NSRenamingIdentifier", of: object), identifier != name {
            property.renamingIdentifier = identifier
        }
        property.userInfo = try userInfo(of: object)
        try readValidation(of: object, into: property)
        return property
    }

    func attribute(
        _ object: ObjectArchive.Object, _ attribute: NSAttributeDescription, entity: String, name: String
    ) throws -> NSAttributeDescription {
        let number = try archive.integer("NSAttributeType", of: object) ?? 0
        guard let type = UInt(exactly: number).flatMap(NSAttributeType.init) else {
            throw ModelReadingError(
                .inconsistent, "The attribute is of the unknown type \(number).",
                advice: "The archive may come from a newer framework.", entity: entity, property: name)
        }
        attribute.attributeType = type
        let className = try archive.text("NSAttributeValueClassName", of: object)
        if className != type.valueClassName { attribute.attributeValueClassName = className }
        attribute.valueTransformerName = try archive.text("NSValueTransformerName", of: object)
        attribute.defaultValue = try archive.reference("NSDefaultValue", of: object).flatMap {
            try archive.plainValue($0)
        }
        let flags = try archive.integer("NSFlagsKey", of: object) ?? 0
        attribute.allowsExternalBinaryDataStorage = flags & ModelArchiveKeys.externalStorageFlag != 0
        attribute.preservesValueInHistoryOnDeletion = flags & ModelArchiveKeys.preservedOnDeletionFlag != 0
        attribute.allowsCloudEncryption = try archive.boolean(ModelArchiveKeys.cloudEncryption, of: object)
        return attribute
    }

    func composite(
        _ object: ObjectArchive.Object, entity: String, name: String, depth: Int
    ) throws -> NSCompositeAttributeDescription {
        guard depth < 16 else {
            throw ModelReadingError.damagedArchive("The archive's composite attribute '\(entity).\(name)' is too deep.")
        }
        let composite = NSCompositeAttributeDescription()
        let numbers =
            try archive.elements(ModelArchiveKeys.compositeElements, of: object)
            ?? archive.elements(ModelArchiveKeys.formerCompositeElements, of: object) ?? []
        composite.elements = try numbers.map { number in
            guard let object = try archive.object(number),
                let element = try property(object, name: "", entity: entity, depth: depth + 1)
                    as? NSAttributeDescription
            else {
                throw ModelReadingError(
                    .inconsistent, "An element of the composite attribute is not an attribute.",
                    advice: "Use attributes only.", entity: entity, property: name)
            }
            if let problem = element.problemAsCompositeElement {
                throw ModelReadingError(
                    .inconsistent, problem + ".", advice: "Change the element.", entity: entity, property: name)
            }
            return element
        }
        _ = try attribute(object, composite, entity: entity, name: name)
        return composite
    }

    func relationship(
        _ object: ObjectArchive.Object, entity: String, name: String
    ) throws -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        let rule = try archive.integer("NSDeleteRule", of: object) ?? 1
        guard let deleteRule = UInt(exactly: rule).flatMap(NSDeleteRule.init) else {
            throw ModelReadingError(
                .inconsistent, "The relationship has the unknown delete rule \(rule).",
                advice: "The archive may come from a newer framework.", entity: entity, property: name)
        }
        relationship.deleteRule = deleteRule
        relationship.minCount = max(try archive.integer("NSMinCount", of: object) ?? 0, 0)
        let maximum = try archive.integer("NSMaxCount", of: object) ?? 0
        relationship.maxCount = maximum < 0 ? Int.max : maximum
        relationship.isOrdered = try archive.boolean("NSIsOrdered", of: object)
        return relationship
    }

    func readValidation(of object: ObjectArchive.Object, into property: NSPropertyDescription) throws {
        let numbers = try archive.elements("NSValidationPredicates", of: object) ?? []
        let validation = try numbers.compactMap { number in
            try archive.object(number).map { try predicates.predicate($0) }
        }
        let warnings = try (archive.elements("NSValidationWarnings", of: object) ?? []).map {
            try archive.plainValue($0) ?? ""
        }
        guard !validation.isEmpty else { return }
        let filled =
            warnings.prefix(validation.count)
            + Array(repeating: "", count: max(0, validation.count - warnings.count))
        property.setValidation(predicates: validation, warnings: Array(filled))
    }

    func fetchRequest(_ object: ObjectArchive.Object) throws -> FetchRequestTemplate {
        let entity = try archive.reference("NSEntity", of: object).flatMap { try archive.object($0) }
        let name =
            try entity.flatMap { try archive.text("NSEntityName", of: $0) } ?? archive.text("NSEntityName", of: object)
        var template = FetchRequestTemplate(entityName: name ?? "")
        template.predicate = try archive.object("NSPredicate", of: object).map { try predicates.predicate($0) }
        template.sortDescriptors = try (archive.elements("NSSortDescriptors", of: object) ?? []).compactMap { number in
            try archive.object(number).map { try predicates.sortDescriptor($0) }
        }
        template.fetchLimit = max(try archive.integer("NSFetchLimit", of: object) ?? 0, 0)
        template.fetchOffset = max(try archive.integer("NSFetchOffset", of: object) ?? 0, 0)
        template.fetchBatchSize = max(try archive.integer("NSBatchSize", of: object) ?? 0, 0)
        template.resultType = UInt(clamping: try archive.integer("NSResultType", of: object) ?? 0)
        if try archive.boolean("NSHasFetchRequestFlags", of: object) {
            let flags = try archive.integer("NSFetchRequestFlags", of: object) ?? ModelArchiveKeys.defaultFetchFlags
            ModelArchiveKeys.setFetchFlags(flags, on: &template)
        }
        return template
    }

    func userInfo(of object: ObjectArchive.Object) throws -> [AnyHashable: Any] {
        var info: [AnyHashable: Any] = [:]
        guard let number = try archive.reference("NSUserInfo", of: object),
            let entries = try archive.plainValue(number) as? [String: Any]
        else { return info }
        for (key, value) in entries { info[key] = value }
        return info
    }
}
