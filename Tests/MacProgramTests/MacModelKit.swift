import CoreData

/// Makes parts of models in code.
protocol MacModelKit {}

extension MacModelKit {
    static func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, optional: Bool = true, transient: Bool = false,
        default value: Any? = nil, was old: String? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.isTransient = transient
        attribute.defaultValue = value
        if let old { attribute.renamingIdentifier = old }
        return attribute
    }

    static func entity(
        _ name: String, _ properties: [NSPropertyDescription], class: AnyClass? = nil, was old: String? = nil
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        if let `class` { entity.managedObjectClassName = NSStringFromClass(`class`) }
        entity.properties = properties
        if let old { entity.renamingIdentifier = old }
        return entity
    }
}
