import CoreData

/// The entities of a model as boxes, and their relationships and hierarchy as lines.
struct EntityDiagram {
    /// A property in a box.
    struct Row {
        let name: String
        let type: String
        let isRelationship: Bool
    }

    struct Box {
        let name: String
        let isAbstract: Bool
        /// The attributes, followed by the relationships.
        let rows: [Row]
    }

    /// The number of objects at the end of a line.
    enum Count {
        case one, zeroOrOne, oneOrMore, any
        /// No relationship leads to this end.
        case unknown
    }

    /// A place where a line ends: a row of a box, or the head of the box if there is no row.
    struct End: Equatable {
        let box: Int
        var row: Int?
    }

    struct Line {
        enum Kind: Equatable { case relationship, inheritance }
        let kind: Kind
        /// The superentity, or the side with one object if only one has.
        let from: End
        let to: End
        var fromCount = Count.unknown
        var toCount = Count.unknown
        /// The line in a sentence.
        let label: String

        var isLoop: Bool { from.box == to.box }
    }

    let name: String
    private(set) var boxes: [Box] = []
    private(set) var lines: [Line] = []

    /// - Parameter chosen: the names of the entities to show; nil for all.
    /// - Throws: `ToolError` for an entity that the model does not have.
    init(_ model: NSManagedObjectModel, named name: String, entities chosen: [String]? = nil) throws {
        self.name = name
        let entities = try EntitySources.entities(of: model, from: name, chosen)
        var ends: [ObjectIdentifier: End] = [:]
        for (index, entity) in entities.enumerated() {
            ends[ObjectIdentifier(entity)] = End(box: index)
            let properties = Self.shown(of: entity)
            for (row, property) in properties.enumerated() {
                ends[ObjectIdentifier(property)] = End(box: index, row: row)
            }
            boxes.append(
                Box(name: entity.name ?? "", isAbstract: entity.isAbstract, rows: properties.map(Self.row)))
        }
        for entity in entities { addLines(of: entity, ends) }
    }

    private static func shown(of entity: NSEntityDescription) -> [NSPropertyDescription] {
        let properties = entity.ownProperties.sorted { $0.name < $1.name }
        return properties.filter { $0 is NSAttributeDescription }
            + properties.filter { $0 is NSRelationshipDescription }
    }

    private static func row(_ property: NSPropertyDescription) -> Row {
        guard let relationship = property as? NSRelationshipDescription else {
            let attribute = property as? NSAttributeDescription
            let type = attribute?.attributeType.displayName ?? ""
            return Row(name: property.name, type: type + (property.isOptional ? "?" : ""), isRelationship: false)
        }
        let destination = relationship.destinationEntity?.name ?? "nothing"
        let type =
            relationship.isToMany
            ? "[\(destination)]" + (relationship.isOrdered ? " ordered" : "")
            : destination + (relationship.isOptional ? "?" : "")
        return Row(name: property.name, type: type, isRelationship: true)
    }

    // MARK: Lines

    private mutating func addLines(of entity: NSEntityDescription, _ ends: [ObjectIdentifier: End]) {
        guard let own = ends[ObjectIdentifier(entity)] else { return }
        if let superentity = entity.superentity, let end = ends[ObjectIdentifier(superentity)] {
            let label = "\(entity.name ?? "") is a \(superentity.name ?? "")"
            lines.append(Line(kind: .inheritance, from: end, to: own, label: label))
        }
        let relationships = Self.shown(of: entity).compactMap { $0 as? NSRelationshipDescription }
        for relationship in relationships {
            guard let from = ends[ObjectIdentifier(relationship)] else { continue }
            if let line = line(of: relationship, from: from, ends) { lines.append(line) }
        }
    }

    /// Returns the line of a relationship and its inverse; nil for the second one of a pair, and if
    /// the destination is not shown.
    private func line(
        of relationship: NSRelationshipDescription, from: End, _ ends: [ObjectIdentifier: End]
    ) -> Line? {
        let count = Self.count(of: relationship)
        guard let inverse = relationship.inverseRelationship, inverse.inverseRelationship === relationship,
            let to = ends[ObjectIdentifier(inverse)]
        else {
            guard let to = relationship.destinationEntity.flatMap({ ends[ObjectIdentifier($0)] }) else { return nil }
            return Line(kind: .relationship, from: from, to: to, toCount: count, label: Self.label(relationship))
        }
        let isFirst = (from.box, from.row ?? 0) <= (to.box, to.row ?? 0)
        guard isFirst else { return nil }
        let label =
            inverse === relationship ? Self.label(relationship) : Self.label(relationship) + "; " + Self.label(inverse)
        let inverseCount = Self.count(of: inverse)
        if !relationship.isToMany, inverse.isToMany {
            return Line(
                kind: .relationship, from: to, to: from, fromCount: count, toCount: inverseCount, label: label)
        }
        return Line(kind: .relationship, from: from, to: to, fromCount: inverseCount, toCount: count, label: label)
    }

    private static func count(of relationship: NSRelationshipDescription) -> Count {
        let isRequired = !relationship.isOptional || relationship.minCount > 0
        if relationship.isToMany { return isRequired ? .oneOrMore : .any }
        return relationship.isOptional ? .zeroOrOne : .one
    }

    private static func label(_ relationship: NSRelationshipDescription) -> String {
        let number =
            switch count(of: relationship) {
            case .one: "to one"
            case .zeroOrOne: "to at most one"
            case .oneOrMore: "to one or more"
            case .any, .unknown: "to any number of"
            }
        let order = relationship.isOrdered ? ", ordered" : ""
        return "\(relationship.owningEntity?.name ?? "").\(relationship.name) leads \(number) "
            + "\(relationship.destinationEntity?.name ?? "nothing")\(order)"
    }
}
