import CoreData
import TestSupport
import Testing

/// The content of a store, by the numbers that entities, attributes and relationships keep from
/// version to version.
private struct Content: Equatable {
    /// An object by the root entity that it had in the first version, and its key.
    struct Key: Hashable, Comparable, CustomStringConvertible {
        let root: Int
        let key: Int

        static func < (left: Key, right: Key) -> Bool { (left.root, left.key) < (right.root, right.key) }
        var description: String { "\(root)/\(key)" }
    }

    struct Place: Hashable {
        let pair: Int
        let side: Int
        let object: Key
    }

    var entities: [Key: Int] = [:]
    var values: [Key: [Int: String]] = [:]
    /// The destinations of each object; sorted unless the relationship is ordered.
    var links: [Place: [Key]] = [:]

    init() {}

    /// Reads a store through a fresh context.
    init(_ context: NSManagedObjectContext, _ version: ModelVersion, first: ModelVersion) throws {
        let ids = Dictionary(uniqueKeysWithValues: version.entities.map { ($0.name, $0.id) })
        func key(_ object: NSManagedObject) -> Key {
            Key(
                root: first.root(ids[object.entity.name ?? ""] ?? -1),
                key: Int(object.objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? -1)
        }
        for entity in version.entities where entity.parent == nil {
            for object in try context.objects(entity.name) {
                let own = key(object), id = ids[object.entity.name ?? ""] ?? -1
                #expect(entities[own] == nil, "two objects have the key \(own)")
                entities[own] = id
                for attribute in version.attributes(id) {
                    guard let value = ModelVersion.text(object.value(forKey: attribute.name)) else { continue }
                    values[own, default: [:]][attribute.id] = value
                }
                for pair in version.pairs {
                    for (index, side) in pair.sides.enumerated()
                    where side.exists && version.isKind(id, of: side.entity) {
                        let found: [Key] =
                            switch object.value(forKey: side.name) {
                            case let object as NSManagedObject: [key(object)]
                            case let set as NSOrderedSet: set.compactMap { ($0 as? NSManagedObject).map(key) }
                            case let set as Set<NSManagedObject>: set.map(key).sorted()
                            default: []
                            }
                        links[Place(pair: pair.id, side: index, object: own)] = found
                    }
                }
            }
        }
    }

    /// The content to expect after a migration.
    func migrated(from old: ModelVersion, to new: ModelVersion) -> Content {
        var result = Content()
        for (key, entity) in entities where new.entity(entity) != nil {
            result.entities[key] = entity
            let known = Dictionary(uniqueKeysWithValues: old.attributes(entity).map { ($0.id, $0) })
            for attribute in new.attributes(entity) {
                let standard = attribute.hasDefault ? ModelVersion.text(ModelVersion.defaultValue(attribute.type)) : nil
                let value: String?
                if let former = known[attribute.id] {
                    let kept = values[key]?[attribute.id]
                    value = kept == nil && former.isOptional && !attribute.isOptional ? standard : kept
                } else {
                    value = standard
                }
                if let value { result.values[key, default: [:]][attribute.id] = value }
            }
        }
        for pair in new.pairs {
            let former = old.pairs.first { $0.id == pair.id }
            for (index, side) in pair.sides.enumerated() where side.exists {
                for (key, entity) in result.entities where new.isKind(entity, of: side.entity) {
                    let found = former == nil ? [] : destinations(key, pair.id, index)
                    let kept = found.filter { destination in
                        result.entities[destination].map { new.isKind($0, of: pair.sides[1 - index].entity) } ?? false
                    }
                    let keepsOrder =
                        side.isToMany && side.isOrdered && former?.sides[index].isToMany == true
                        && former?.sides[index].isOrdered == true
                    result.links[Place(pair: pair.id, side: index, object: key)] = keepsOrder ? kept : kept.sorted()
                }
            }
        }
        return result
    }

    private func destinations(_ key: Key, _ pair: Int, _ side: Int) -> [Key] {
        if let known = links[Place(pair: pair, side: side, object: key)] { return known }
        return links.filter { $0.key.pair == pair && $0.value.contains(key) }.map(\.key.object)
    }

    /// Whether objects have several owners in a to-many relationship that has no inverse any more
    /// and can keep one of them.
    func hasSharedMembers(in new: ModelVersion, since old: ModelVersion) -> Bool {
        new.pairs.contains { pair in
            guard pair.sides[0].isToMany, !pair.sides[1].exists,
                let former = old.pairs.first(where: { $0.id == pair.id }),
                former.sides[1].exists || !former.sides[0].isToMany
            else { return false }
            let members = links.filter { $0.key.pair == pair.id && $0.key.side == 0 }.flatMap(\.value)
            return Set(members).count < members.count
        }
    }

    /// The content with everything sorted that was not ordered before.
    func comparable(_ old: ModelVersion) -> Content {
        var result = self
        for (place, keys) in links {
            let side = old.pairs.first { $0.id == place.pair }?.sides[place.side]
            if side?.isOrdered != true || side?.isToMany != true { result.links[place] = keys.sorted() }
        }
        return result
    }
}

/// Pairs of versions at random, migrated with objects, against what plain Swift expects.
struct RandomMigrationTests {
    @Test(arguments: 0..<(LongTests.areEnabled ? 40 : 1), StoreKind.persistent) func migratedStoresHoldWhatIsExpected(
        part: Int, kind: StoreKind
    ) throws {
        var migrated = 0
        for seed in 0..<15 {
            let seed = UInt64(part * 1000 + seed)
            var random = RandomVersions(seed: seed)
            let first = random.first()
            let second = random.changed(first)
            let store = try MigratedStore(kind)
            try store.open(first.model()) { random.fill($0, first) }
            let before = try store.open(first.model()) { try Content($0, first, first: first) }
            let inferred = errorThrown {
                _ = try NSMappingModel.inferredMappingModel(
                    forSourceModel: first.model(), destinationModel: second.model())
            }
            if inferred != nil {
                #expect(try store.refusal(second.model()).code == NSInferredMappingModelError)
                continue
            }
            migrated += 1
            let expected = before.migrated(from: first, to: second)
            if expected.hasSharedMembers(in: second, since: first) {
                #expect(try store.refusal(second.model()).code == NSMigrationError, "seed \(seed)")
                continue
            }
            do {
                try store.migrate(to: second.model())
            } catch {
                Issue.record("seed \(seed): \(error)")
                continue
            }
            let after = try store.open(second.model()) { try Content($0, second, first: first) }
            #expect(after.entities == expected.entities, "seed \(seed)")
            #expect(after.values == expected.values, "seed \(seed)")
            #expect(after.comparable(first).links == expected.comparable(first).links, "seed \(seed)")
        }
        #expect(migrated >= 9, "only \(migrated) of 15 pairs could be inferred")
    }
}
