import SafeCoreData

/// Everything that a model says, as sorted lines: equal for models that mean the same.
struct ModelDescription {
    let lines: [String]

    init(_ model: NSManagedObjectModel) {
        lines = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.flatMap { Self.lines(of: $0) }
    }

    private static func lines(of entity: NSEntityDescription) -> [String] {
        let indexes = entity.indexes.map { index in
            index.name + index.elements.map { " \($0.propertyName ?? "")\($0.isAscending)\($0.collationType)" }.joined()
        }
        let head = [
            "entity \(entity.name ?? "")", "class \(entity.managedObjectClassName ?? "")",
            "abstract \(entity.isAbstract)",
            "superentity \(entity.superentity?.name ?? "none")",
            "subentities \(entity.subentities.compactMap(\.name).sorted())",
            "constraints \(entity.uniquenessConstraints)", "indexes \(indexes)",
            "renaming \(entity.renamingIdentifier ?? "")", "modifier \(entity.versionHashModifier ?? "none")",
        ]
        return head + entity.properties.sorted { $0.name < $1.name }.map { line(of: $0, in: entity) }
    }

    private static func line(of property: NSPropertyDescription, in entity: NSEntityDescription) -> String {
        let rules = zip(property.validationPredicates, property.validationWarnings)
        var parts = [
            "\(entity.name ?? "").\(property.name)", "optional \(property.isOptional)",
            "transient \(property.isTransient)",
            "indexed \(property.isIndexed)", "spotlight \(property.isIndexedBySpotlight)",
            "renaming \(property.renamingIdentifier ?? "")", "modifier \(property.versionHashModifier ?? "none")",
            "rules \(rules.map { "\($0.predicateFormat) \($1)" })",
        ]
        switch property {
        case let attribute as NSAttributeDescription:
            parts += [
                "type \(attribute.attributeType)", "class \(attribute.attributeValueClassName ?? "none")",
                "default \(attribute.defaultValue.map { "\($0)" } ?? "none")",
                "transformer \(attribute.valueTransformerName ?? "none")",
                "external \(attribute.allowsExternalBinaryDataStorage)",
                "preserved \(attribute.preservesValueInHistoryOnDeletion)",
                "encrypted \(attribute.allowsCloudEncryption)",
            ]
            if let derived = attribute as? NSDerivedAttributeDescription {
                parts.append("derived \(derived.derivationExpression?.description ?? "")")
            }
        case let relationship as NSRelationshipDescription:
            parts += [
                "destination \(relationship.destinationEntity?.name ?? "none")",
                "inverse \(relationship.inverseRelationship?.name ?? "none")",
                "count \(relationship.minCount)...\(relationship.maxCount)", "rule \(relationship.deleteRule)",
                "ordered \(relationship.isOrdered)",
            ]
        default: break
        }
        return parts.joined(separator: "; ")
    }
}
