import CoreData

/// An entity of a model, with its own properties and without inherited ones.
struct EntitySchema {
    let name: String
    let superentity: String?
    /// The name by which a migration finds the entity in an older model.
    let renamingIdentifier: String
    let facts: [SchemaFact]
    let attributes: [PropertySchema]
    let relationships: [PropertySchema]
    let fetchedProperties: [PropertySchema]
    let indexes: [IndexSchema]
    let uniquenessConstraints: [[String]]
    let versionHash: Data

    var properties: [PropertySchema] { attributes + relationships + fetchedProperties }

    init(_ entity: NSEntityDescription) {
        name = entity.name ?? ""
        superentity = entity.superentity.map { $0.name ?? "" }
        renamingIdentifier = entity.renamingIdentifier ?? ""
        facts = Self.facts(of: entity)
        let properties = entity.ownProperties.map { PropertySchema($0) }
        attributes = Self.sorted(properties, .attribute)
        relationships = Self.sorted(properties, .relationship)
        fetchedProperties = Self.sorted(properties, .fetchedProperty)
        indexes = entity.indexes.map(IndexSchema.init).sorted { $0.name < $1.name }
        uniquenessConstraints = entity.uniquenessConstraintNames
        versionHash = entity.versionHash
    }

    private static func sorted(_ properties: [PropertySchema], _ kind: PropertySchema.Kind) -> [PropertySchema] {
        properties.filter { $0.kind == kind }.sorted { $0.name < $1.name }
    }

    private static func facts(of entity: NSEntityDescription) -> [SchemaFact] {
        var facts = SchemaFact.optional("superentity", "superentity", entity.superentity.map { $0.name ?? "" })
        if entity.isAbstract { facts.append(.flag("isAbstract", "abstract")) }
        let className: String = entity.managedObjectClassName
        if className != "NSManagedObject" { facts.append(.text("class", "class", className)) }
        if let identifier = entity.renamingIdentifier, identifier != entity.name {
            facts.append(.text(SchemaFact.renamingIdentifierKey, "renaming identifier", identifier))
        }
        facts += SchemaFact.optional("versionHashModifier", "version hash modifier", entity.versionHashModifier)
        return facts + SchemaFact.userInfo(entity.userInfo)
    }
}

/// An index of an entity.
struct IndexSchema {
    struct Element {
        /// The name of the property, or the expression.
        let property: String
        let isAscending: Bool
        let isRTree: Bool

        var text: String { property + (isAscending ? "" : " descending") + (isRTree ? " (R-tree)" : "") }
    }

    let name: String
    let elements: [Element]
    /// The condition on the rows in the index; nil for all.
    let predicate: String?

    init(_ index: NSFetchIndexDescription) {
        name = index.name
        predicate = index.partialIndexPredicate?.predicateFormat
        elements = index.elements.map { element in
            let expression = (element.property as? NSExpressionDescription)?.expression.map { "\($0)" }
            return Element(
                property: expression ?? element.propertyName ?? "", isAscending: element.isAscending,
                isRTree: element.collationType == .rTree)
        }
    }

    var text: String {
        elements.map(\.text).joined(separator: ", ") + (predicate.map { " where \($0)" } ?? "")
    }
}
