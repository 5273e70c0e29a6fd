import Foundation

/// Whether two descriptions of a property, possibly of different entities, declare the same.
enum PropertyComparison {
    static func saysTheSame(_ first: NSPropertyDescription, _ second: NSPropertyDescription) -> Bool {
        guard type(of: first) == type(of: second), first.name == second.name, first.isOptional == second.isOptional,
            first.isTransient == second.isTransient, first.versionHash == second.versionHash,
            first.renamingIdentifier == second.renamingIdentifier,
            (first.userInfo ?? [:]) as NSDictionary == (second.userInfo ?? [:]) as NSDictionary,
            first.validationPredicates == second.validationPredicates
        else { return false }
        switch (first, second) {
        case (let first as NSAttributeDescription, let second as NSAttributeDescription):
            return first.attributeValueClassName == second.attributeValueClassName
                && first.valueTransformerName == second.valueTransformerName
                && sameValue(first.defaultValue, second.defaultValue)
        case (let first as NSRelationshipDescription, let second as NSRelationshipDescription):
            return first.deleteRule == second.deleteRule
                && first.destinationEntity === second.destinationEntity
        case (let first as NSFetchedPropertyDescription, let second as NSFetchedPropertyDescription):
            return first.fetchRequestTemplate?.entityName == second.fetchRequestTemplate?.entityName
                && first.fetchRequestTemplate?.predicate == second.fetchRequestTemplate?.predicate
        default: return true
        }
    }

    private static func sameValue(_ first: Any?, _ second: Any?) -> Bool {
        switch (first, second) {
        case (nil, nil): true
        case (let first as AnyHashable, let second as AnyHashable): first == second
        default: false
        }
    }
}
