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
            pair.destination.attributesByName.values.allSatisfy({ copiesEqually($0, pair) })
        else { return nil }
        return pair
    }

    /// Whether a copied value is the one that the object would have: a statement converts no
    /// values, and replaces missing ones by defaults.
    private func copiesEqually(_ attribute: NSAttributeDescription, _ pair: MappingInference.EntityPair) -> Bool {
        if !MappingInference.isStored(attribute) || attribute is NSDerivedAttributeDescription { return true }
        guard let name = pair.sourceNames[attribute.name] else {
            return attribute.isOptional || attribute.defaultValue != nil
        }
        guard let former = pair.source.attributesByName[name], MappingInference.isStored(former),
            !former.isOptional || attribute.isOptional
        else { return false }
        if attribute is NSCompositeAttributeDescription || former is NSCompositeAttributeDescription {
            return former.versionHash == attribute.versionHash
        }
        return former.valueTransformerName == attribute.valueTransformerName
    }
}
