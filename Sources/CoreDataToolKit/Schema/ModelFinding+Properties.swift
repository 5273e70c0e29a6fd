import CoreData

extension ModelValidation {
    // MARK: Attributes

    mutating func check(_ attribute: NSAttributeDescription, in entity: NSEntityDescription) {
        let limits = AttributeLimits(of: attribute)
        if let least = limits.least, let greatest = limits.greatest, Self.isOrdered(greatest, before: least) {
            add(.warning, entity, attribute, "has a minimum above its maximum: no value is valid.")
        }
        if let shortest = limits.shortest, let longest = limits.longest, shortest > longest {
            add(.warning, entity, attribute, "has a minimum length above its maximum length: no value is valid.")
        }
        if let pattern = limits.pattern, (try? NSRegularExpression(pattern: pattern)) == nil {
            add(.warning, entity, attribute, "has a pattern that is no regular expression.")
        } else if let reason = Self.refusal(ofDefaultOf: attribute, limits) {
            add(.warning, entity, attribute, "has a default value \(reason).")
        }
        let insecure = ["NSKeyedUnarchiveFromData", "NSUnarchiveFromData"]
        if attribute.attributeType == .transformableAttributeType,
            attribute.valueTransformerName.map({ $0.isEmpty || insecure.contains($0) }) ?? true
        {
            add(.warning, entity, attribute, "has no secure value transformer.")
        }
        if attribute.allowsExternalBinaryDataStorage, attribute.attributeType != .binaryDataAttributeType,
            attribute.attributeType != .transformableAttributeType
        {
            add(.warning, entity, attribute, "allows external storage, which only binary data can have.")
        }
    }

    private static func isOrdered(_ first: Any, before second: Any) -> Bool {
        switch (first, second) {
        case (let first as Date, let second as Date): first < second
        case (let first as NSNumber, let second as NSNumber): first.compare(second) == .orderedAscending
        default: false
        }
    }

    private static func refusal(ofDefaultOf attribute: NSAttributeDescription, _ limits: AttributeLimits) -> String? {
        guard let value = attribute.defaultValue else { return nil }
        if let least = limits.least, isOrdered(value, before: least) { return "below its minimum" }
        if let greatest = limits.greatest, isOrdered(greatest, before: value) { return "above its maximum" }
        guard let text = value as? String else { return nil }
        let length = text.utf16.count
        if let shortest = limits.shortest, length < shortest { return "shorter than its minimum length" }
        if let longest = limits.longest, length > longest { return "longer than its maximum length" }
        return nil
    }

    // MARK: Relationships

    mutating func check(
        _ relationship: NSRelationshipDescription, in entity: NSEntityDescription, _ model: NSManagedObjectModel
    ) {
        // The engine's own findings name a missing destination.
        guard let destination = relationship.destinationEntity else { return }
        checkCounts(of: relationship, in: entity)
        if relationship.deleteRule == .noActionDeleteRule {
            add(
                .warning, entity, relationship,
                "has the delete rule 'no action': the objects of '\(destination.name ?? "")' keep a reference to a "
                    + "deleted one.")
        }
        checkConfigurations(of: relationship, in: entity, model)
        guard let inverse = relationship.inverseRelationship else {
            add(.warning, entity, relationship, "has no inverse: nothing keeps the other side up to date.")
            return
        }
        check(relationship, against: inverse, in: entity)
    }

    private mutating func checkCounts(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) {
        if relationship.isToMany, relationship.isOptional, relationship.minCount > 0 {
            add(
                .warning, entity, relationship,
                "is optional and wants at least \(relationship.minCount) objects: none at all is valid, too.")
        }
        if !relationship.isToMany, relationship.isOrdered {
            add(.warning, entity, relationship, "is ordered, but leads to one object.")
        }
    }

    private mutating func check(
        _ relationship: NSRelationshipDescription, against inverse: NSRelationshipDescription,
        in entity: NSEntityDescription
    ) {
        let other = "\(inverse.owningEntity?.name ?? "").\(inverse.name)"
        if relationship.deleteRule == .nullifyDeleteRule, !inverse.isOptional, !inverse.isToMany {
            add(
                .warning, entity, relationship,
                "has the delete rule 'nullify', but its inverse '\(other)' is required: after a deletion the other "
                    + "objects cannot be saved.")
        }
        let isFirst = (entity.name ?? "", relationship.name) < (inverse.owningEntity?.name ?? "", inverse.name)
        if relationship.deleteRule == .cascadeDeleteRule, inverse.deleteRule == .cascadeDeleteRule,
            isFirst || inverse === relationship
        {
            add(
                .warning, entity, relationship,
                "and its inverse '\(other)' both have the delete rule 'cascade': one deletion takes all connected "
                    + "objects along.")
        }
    }

    /// A store holds the entities of one configuration; no relationship can lead out of it.
    private mutating func checkConfigurations(
        of relationship: NSRelationshipDescription, in entity: NSEntityDescription, _ model: NSManagedObjectModel
    ) {
        guard let destination = relationship.destinationEntity, !relationship.isTransient else { return }
        func configurations(with entity: NSEntityDescription) -> Set<String> {
            Set(
                model.configurations.filter { name in
                    model.entities(forConfigurationName: name)?.contains { $0 === entity } ?? false
                })
        }
        let (own, others) = (configurations(with: entity), configurations(with: destination))
        if !own.isEmpty, !others.isEmpty, own.isDisjoint(with: others) {
            add(
                .warning, entity, relationship,
                "leads to '\(destination.name ?? "")', which is in no configuration with '\(entity.name ?? "")'.")
        }
    }
}
