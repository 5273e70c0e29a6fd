import CoreData
import TestSupport
import Testing

/// Random models and contents, compared with what Foundation's readers find in the file and with
/// what is read again.
struct RandomFileStoreTests {
    private static let seeds = LongTests.some(3, of: Array(1...60))

    @Test(arguments: FileStoreType.allCases, seeds)
    func whatIsSavedIsInTheFileAndReadAgain(type: FileStoreType, seed: Int) throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store")
        var world = RandomFileWorld(seed: UInt64(seed))
        var stack = try FileStoreStack(world.model(), type, at: url)
        for _ in 0..<4 {
            try world.change(stack)
            try stack.context.save()
            let saved = try content(stack)
            try expect(FileStoreReader(url, type), holds: stack)
            stack = try FileStoreStack(world.model(), type, at: url)
            let read = try content(stack)
            #expect(read == saved, "\(Set(read.map { "\($0)" }).symmetricDifference(saved.map { "\($0)" }).sorted())")
        }
    }

    private func key(_ object: NSManagedObject) -> Int64 {
        Int64(object.objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? -1
    }

    private func objects(_ stack: FileStoreStack) throws -> [NSManagedObject] {
        let roots = stack.coordinator.managedObjectModel.entities.filter { $0.superentity == nil }
        return try roots.flatMap { try stack.all($0.name ?? "") }
    }

    /// The related objects that exist: a relationship without an inverse may lead to a deleted one.
    private func related(
        _ object: NSManagedObject, _ name: String, in all: [NSManagedObject]
    ) -> [Int64] {
        let present = Set(all)
        return related(object, name).filter(present.contains).map(key)
    }

    private func related(_ object: NSManagedObject, _ name: String) -> [NSManagedObject] {
        switch object.value(forKey: name) {
        case let one as NSManagedObject: [one]
        case let list as NSOrderedSet: list.array.compactMap { $0 as? NSManagedObject }
        case let set as Set<NSManagedObject>: set.sorted { key($0) < key($1) }
        default: []
        }
    }

    /// Every value and relationship, by the object's number.
    private func content(_ stack: FileStoreStack) throws -> [String: String] {
        var content: [String: String] = [:]
        let objects = try objects(stack)
        for object in objects {
            for name in object.entity.attributesByName.keys {
                let value = object.value(forKey: name)
                let text =
                    (value as? Date).map { "\($0.timeIntervalSinceReferenceDate)" }
                    ?? (value as? Data)?.base64EncodedString() ?? value.map { "\($0)" }
                content["\(key(object)).\(name)"] = text ?? "nil"
            }
            for name in object.entity.relationshipsByName.keys {
                content["\(key(object)).\(name)"] = "\(related(object, name, in: objects))"
            }
        }
        return content
    }

    private func expect(_ reader: FileStoreReader, holds stack: FileStoreStack) throws {
        let objects = try objects(stack)
        #expect(Set(reader.objects.keys) == Set(objects.map(key)))
        #expect(reader.lastKey >= reader.objects.keys.max() ?? 0)
        for object in objects {
            let found = try #require(reader.objects[key(object)])
            #expect(found.entity == object.entity.name?.lowercased())
            for name in object.entity.relationshipsByName.keys {
                let keys = (found.related[name.lowercased()] ?? []).filter { reader.objects[$0] != nil }
                #expect(keys == related(object, name, in: objects), "\(name)")
            }
            let names = object.entity.attributesByName.keys.sorted()
            for (place, name) in names.enumerated() {
                guard let value = object.value(forKey: name) else { continue }
                let type = object.entity.attributesByName[name]?.attributeType
                switch (value, type) {
                case (let text as String, .stringAttributeType?) where !text.contains { "<>&\\".contains($0) },
                    (let text as String, .stringAttributeType?) where !found.list.isEmpty:
                    #expect(found.values[name.lowercased()] ?? found.list[place] as? String == text)
                case (let number as NSNumber, .integer64AttributeType?),
                    (let number as NSNumber, .integer16AttributeType?):
                    let listed = found.list.isEmpty ? nil : (found.list[place] as? Int64).map { "\($0)" }
                    #expect(found.values[name.lowercased()] ?? listed == number.stringValue)
                default: break
                }
            }
            #expect(found.list.isEmpty || found.list.count == names.count)
        }
    }
}

/// Makes a random model, and random changes of a store.
private struct RandomFileWorld {
    private struct Link {
        let source: Int, destination: Int, toMany: Bool, ordered: Bool, inverseToMany: Bool, inverseOrdered: Bool
        let hasInverse: Bool
    }

    private static let types: [NSAttributeType] = [
        .stringAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
        .decimalAttributeType, .doubleAttributeType, .floatAttributeType, .booleanAttributeType, .dateAttributeType,
        .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType, .transformableAttributeType,
    ]

    private var random: SeededGenerator
    private let attributes: [[NSAttributeType]]
    private let parents: [Int?]
    private let links: [Link]

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...4, using: &random)
        attributes = (0..<count).map { _ in
            (0..<Int.random(in: 0...5, using: &random)).compactMap { _ in Self.types.randomElement(using: &random) }
        }
        parents = (0..<count).map { index in
            index > 0 && Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<index, using: &random) : nil
        }
        links = (0..<Int.random(in: 0...4, using: &random)).map { _ in
            let (toMany, inverseToMany) = (Bool.random(using: &random), Bool.random(using: &random))
            return Link(
                source: Int.random(in: 0..<count, using: &random),
                destination: Int.random(in: 0..<count, using: &random), toMany: toMany,
                ordered: toMany && Bool.random(using: &random), inverseToMany: inverseToMany,
                inverseOrdered: inverseToMany && Bool.random(using: &random),
                hasInverse: Int.random(in: 0..<5, using: &random) > 0)
        }
        self.random = random
    }

    /// A model of its own for each store.
    func model() -> NSManagedObjectModel {
        let entities = attributes.enumerated().map { index, types in
            NSEntityDescription(
                "E\(index)", class: "NSManagedObject",
                types.enumerated().map { NSAttributeDescription("a\(index)_\($0)", $1) })
        }
        for (index, parent) in parents.enumerated() {
            if let parent { entities[parent].subentities += [entities[index]] }
        }
        for (number, link) in links.enumerated() {
            let (source, destination) = (entities[link.source], entities[link.destination])
            if link.hasInverse {
                relate(
                    source, "r\(number)", toMany: link.toMany, ordered: link.ordered, destination,
                    inverse: "i\(number)",
                    inverseToMany: link.inverseToMany, inverseOrdered: link.inverseOrdered)
            } else {
                source.properties += [
                    NSRelationshipDescription("r\(number)", to: destination, toMany: link.toMany)
                ]
            }
        }
        return NSManagedObjectModel(entities)
    }

    mutating func change(_ stack: FileStoreStack) throws {
        var objects: [NSManagedObject] = []
        for index in parents.indices where parents[index] == nil { objects += try stack.all("E\(index)") }
        objects.sort { $0.objectID.uriRepresentation().absoluteString < $1.objectID.uriRepresentation().absoluteString }
        for _ in 0..<min(3, objects.count) where Bool.random(using: &random) {
            let index = Int.random(in: objects.indices, using: &random)
            stack.context.delete(objects.remove(at: index))
        }
        stack.context.processPendingChanges()
        for _ in 0..<8 { objects.append(stack.insert("E\(Int.random(in: attributes.indices, using: &random))")) }
        for object in objects where Bool.random(using: &random) {
            for (name, attribute) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
                object.setValue(value(attribute.attributeType), forKey: name)
            }
            for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                guard let destination = relationship.destinationEntity else { continue }
                let fitting = objects.filter { $0.entity.isKindOf(entity: destination) }
                let chosen = (0..<3).compactMap { _ in fitting.randomElement(using: &random) }
                if !relationship.isToMany {
                    object.setValue(chosen.first, forKey: name)
                } else if relationship.isOrdered {
                    object.setValue(NSOrderedSet(array: chosen), forKey: name)
                } else {
                    object.setValue(Set(chosen), forKey: name)
                }
            }
        }
    }

    private mutating func value(_ type: NSAttributeType) -> Any? {
        if Int.random(in: 0..<5, using: &random) == 0 { return nil }
        let number = Int64.random(in: .min ... .max, using: &random)
        switch type {
        case .stringAttributeType:
            return String(
                (0..<Int.random(in: 0...9, using: &random)).compactMap { _ in
                    "ab <>&\\u\"é😀\n".randomElement(using: &random)
                })
        case .integer16AttributeType: return Int16(truncatingIfNeeded: number)
        case .integer32AttributeType: return Int32(truncatingIfNeeded: number)
        case .integer64AttributeType: return number
        case .decimalAttributeType: return Decimal(number) / 1000
        case .doubleAttributeType: return Double.random(in: -1e300...1e300, using: &random)
        case .floatAttributeType: return Float.random(in: -1e30...1e30, using: &random)
        case .booleanAttributeType: return number > 0
        case .dateAttributeType:
            return Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &random))
        case .binaryDataAttributeType:
            return Data((0..<Int.random(in: 0...150, using: &random)).map { UInt8(truncatingIfNeeded: $0) })
        case .UUIDAttributeType:
            return UUID(uuidString: "8CE4D4A3-6A21-4B5D-B43C-\(String(format: "%012d", abs(number % 1000)))")
        case .URIAttributeType: return URL(string: "https://example.com/\(number)?a=b&c=<")
        default: return ["x", number, ["y": [Data([1])]]] as [Any] as NSArray
        }
    }
}
