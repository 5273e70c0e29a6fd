import CoreData

extension EntitySource {
    mutating func declaration(of relationship: NSRelationshipDescription) -> String {
        var arguments: [String] = []
        if relationship.deleteRule != .nullifyDeleteRule { arguments.append("deleteRule: \(rule(of: relationship))") }
        if let inverse = inverse(of: relationship) { arguments.append(inverse) }
        if relationship.minCount != 0 { arguments.append("minimum: \(relationship.minCount)") }
        if relationship.isToMany {
            if relationship.maxCount != 0 { arguments.append("maximum: \(relationship.maxCount)") }
            if relationship.isOptional != (relationship.minCount == 0) {
                arguments.append("optional: \(relationship.isOptional)")
            }
        } else if relationship.isOrdered {
            arguments.append("ordered: true")
        }
        if let original = relationship.renamingIdentifier, original != relationship.name {
            arguments.append("originalName: \(SwiftLiteral.text(original))")
        }
        if let modifier = relationship.versionHashModifier {
            arguments.append("versionHashModifier: \(SwiftLiteral.text(modifier))")
        }
        if let userInfo = Self.texts(of: relationship.userInfo) {
            arguments.append("userInfo: \(SwiftLiteral.dictionary(userInfo))")
        }
        if relationship.isIndexedBySpotlight {
            warn(relationship.name, "a relationship has no Spotlight index in the class")
        }
        for predicate in relationship.validationPredicates {
            warn(relationship.name, "the class does not say the validation '\(predicate.predicateFormat)'")
        }
        let marks = arguments.isEmpty ? [] : ["@Relationship(\(arguments.joined(separator: ", ")))"]
        return declaration(marks: marks, "var \(SwiftNames.declared(relationship.name)): \(type(of: relationship))")
    }

    private func type(of relationship: NSRelationshipDescription) -> String {
        let destination = relationship.destinationEntity.map { names.name(of: $0) } ?? "NSManagedObject"
        if relationship.isToMany { return relationship.isOrdered ? "[\(destination)]" : "Set<\(destination)>" }
        return relationship.isOptional ? destination + "?" : destination
    }

    private func rule(of relationship: NSRelationshipDescription) -> String {
        switch relationship.deleteRule {
        case .noActionDeleteRule: ".noAction"
        case .nullifyDeleteRule: ".nullify"
        case .cascadeDeleteRule: ".cascade"
        case .denyDeleteRule: ".deny"
        }
    }

    // MARK: Inverses

    /// Returns the argument for the inverse, if this side is the one that names it.
    private mutating func inverse(of relationship: NSRelationshipDescription) -> String? {
        guard let inverse = relationship.inverseRelationship else { return nil }
        if inverse === relationship, relationship.destinationEntity === relationship.entity {
            return "ownInverse: true"
        }
        guard inverse.inverseRelationship === relationship, inverse !== relationship, problem(of: inverse) == nil,
            Self.canName(relationship) || Self.canName(inverse)
        else {
            refuse(relationship.name, "the class cannot name its inverse, \(inverse.entity.name ?? "").\(inverse.name)")
            return nil
        }
        guard Self.names(relationship, before: inverse), let destination = relationship.destinationEntity else {
            return nil
        }
        return "inverse: \\\(names.name(of: destination)).\(SwiftNames.declared(inverse.name))"
    }

    /// Whether the inverse refers from the relationship's destination back to the entity that
    /// declares the relationship.
    private static func canName(_ relationship: NSRelationshipDescription) -> Bool {
        guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity else {
            return false
        }
        return inverse.destinationEntity === relationship.entity
            && destination.relationshipsByName[inverse.name] === inverse
    }

    /// Whether the first of two inverse relationships names the other: the one that can; if both
    /// can, the to-one relationship, as it reads better; otherwise the first by name of entity and
    /// property.
    private static func names(
        _ relationship: NSRelationshipDescription, before inverse: NSRelationshipDescription
    ) -> Bool {
        if canName(relationship) != canName(inverse) { return canName(relationship) }
        if relationship.isToMany != inverse.isToMany { return !relationship.isToMany }
        return (relationship.entity.name ?? "", relationship.name) <= (inverse.entity.name ?? "", inverse.name)
    }
}
