// Whether a database can carry out an entity mapping.
extension MappingStep {
    /// The entities of the mapping, and the source of each property whose expression only reads it
    /// or looks up what was made of its objects; nil for a mapping without one of the entities.
    var pair: MappingInference.EntityPair? {
        guard let source, let destination else { return nil }
        var names: [String: String] = [:]
        for value in attributes { names[value.name] = value.expression.sourceProperty }
        for value in relationships { names[value.name] = RelationshipLookUp(value.expression)?.relationship }
        return MappingInference.EntityPair(source: source, destination: destination, sourceNames: names)
    }

    /// The pair, if one statement gives the objects the values that the expressions give them.
    var pairForSQL: MappingInference.EntityPair? {
        guard !hasOwnPolicy, mapping.mappingType != .customEntityMappingType, mapping.sourceExpression == nil,
            let pair, !pair.destination.isAbstract,
            (attributes + relationships).allSatisfy({ pair.sourceNames[$0.name] != nil }),
            pair.destination.attributesByName.values.allSatisfy({ copiesEqually($0, pair) }),
            pair.destination.relationshipsByName.values.allSatisfy({ needsNoCount($0, pair) })
        else { return nil }
        return pair
    }

    /// Whether a copied value is the one that the object would have, and need not be validated: a
    /// statement converts no values, replaces missing ones by defaults, and knows no rules.
    private func copiesEqually(_ attribute: NSAttributeDescription, _ pair: MappingInference.EntityPair) -> Bool {
        if !MappingInference.isStored(attribute) || attribute is NSDerivedAttributeDescription { return true }
        guard let name = pair.sourceNames[attribute.name] else {
            return attribute.isOptional || attribute.defaultValue != nil
        }
        guard let former = pair.source.attributesByName[name], MappingInference.isStored(former),
            !former.isOptional || attribute.isOptional,
            former.validationPredicates == attribute.validationPredicates
        else { return false }
        if attribute is NSCompositeAttributeDescription || former is NSCompositeAttributeDescription {
            return former.versionHash == attribute.versionHash
        }
        return former.valueTransformerName == attribute.valueTransformerName
    }
    /// Whether a relationship has no new limits of the number of objects, except that there must be
    /// one.
    private func needsNoCount(_ relationship: NSRelationshipDescription, _ pair: MappingInference.EntityPair) -> Bool {
        guard relationship.isToMany, MappingInference.isStored(relationship) else { return true }
        let former = pair.sourceNames[relationship.name].flatMap { pair.source.relationshipsByName[$0] }
        return relationship.minCount <= max(1, former?.minCount ?? 0)
            && (relationship.maxCount == 0 || relationship.maxCount == former?.maxCount)
    }
}
