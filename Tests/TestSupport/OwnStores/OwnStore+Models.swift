import CoreData

// The models of the stores, as a program would write them.
extension OwnStore {
    private static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        NSEntityDescription(name, class: "NSManagedObject", properties)
    }

    private static func text(_ name: String, optional: Bool = true) -> NSAttributeDescription {
        NSAttributeDescription(name, .stringAttributeType, optional: optional)
    }

    private static func model(_ entities: [NSEntityDescription], version: String = "") -> NSManagedObjectModel {
        let model = NSManagedObjectModel(entities)
        model.versionIdentifiers = [version]
        return model
    }

    static func orchardModel() -> NSManagedObjectModel {
        let gardener = entity(
            "Gardener", [NSAttributeDescription("badge", .integer16AttributeType), text("name", optional: false)])
        let plant = entity(
            "Plant",
            [
                NSAttributeDescription("isHealthy", .booleanAttributeType, optional: false, default: true),
                text("label", optional: false),
                NSAttributeDescription("height", .doubleAttributeType),
                NSAttributeDescription("planted", .dateAttributeType),
                NSAttributeDescription("image", .binaryDataAttributeType),
            ])
        plant.isAbstract = true
        let bush = entity("Bush", [NSAttributeDescription("thorns", .booleanAttributeType), text("note")])
        let tree = entity(
            "Tree",
            [
                NSAttributeDescription("rings", .integer32AttributeType),
                NSAttributeDescription("girth", .floatAttributeType),
            ])
        let fruitTree = entity("FruitTree", [NSAttributeDescription("yield", .decimalAttributeType), text("note")])
        plant.subentities = [bush, tree]
        tree.subentities = [fruitTree]
        relate(gardener, "plants", toMany: true, plant, inverse: "gardener")
        relate(gardener, "favorite", plant, inverse: "admirers", inverseToMany: true)
        return model([gardener, plant, bush, tree, fruitTree])
    }

    static func playlistsModel() -> NSManagedObjectModel {
        let album = entity(
            "Album", [text("title", optional: false), NSAttributeDescription("year", .integer16AttributeType)])
        let playlist = entity("Playlist", [text("name", optional: false)])
        let song = entity(
            "Song",
            [
                text("title", optional: false), NSAttributeDescription("length", .doubleAttributeType),
                NSAttributeDescription("isLive", .booleanAttributeType),
            ])
        let recording = entity("Recording", [text("place")])
        recording.renamingIdentifier = "Take"
        song.subentities = [recording]
        relate(album, "songs", toMany: true, ordered: true, song, inverse: "album")
        relate(playlist, "songs", toMany: true, ordered: true, song, inverse: "playlists", inverseToMany: true)
        relate(song, "originals", toMany: true, song, inverse: "remixes", inverseToMany: true)
        return model([album, playlist, song, recording])
    }

    static func museumModel() -> NSManagedObjectModel {
        let scan = NSAttributeDescription("scan", .binaryDataAttributeType)
        scan.allowsExternalBinaryDataStorage = true
        let label = text("label")
        let exhibit = entity(
            "Exhibit",
            [
                NSAttributeDescription("code", .UUIDAttributeType, optional: false),
                NSAttributeDescription("page", .URIAttributeType),
                label,
                scan, NSAttributeDescription("sketch", .binaryDataAttributeType),
                NSAttributeDescription("tags", .transformableAttributeType),
                NSAttributeDescription("weight", .floatAttributeType),
            ])
        let room = entity(
            "Room", [text("name", optional: false), NSAttributeDescription("floor", .integer16AttributeType)])
        relate(exhibit, "room", room, inverse: "exhibits", inverseToMany: true)
        exhibit.uniquenessConstraints = [["code"]]
        room.uniquenessConstraints = [["name", "floor"]]
        exhibit.indexes = [
            NSFetchIndexDescription(
                name: "byLabel", elements: [NSFetchIndexElementDescription(property: label, collationType: .binary)])
        ]
        return model([exhibit, room], version: "2")
    }

    static func harvestModel() -> NSManagedObjectModel {
        func preserved(_ attribute: NSAttributeDescription) -> NSAttributeDescription {
            attribute.preservesValueInHistoryOnDeletion = true
            return attribute
        }
        let count = NSDerivedAttributeDescription()
        count.name = "cropCount"
        count.attributeType = .integer64AttributeType
        count.isOptional = true
        count.derivationExpression = NSExpression(forKeyPath: "crops.@count")
        let crop = entity(
            "Crop", [preserved(text("kind")), preserved(NSAttributeDescription("weight", .decimalAttributeType))])
        let field = entity(
            "Field",
            [preserved(text("name", optional: false)), NSAttributeDescription("area", .doubleAttributeType), count])
        let greenhouse = entity("Greenhouse", [NSAttributeDescription("isHeated", .booleanAttributeType)])
        field.subentities = [greenhouse]
        relate(crop, "field", field, inverse: "crops", inverseToMany: true)
        return model([crop, field, greenhouse], version: "harvest 3")
    }

    static func voyageModel() -> NSManagedObjectModel {
        func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSCompositeAttributeDescription {
            let composite = NSCompositeAttributeDescription()
            composite.name = name
            composite.isOptional = true
            composite.elements = elements
            return composite
        }
        let entry = entity(
            "LogEntry", [text("text", optional: false), NSAttributeDescription("at", .dateAttributeType)])
        let port = entity(
            "Port",
            [
                text("name", optional: false), text("code"), composite("address", [text("city"), text("code")]),
                composite(
                    "position",
                    [
                        NSAttributeDescription("latitude", .doubleAttributeType),
                        NSAttributeDescription("longitude", .doubleAttributeType),
                    ]),
            ])
        let tags = NSAttributeDescription("tags", .transformableAttributeType)
        tags.valueTransformerName = "NSSecureUnarchiveFromData"
        tags.attributeValueClassName = "Array<String>"
        let ship = entity(
            "Ship", [text("name", optional: false), tags, NSRelationshipDescription("logs", to: entry, toMany: true)])
        relate(ship, "home", port, inverse: "ships", inverseToMany: true)
        port.uniquenessConstraints = [["code"]]
        let model = model([entry, port, ship], version: "1.0.0")
        model.setEntities([entry, port, ship], forConfigurationName: "default")
        return model
    }
}
