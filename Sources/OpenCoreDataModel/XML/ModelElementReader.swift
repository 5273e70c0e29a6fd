import Predicates

/// Creates a model from the elements of a `.xcdatamodel`'s `contents` file. Unknown elements and
/// attributes are ignored, so that files of newer and older editors can be read. `customClassName`
/// is ignored too: it concerns generated code only and is not in compiled models.
struct ModelElementReader {
    let file: String
    /// The module that a leading full stop of a class's name stands for.
    let module: String?
    var composites: [String: ModelElement] = [:]
    var entities: [String: NSEntityDescription] = [:]

    /// - Throws: `ModelReadingError` with the line, entity and property of the first problem.
    static func model(from root: ModelElement, file: String, module: String? = nil) throws -> NSManagedObjectModel {
        var reader = ModelElementReader(file: file, module: module)
        return try reader.model(from: root)
    }

    init(file: String, module: String? = nil) {
        self.file = file
        self.module = module
    }

    mutating func model(from root: ModelElement) throws -> NSManagedObjectModel {
        guard root.name == "model" else {
            throw ModelReadingError(
                .damaged, "The outermost element is '\(root.name)', not 'model'.",
                advice: "Give the 'contents' file of an .xcdatamodel folder.", file: file, line: root.line)
        }
        for element in root.children("composite") {
            let name = element.text("name") ?? ""
            guard composites.updateValue(element, forKey: name) == nil else {
                throw error("There are two composites named '\(name)'.", "Rename one of them.", at: element)
            }
        }
        let elements = root.children("entity")
        var ordered: [NSEntityDescription] = []
        for element in elements {
            let entity = try entity(from: element)
            guard let name = entity.name, entities.updateValue(entity, forKey: name) == nil else {
                throw error(
                    "There are two entities named '\(entity.name ?? "")'.", "Rename one of them.", at: element,
                    entity: entity.name)
            }
            ordered.append(entity)
        }
        try linkHierarchy(elements)
        try linkRelationships(elements)
        for (element, entity) in zip(elements, ordered) { try readIndexes(of: element, into: entity) }
        for entity in ordered where !entity.indexes.isEmpty { addMarkedIndexes(to: entity) }

        let model = NSManagedObjectModel()
        model.entities = ordered
        if let identifier = root.attributes["userDefinedModelVersionIdentifier"] {
            model.versionIdentifiers = [identifier]
        }
        for element in root.children("configuration") {
            let members = try element.children("memberEntity").map { member in
                try entity(named: member.text("name") ?? "", at: member, role: "member of a configuration")
            }
            model.setEntities(members, forConfigurationName: element.text("name") ?? "")
        }
        for element in root.children("fetchRequest") {
            model.fetchRequestTemplates[element.text("name") ?? ""] = try fetchRequest(from: element, entity: nil)
        }
        return model
    }

    // MARK: Entities

    func entity(from element: ModelElement) throws -> NSEntityDescription {
        guard let name = element.text("name") else {
            throw error("An entity has no name.", "Give it one.", at: element)
        }
        let entity = NSEntityDescription()
        entity.name = name
        if let className = element.text("representedClassName") {
            // As the model compiler writes it: the editor's "current product module" is the module
            // that the model is built for.
            if className.hasPrefix(".") {
                entity.managedObjectClassName = module.map { $0 + className } ?? String(className.dropFirst())
            } else {
                entity.managedObjectClassName = className
            }
        }
        entity.isAbstract = element.flag("isAbstract")
        entity.versionHashModifier = element.text("versionHashModifier")
        if let identifier = element.text("elementID") { entity.renamingIdentifier = identifier }
        entity.userInfo = userInfo(of: element)

        var properties: [NSPropertyDescription] = []
        var names: Set<String> = []
        for child in element.children {
            guard let property = try property(from: child, entity: name) else { continue }
            guard names.insert(property.name).inserted else {
                throw error(
                    "The entity '\(name)' has two properties named '\(property.name)'.", "Rename one of them.",
                    at: child, entity: name, property: property.name)
            }
            properties.append(property)
        }
        entity.properties = properties
        entity.uniquenessConstraintNames = element.children("uniquenessConstraints")
            .flatMap { $0.children("uniquenessConstraint") }
            .map { $0.children("constraint").compactMap { $0.text("value") } }
        entity.compoundIndexes = element.children("compoundIndexes").flatMap { $0.children("compoundIndex") }
            .map { $0.children("index").compactMap { $0.text("value") } }
        return entity
    }

    func linkHierarchy(_ elements: [ModelElement]) throws {
        var children: [String: [NSEntityDescription]] = [:]
        let pairs = elements.compactMap { element in
            element.text("parentEntity").map { (element.text("name") ?? "", $0) }
        }
        let parents = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
        for element in elements {
            let name = element.text("name") ?? ""
            guard let parent = element.text("parentEntity") else { continue }
            _ = try entity(named: parent, at: element, role: "parent", of: name)
            var ancestor: String? = parent
            var steps = 0
            while let current = ancestor {
                steps += 1
                guard current != name, steps <= ModelReadingError.depthLimit else {
                    let problem =
                        current == name ? "inherits from itself through '\(parent)'" : "has too many superentities"
                    throw error(
                        "The entity '\(name)' \(problem).", "Give it another parent.", at: element, entity: name)
                }
                ancestor = parents[current]
            }
            children[parent, default: []] += [entities[name]].compactMap { $0 }
        }
        for (parent, subentities) in children { entities[parent]?.subentities = subentities }
    }

    func entity(
        named name: String, at element: ModelElement, role: String, of owner: String? = nil, property: String? = nil
    ) throws -> NSEntityDescription {
        guard let entity = entities[name] else {
            throw error(
                "There is no entity '\(name)', which is named as \(role).", "Add the entity or name another one.",
                at: element, entity: owner, property: property)
        }
        return entity
    }

    func linkRelationships(_ elements: [ModelElement]) throws {
        let relationships = entities.mapValues(\.relationshipsByName)
        for element in elements {
            guard let owner = element.text("name"), let own = relationships[owner] else { continue }
            for child in element.children("relationship") {
                let name = child.text("name") ?? ""
                guard let relationship = own[name] else { continue }
                guard let destinationName = child.text("destinationEntity") else {
                    throw error(
                        "The relationship has no destination.", "Choose its destination entity.", at: child,
                        entity: owner, property: name)
                }
                let destination = try self.entity(
                    named: destinationName, at: child, role: "destination", of: owner, property: name)
                relationship.destinationEntity = destination
                guard let inverseName = child.text("inverseName") else { continue }
                let inverseEntity =
                    try child.text("inverseEntity").map {
                        try self.entity(named: $0, at: child, role: "inverse entity", of: owner, property: name)
                    } ?? destination
                guard let inverse = relationships[inverseEntity.name ?? ""]?[inverseName] else {
                    throw error(
                        "The entity '\(inverseEntity.name ?? "")' has no relationship '\(inverseName)', which is "
                            + "named as inverse.", "Add the relationship or choose another inverse.", at: child,
                        entity: owner, property: name)
                }
                relationship.inverseRelationship = inverse
            }
        }
    }

    func readIndexes(of element: ModelElement, into entity: NSEntityDescription) throws {
        let owner = entity.name ?? ""
        let properties = entity.propertiesByName
        entity.indexes = try element.children("fetchIndex").map { child in
            let name = child.text("name") ?? ""
            let elements = try child.children("fetchIndexElement").map { part in
                let property: NSPropertyDescription
                if let propertyName = part.text("property") {
                    guard let found = properties[propertyName] ?? entity.expression(ofElementAt: propertyName) else {
                        throw error(
                            "The index '\(name)' names a property '\(propertyName)' that the entity does not have.",
                            "Add the property or remove it from the index.", at: part, entity: owner,
                            property: propertyName)
                    }
                    property = found
                } else {
                    property = try expressionDescription(from: part, entity: owner)
                }
                let description = NSFetchIndexElementDescription(
                    property: property, collationType: part.text("type") == "RTree" ? .rTree : .binary)
                description.isAscending = part.text("order") != "descending"
                return description
            }
            if let problem = NSFetchIndexDescription.problem(in: elements) {
                throw error(
                    "The index '\(name)' is impossible: \(problem).", "Split the index.", at: child, entity: owner)
            }
            let index = NSFetchIndexDescription(name: name, elements: elements)
            if let text = child.text("partialIndexPredicate") ?? child.text("predicateString") {
                index.partialIndexPredicate = try predicate(text, at: child, entity: owner)
            }
            // The model compiler does the same.
            if elements.count == 1, let only = elements.first, only.isAscending, only.collationType == .binary,
                let attribute = only.property as? NSAttributeDescription
            {
                attribute.isIndexed = true
            }
            return index
        }
    }

    /// Adds an index for each attribute that is marked as indexed, as compiled models do.
    private func addMarkedIndexes(to entity: NSEntityDescription) {
        let names = Set(entity.indexes.map(\.name))
        let marked = entity.ownProperties.filter {
            $0.isIndexed && $0 is NSAttributeDescription && !names.contains($0.name)
        }
        entity.indexes =
            marked.map { attribute in
                let element = NSFetchIndexElementDescription(property: attribute, collationType: .binary)
                return NSFetchIndexDescription(name: attribute.name, elements: [element])
            } + entity.indexes
    }

    func expressionDescription(from element: ModelElement, entity: String) throws -> NSExpressionDescription {
        let description = NSExpressionDescription()
        let text = element.text("expression") ?? ""
        description.name = text
        description.expression = try expression(text, at: element, entity: entity)
        if let type = element.text("expressionType") {
            description.expressionResultType = NSAttributeType.byName[type] ?? .undefinedAttributeType
        }
        return description
    }
}
