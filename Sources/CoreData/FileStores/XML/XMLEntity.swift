import Foundation

/// Translates the objects of one entity to and from the texts of an XML file.
struct XMLEntity {
    private let layout: EntityLayout
    /// In the order of the file: of the entity itself before inherited ones, by descending name.
    private let attributes: [(slot: PropertySlot, name: String)]
    /// To-one relationships first.
    private let relationships: [(slot: PropertySlot, name: String)]
    private let slots: [String: PropertySlot]

    init(_ entity: FileEntity) {
        layout = entity.layout
        let ranked = entity.attributes.map { slot in (slot: slot, depth: Self.depth(slot.declared.entity)) }
        let ordered = ranked.sorted { ($0.depth, $0.slot.name) > ($1.depth, $1.slot.name) }
        attributes = ordered.map { ($0.slot, $0.slot.name.lowercased()) }
        let toOne = entity.relationships.filter { !$0.kind.isToMany }
        relationships = (toOne + entity.relationships.filter(\.kind.isToMany)).map { ($0, $0.name.lowercased()) }
        slots = Dictionary((attributes + relationships).map { ($0.name, $0.slot) }) { first, _ in first }
    }

    private static func depth(_ entity: NSEntityDescription?) -> Int {
        sequence(first: entity?.superentity) { $0?.superentity }.prefix { $0 != nil }.count { _ in true }
    }

    // MARK: - Writing

    func object(_ object: FileObject) -> XMLStoreFile.Object {
        var result = XMLStoreFile.Object(type: layout.name.uppercased(), key: object.key)
        for (slot, name) in attributes where object.values.hasValue(slot.index) {
            result.attributes.append(
                XMLStoreFile.Attribute(
                    name: name, type: XMLValue.type(of: slot), text: XMLValue.text(of: object.values[slot.index], slot))
            )
        }
        let related = Dictionary(object.related.map { ($0.slot, $0.keys) }) { first, _ in first }
        for (slot, name) in relationships {
            guard let relationship = slot.relationship else { continue }
            result.relationships.append(
                XMLStoreFile.Relationship(
                    name: name, counts: "\(relationship.minCount)/\(relationship.maxCount)",
                    destination: relationship.destinationEntity?.name?.uppercased() ?? "",
                    keys: related[slot.index] ?? []))
        }
        return result
    }

    // MARK: - Reading

    func object(_ object: XMLStoreFile.Object) throws -> FileObject {
        var result = FileObject(layout, key: object.key)
        for attribute in object.attributes {
            let slot = try slot(attribute.name, "attribute", of: object) { !$0.kind.isRelationship }
            result.values[slot.index] = try XMLValue.value(of: attribute.text, slot, result)
        }
        for relationship in object.relationships {
            let slot = try slot(relationship.name, "relationship", of: object) { $0.kind.isRelationship }
            if slot.kind == .toOne, relationship.keys.count > 1 {
                throw StoreFileProblem(
                    text: "relates the object \(object.key) of entity '\(layout.name)' by '\(slot.name)' to several "
                        + "objects.")
            }
            result.related.append((slot.index, relationship.keys))
        }
        return result
    }

    private func slot(
        _ name: String, _ kind: String, of object: XMLStoreFile.Object, _ fits: (PropertySlot) -> Bool
    ) throws -> PropertySlot {
        if let slot = slots[name], fits(slot) { return slot }
        throw StoreFileProblem.unknown(
            "has the \(kind) '\(name)' of the object \(object.key), which the entity '\(layout.name)' does not have.")
    }
}

extension XMLStoreFile {
    func objects(_ entities: [FileEntity]) throws -> [FileObject] {
        let readers = Dictionary(entities.map { ($0.layout.name.uppercased(), XMLEntity($0)) }) { first, _ in first }
        return try objects.map { object in
            guard let reader = readers[object.type] else {
                throw StoreFileProblem.unknown(
                    "has the object \(object.key) of the entity '\(object.type)', which the model does not have.")
            }
            return try reader.object(object)
        }
    }

    /// Names are told apart without case in the file.
    static func unsupportedFeatures(of entities: [NSEntityDescription]) -> [String] {
        var features = repeated(entities.compactMap { $0.name?.uppercased() }).map {
            "several entities with the name \($0)"
        }
        for entity in entities {
            let names = entity.properties.flatMap { property in
                property is NSRelationshipDescription ? [property.name] : SlotSource.stored(of: property).map(\.name)
            }
            features += repeated(names).map { "several properties of \(entity.name ?? "") with the name \($0)" }
        }
        return features.map { $0 + " in upper or lower case" }
    }

    private static func repeated(_ names: [String]) -> [String] {
        Dictionary(grouping: names) { $0.lowercased() }.filter { $0.value.count > 1 }.keys.sorted()
    }
}
