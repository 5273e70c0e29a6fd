import Foundation

/// Reads a model as Xcode's editors archive it. A mapping model that Xcode saved has such a copy of
/// both its models.
///
/// Reads what version hashes and mappings need: entities with their hierarchy and constraints,
/// attributes and relationships. Fetched properties and renaming identifiers are left out.
package struct EditorModelReader {
    /// The values that the editor keeps of an entity or a property, by name.
    private struct Settings {
        let archive: ObjectArchive
        let numbers: [String: Int]

        func text(_ name: String) throws -> String? { try numbers[name].flatMap { try archive.text($0) } }

        func integer(_ name: String) throws -> Int {
            switch try numbers[name].flatMap({ try archive.value($0) }) {
            case .integer(let value)?: Int(value)
            case .boolean(let value)?: value ? 1 : 0
            default: 0
            }
        }

        func boolean(_ name: String) throws -> Bool { try integer(name) != 0 }
    }

    private let archive: ObjectArchive
    private var entities: [Int: NSEntityDescription] = [:]
    private var relationships: [Int: (relationship: NSRelationshipDescription, settings: Settings)] = [:]

    /// - Throws: `ModelReadingError` when the archive is damaged, is of no model, or has a property
    ///   of an unknown kind.
    package static func model(from data: Data) throws -> NSManagedObjectModel {
        var reader = EditorModelReader(archive: try ObjectArchive(data))
        return try reader.model()
    }

    private init(archive: ObjectArchive) { self.archive = archive }

    private mutating func model() throws -> NSManagedObjectModel {
        guard let root = try archive.object(archive.root), root.className == "XDPMModel",
            let package = try archive.object("_xd_rootPackage", of: root)
        else { throw ModelReadingError.damagedArchive("The archive does not hold a model of Xcode's editor.") }
        let objects = try archive.dictionary("XDBucketForClassesstorage", of: package) ?? []
        let read = try objects.compactMap { name, number in
            try archive.object(number).map { (entity: try entity($0, name: name), object: $0) }
        }
        try linkHierarchy(read)
        for (relationship, settings) in relationships.values {
            relationship.destinationEntity = settings.numbers["XD_PRK_destination"].flatMap { entities[$0] }
            relationship.inverseRelationship = settings.numbers["XD_PRK_inverseRelationship"].flatMap {
                relationships[$0]?.relationship
            }
        }
        let model = NSManagedObjectModel()
        model.entities = read.map(\.entity)
        return model
    }

    /// The settings of a model's part are objects, in groups that only the editor needs.
    private func settings(of object: ObjectArchive.Object) throws -> Settings {
        var numbers: [String: Int] = [:]
        for (_, group) in try archive.dictionary("XDBucketForStereotypesstorage", of: object) ?? [] {
            guard let group = try archive.object(group) else { continue }
            for (name, setting) in try archive.dictionary("XDBucketForOwnedAttributesstorage", of: group) ?? [] {
                numbers[name] = try archive.object(setting).flatMap { try archive.reference("_default", of: $0) }
            }
        }
        return Settings(archive: archive, numbers: numbers)
    }

    private mutating func entity(_ object: ObjectArchive.Object, name: String) throws -> NSEntityDescription {
        let entity = NSEntityDescription()
        let settings = try settings(of: object)
        entity.name = name
        entity.isAbstract = try settings.boolean("XD_PSK_isAbstract")
        entity.versionHashModifier = try settings.text("XD_PSK_versionHashModifier")
        let constraints = try settings.numbers["XDPMUniquenessConstraints"].flatMap { try archive.plainValue($0) }
        entity.uniquenessConstraintNames = constraints as? [[String]] ?? []
        let properties = try archive.dictionary("XDBucketForOwnedAttributesstorage", of: object) ?? []
        entity.properties = try properties.compactMap { property, number in
            try archive.object(number).flatMap { try self.property($0, name: property, entity: name) }
        }
        entities[object.number] = entity
        return entity
    }

    private mutating func property(
        _ object: ObjectArchive.Object, name: String, entity: String
    ) throws -> NSPropertyDescription? {
        let settings = try settings(of: object)
        let property: NSPropertyDescription
        switch object.className {
        case "XDPMAttribute":
            let attribute = NSAttributeDescription()
            attribute.attributeType =
                UInt(exactly: try settings.integer("XD_PAttK_attributeType")).flatMap(NSAttributeType.init)
                ?? .undefinedAttributeType
            attribute.allowsExternalBinaryDataStorage = try settings.boolean("XD_PAttK_allowsExternalBinaryDataStorage")
            property = attribute
        case "XDPMRelationship":
            let relationship = NSRelationshipDescription()
            relationship.minCount = try settings.integer("XD_PRK_minCount")
            relationship.maxCount = try settings.boolean("XD_PRK_isToMany") ? settings.integer("XD_PRK_maxCount") : 1
            relationship.isOrdered = try settings.boolean("XD_PRK_ordered")
            relationships[object.number] = (relationship, settings)
            property = relationship
        case "XDPMFetchedProperty": return nil
        case let unknown:
            throw ModelReadingError.unknownPart(
                "The model's property '\(entity).\(name)' is of the unknown kind \(unknown).")
        }
        property.name = name
        property.isOptional = try settings.boolean("XD_PPSK_isOptional")
        property.isTransient = try settings.boolean("XD_PPSK_isTransient")
        property.versionHashModifier = try settings.text("XD_PPSK_versionHashModifier")
        return property
    }

    private func linkHierarchy(_ read: [(entity: NSEntityDescription, object: ObjectArchive.Object)]) throws {
        var subentities: [Int: [NSEntityDescription]] = [:]
        for (entity, object) in read {
            for number in try archive.elements("XDBucketForGeneralizationsstorage", of: object) ?? [] {
                let superentity = try archive.object(number).flatMap { try archive.reference("_general", of: $0) }
                if let superentity { subentities[superentity, default: []].append(entity) }
            }
        }
        for (entity, object) in read {
            let subentities = subentities[object.number] ?? []
            for subentity in subentities { try ArchivedHierarchy.check(subentity, from: entity) }
            entity.subentities = subentities
        }
        try ArchivedHierarchy.checkDepth(of: read.map(\.entity))
    }
}
