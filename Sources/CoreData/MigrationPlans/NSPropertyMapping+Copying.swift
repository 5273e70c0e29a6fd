import Foundation

// The expressions that a mapping has unless it says otherwise: properties of the same name are
// copied.
extension NSPropertyMapping {
    /// Returns mappings that copy each stored attribute from the source's attribute of its name.
    static func copyingAttributes(
        from source: NSEntityDescription, to destination: NSEntityDescription
    ) -> [NSPropertyMapping] {
        copying(destination.attributesByName.keys) { copiedAttribute($0, of: source) }
    }

    /// Returns mappings that copy each relationship from the source's relationship of its name.
    static func copyingRelationships(
        from source: NSEntityDescription, to destination: NSEntityDescription
    ) -> [NSPropertyMapping] {
        copying(destination.relationshipsByName.keys) { copiedRelationship($0, of: source) }
    }

    /// Returns the expression for an attribute of the source; nil if it has none with the name.
    static func copiedAttribute(_ name: String, of source: NSEntityDescription) -> NSExpression? {
        source.attributesByName[name] == nil ? nil : NSExpression(format: "$source.%K", name)
    }

    /// Returns the expression for what was made of the objects of a relationship of the source; nil
    /// if it has none with the name.
    static func copiedRelationship(_ name: String, of source: NSEntityDescription) -> NSExpression? {
        source.relationshipsByName[name] == nil ? nil : relatedInstances(name)
    }

    /// Returns the expression for what all mappings made of the objects of a relationship of the
    /// source.
    static func relatedInstances(_ name: String) -> NSExpression {
        NSExpression(
            format: "FUNCTION($manager, "
                + "\"destinationInstancesForSourceRelationshipNamed:sourceInstances:\", %@, $source.%K)", name, name)
    }

    /// Returns the expression for what one mapping made of the objects of a relationship of the
    /// source.
    static func instances(ofMapping mapping: String, relatedBy name: String) -> NSExpression {
        NSExpression(
            format: "FUNCTION($manager, "
                + "\"destinationInstancesForEntityMappingNamed:sourceInstances:\", %@, $source.%K)", mapping, name)
    }

    private static func copying(
        _ names: some Sequence<String>, _ expression: (String) -> NSExpression?
    ) -> [NSPropertyMapping] {
        names.sorted().map { name in
            let mapping = NSPropertyMapping()
            mapping.name = name
            mapping.valueExpression = expression(name)
            return mapping
        }
    }
}
