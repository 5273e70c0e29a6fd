import Predicates

/// Creates a model from a keyed archive: a compiled model (`.mom`) or a store's copy of its model.
///
/// Reads by known class names and keys only. Unknown content is ignored where the model means the
/// same without it. A default value of an application's own class reads as nil. A model that has
/// been in use lists inherited properties again in each subentity, as copies or as stand-ins; both
/// are left out.
struct ModelArchiveReader {
    let archive: ObjectArchive
    let predicates: PredicateArchiveReader
    var entities: [Int: NSEntityDescription] = [:]
    var entityObjects: [(entity: NSEntityDescription, object: ObjectArchive.Object)] = []
    var properties: [Int: NSPropertyDescription] = [:]
    var relationships: [(relationship: NSRelationshipDescription, object: ObjectArchive.Object)] = []
    /// Properties in the list of an entity that another entity declares.
    var standIns: [(entity: NSEntityDescription, name: String, number: Int)] = []

    /// - Throws: `ModelReadingError` when the archive is damaged or does not describe a model.
    static func model(from data: Data) throws -> NSManagedObjectModel {
        let archive = try ObjectArchive(data)
        var reader = ModelArchiveReader(archive: archive, predicates: PredicateArchiveReader(archive: archive))
        return try reader.model()
    }

    init(archive: ObjectArchive, predicates: PredicateArchiveReader) {
        self.archive = archive
        self.predicates = predicates
    }

    mutating func model() throws -> NSManagedObjectModel {
        guard let root = try archive.object(archive.root), root.className == "NSManagedObjectModel" else {
            throw ModelReadingError.damagedArchive("The archive does not hold a managed object model.")
        }
        for (name, number) in try archive.dictionary("NSEntities", of: root) ?? [] {
            try readEntity(number, name: name)
        }
        try linkHierarchy()
        try resolveStandIns()
        try linkRelationships()
        leaveOutInheritedCopies()
        for (entity, object) in entityObjects { try readIndexes(of: object, into: entity) }

        let model = NSManagedObjectModel()
        model.entities = entityObjects.map(\.entity)
        for (name, number) in try archive.dictionary("NSConfigurations", of: root) ?? [] {
            guard let list = try archive.object(number) else { continue }
            let members = try archive.elements(of: list).map {
                try entity($0, role: "member of configuration '\(name)'")
            }
            model.setEntities(unique(members), forConfigurationName: name)
        }
        model.localizationDictionary = try archive.reference(ModelArchiveKeys.localization, of: root).flatMap {
            try archive.plainValue($0) as? [String: String]
        }
        let identifiers = try archive.elements("NSVersionIdentifiers", of: root) ?? []
        model.versionIdentifiers = Set(try identifiers.compactMap { try archive.plainValue($0) as? AnyHashable })
        for (name, number) in try archive.dictionary("NSFetchRequestTemplates", of: root) ?? [] {
            guard let object = try archive.object(number) else { continue }
            let template = try fetchRequest(object)
            // A template for an entity that this model lacks cannot be used, but the rest of the
            // model can.
            if model.entitiesByName[template.entityName] != nil { model.fetchRequestTemplates[name] = template }
        }
        return model
    }

    // MARK: Entities

    mutating func readEntity(_ number: Int, name key: String) throws {
        guard let object = try archive.object(number), object.className == "NSEntityDescription" else {
            throw ModelReadingError.damagedArchive("The archive's entity '\(key)' is not an entity.")
        }
        guard entities[number] == nil else {
            throw ModelReadingError.damagedArchive("The archive lists the entity '\(key)' twice.")
        }
        let entity = NSEntityDescription()
        let name = try archive.text("NSEntityName", of: object) ?? key
        entity.name = name
        entity.managedObjectClassName = try archive.text("NSClassNameForEntity", of: object)
        entity.isAbstract = try archive.boolean("NSIsAbstract", of: object)
        entity.versionHashModifier = try archive.text("NSVersionHashModifier", of: object)
        if let identifier = try archive.text("NSRenamingIdentifier", of: object), identifier != name {
            entity.renamingIdentifier = identifier
        }
        entity.userInfo = try userInfo(of: object)
        var own: [NSPropertyDescription] = []
        for (propertyName, propertyNumber) in try archive.dictionary("NSProperties", of: object) ?? [] {
            guard let propertyObject = try archive.object(propertyNumber) else {
                throw ModelReadingError.damagedArchive("The archive's property '\(name).\(propertyName)' is missing.")
            }
            if propertyObject.className == ModelArchiveKeys.standInClass || properties[propertyNumber] != nil {
                standIns.append((entity, propertyName, propertyNumber))
                continue
            }
            let property = try property(propertyObject, name: propertyName, entity: name, depth: 0)
            properties[propertyNumber] = property
            if let relationship = property as? NSRelationshipDescription {
                relationships.append((relationship, propertyObject))
            }
            own.append(property)
        }
        entity.properties = own.sorted { $0.name < $1.name }
        entity.uniquenessConstraintNames = try (archive.elements("NSUniqueTuples", of: object) ?? []).map {
            try names($0)
        }
        entity.compoundIndexes = try (archive.elements("NSCompoundIndexes", of: object) ?? []).map { try names($0) }
        entities[number] = entity
        entityObjects.append((entity, object))
    }

    func names(_ number: Int) throws -> [String] {
        guard let list = try archive.object(number) else { return [] }
        return try archive.elements(of: list).compactMap { number in
            try (try? archive.text(number)) ?? archive.text("NSPropertyName", of: declaration(number).object)
        }
    }

    /// Returns the property that a number refers to, directly or through a stand-in.
    func declaration(_ number: Int) throws -> (number: Int, object: ObjectArchive.Object) {
        var number = number
        for _ in 0..<64 {
            guard let object = try archive.object(number) else { break }
            guard object.className == ModelArchiveKeys.standInClass else { return (number, object) }
            guard let next = try archive.reference("NSUnderlyingProperty", of: object) else { break }
            number = next
        }
        throw ModelReadingError.damagedArchive(
            "The archive's \(ModelArchiveKeys.standInClass) \(number) stands for no property.")
    }

    /// Resolves the stand-ins. Most stand for a property that the entity inherits anyway.
    mutating func resolveStandIns() throws {
        for (entity, name, number) in standIns.sorted(by: { $0.entity.depth < $1.entity.depth }) {
            let declaration = try declaration(number)
            if let superentity = entity.superentity, superentity.propertiesByName[name] != nil {
                properties[number] = properties[declaration.number]
                continue
            }
            let property = try property(declaration.object, name: name, entity: entity.name ?? "", depth: 0)
            properties[number] = property
            if let relationship = property as? NSRelationshipDescription {
                relationships.append((relationship, declaration.object))
            }
            entity.properties = (entity.ownProperties + [property]).sorted { $0.name < $1.name }
        }
    }

    func entity(_ number: Int, role: String) throws -> NSEntityDescription {
        guard let entity = entities[number] else {
            throw ModelReadingError(
                .inconsistent, "An entity that is \(role) is not among the model's entities.",
                advice: "Compile the model again.")
        }
        return entity
    }

    func linkHierarchy() throws {
        for (entity, object) in entityObjects {
            let numbers = try archive.dictionary("NSSubentities", of: object) ?? []
            let subentities = try numbers.map {
                try self.entity($0.value, role: "a subentity of '\(entity.name ?? "")'")
            }
            for subentity in subentities { try ArchivedHierarchy.check(subentity, from: entity) }
            entity.subentities = unique(subentities).sorted { ($0.name ?? "") < ($1.name ?? "") }
        }
        try ArchivedHierarchy.checkDepth(of: entityObjects.map(\.entity))
    }

    func unique(_ entities: [NSEntityDescription]) -> [NSEntityDescription] {
        var seen: Set<ObjectIdentifier> = []
        return entities.filter { seen.insert(ObjectIdentifier($0)).inserted }
    }

    func linkRelationships() throws {
        let byName = ModelTables.byName(entityObjects.map(\.entity))
        for (relationship, object) in relationships {
            let destinationName = try archive.text("_NSDestinationEntityName", of: object)
            let destination =
                try archive.reference("NSDestinationEntity", of: object).flatMap { entities[$0] }
                ?? destinationName.flatMap { byName[$0] }
            guard let destination else { throw dangling(relationship, "destination", named: destinationName) }
            relationship.destinationEntity = destination
        }
        for (relationship, object) in relationships {
            let inverseName = try archive.text("_NSInverseRelationshipName", of: object)
            let reference = try archive.reference("NSInverseRelationship", of: object)
            guard inverseName != nil || reference != nil else { continue }
            let inverse =
                try reference.flatMap { properties[try declaration($0).number] as? NSRelationshipDescription }
                ?? inverseName.flatMap { relationship.destinationEntity?.relationshipsByName[$0] }
            guard let inverse else { throw dangling(relationship, "inverse", named: inverseName) }
            relationship.inverseRelationship = inverse
        }
    }

    func dangling(_ relationship: NSRelationshipDescription, _ role: String, named name: String?) -> ModelReadingError {
        ModelReadingError(
            .inconsistent, "The relationship's \(role)\(name.map { " '\($0)'" } ?? "") is not in the model.",
            advice: "Set the \(role) in the model and compile it again.", entity: relationship.owningEntity?.name,
            property: relationship.name)
    }

    /// Removes properties that are equal to an inherited one, superentities first.
    func leaveOutInheritedCopies() {
        var replacements: [ObjectIdentifier: NSPropertyDescription] = [:]
        var skipped: [NSPropertyDescription] = []
        func visit(_ entity: NSEntityDescription) {
            if let superentity = entity.superentity {
                let inherited = superentity.propertiesByName
                let kept = entity.ownProperties.filter { property in
                    guard let original = inherited[property.name],
                        PropertyComparison.saysTheSame(property, original)
                    else { return true }
                    replacements[ObjectIdentifier(property)] = original
                    skipped.append(property)
                    return false
                }
                if kept.count < entity.ownProperties.count { entity.properties = kept }
            }
            for subentity in entity.subentities { visit(subentity) }
        }
        for (entity, _) in entityObjects where entity.superentity == nil { visit(entity) }
        for (relationship, _) in relationships {
            guard let inverse = relationship.inverseRelationship,
                let original = replacements[ObjectIdentifier(inverse)] as? NSRelationshipDescription
            else { continue }
            relationship.inverseRelationship = original
        }
        withExtendedLifetime(skipped) {}
    }

    /// Reads an entity's indexes. Indexes do not change the meaning of the model. An index that is
    /// listed twice, names missing properties or is otherwise impossible is ignored.
    func readIndexes(of object: ObjectArchive.Object, into entity: NSEntityDescription) throws {
        let properties = entity.propertiesByName
        var names: Set<String> = []
        entity.indexes = try (archive.elements("NSFetchIndexDescriptions", of: object) ?? []).compactMap { number in
            guard let indexObject = try archive.object(number) else { return nil }
            let name = try archive.text("NSIndexName", of: indexObject) ?? ""
            let numbers = try archive.elements("NSIndexElements", of: indexObject) ?? []
            let elements = try numbers.compactMap { number in
                try archive.object(number).flatMap { try indexElement($0, properties: properties, of: entity) }
            }
            guard !elements.isEmpty, elements.count == numbers.count,
                NSFetchIndexDescription.problem(in: elements) == nil,
                names.insert(name).inserted
            else { return nil }
            let index = NSFetchIndexDescription(name: name, elements: elements)
            index.partialIndexPredicate = try archive.object("NSPartialIndexPredicate", of: indexObject).map {
                try predicates.predicate($0)
            }
            return index
        }
    }

    func indexElement(
        _ object: ObjectArchive.Object, properties: [String: NSPropertyDescription], of entity: NSEntityDescription
    ) throws -> NSFetchIndexElementDescription? {
        let property: NSPropertyDescription
        let name = try archive.text("NSPropertyName", of: object) ?? ""
        if let found = properties[name] {
            property = found
        } else if let number = try archive.reference("NSProperty", of: object) {
            let declaration = try declaration(number).object
            let declared = try archive.text("NSPropertyName", of: declaration) ?? name
            if let found = properties[declared] {
                property = found
            } else if declaration.className == "NSExpressionDescription" {
                property = try self.property(declaration, name: name, entity: entity.name ?? "", depth: 0)
            } else {
                return nil
            }
        } else {
            return nil
        }
        let type = try archive.integer("NSFetchIndexElementType", of: object) ?? 0
        let element = NSFetchIndexElementDescription(property: property, collationType: type == 1 ? .rTree : .binary)
        element.isAscending = try archive.boolean("NSAscending", of: object)
        return element
    }
}

extension NSEntityDescription {
    fileprivate var depth: Int { sequence(first: self) { $0.superentity }.reduce(-1) { count, _ in count + 1 } }
}
