import CoreData
import TestSupport

/// Random models, and random changes of them that can be inferred.
struct RandomVersions {
    private var random: SeededGenerator
    private var counter = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let types: [NSAttributeType] = [
        .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .floatAttributeType,
        .doubleAttributeType,
        .booleanAttributeType, .stringAttributeType, .dateAttributeType, .UUIDAttributeType, .binaryDataAttributeType,
    ]

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &random) }

    private mutating func id() -> Int {
        counter += 1
        return counter
    }

    /// A name of its own that sorts anywhere.
    private mutating func name(_ capital: Bool) -> String {
        let letter = String(UnicodeScalar(UInt8(97 + number(0...25))))
        return "\(capital ? letter.uppercased() : letter)n\(id())"
    }

    private mutating func attribute() -> ModelVersion.Attribute {
        let name = name(false)
        let type = pick(Self.types) ?? .stringAttributeType
        return .init(
            id: id(), name: name, originalName: name, type: type, isOptional: chance(60), hasDefault: chance(40),
            isExternal: type == .binaryDataAttributeType && chance(50))
    }

    private mutating func entity(_ parent: Int?) -> ModelVersion.Entity {
        let name = name(true)
        return .init(
            id: id(), name: name, originalName: name, parent: parent,
            attributes: (0..<number(0...4)).map { _ in attribute() })
    }

    private mutating func pair(_ version: ModelVersion) -> ModelVersion.Pair? {
        guard let first = pick(version.entities), let second = pick(version.entities) else { return nil }
        var sides = [first, second].map { entity in
            let name = name(false)
            return ModelVersion.Side(
                name: name, originalName: name, entity: entity.id, isToMany: chance(50), isOrdered: chance(40))
        }
        sides[1].exists = chance(85)
        return .init(id: id(), sides: sides)
    }

    mutating func first() -> ModelVersion {
        var version = ModelVersion()
        for _ in 0..<number(2...5) {
            let parent = chance(50) ? pick(version.entities)?.id : nil
            version.entities.append(entity(parent))
        }
        for _ in 0..<number(0...4) { if let pair = pair(version) { version.pairs.append(pair) } }
        for index in version.entities.indices {
            for place in version.entities[index].attributes.indices
            where !version.entities[index].attributes[place].isOptional {
                version.entities[index].attributes[place].hasDefault = true
            }
        }
        return version
    }

    /// A later version.
    mutating func changed(_ former: ModelVersion) -> ModelVersion {
        var version = former
        for _ in 0..<number(1...8) {
            switch number(0...3) {
            case 0: changeAttribute(&version)
            case 1: changeEntity(&version, former)
            case 2: changePair(&version)
            default: moveAttribute(&version)
            }
        }
        // Objects that come to have a required attribute need a value.
        for index in version.entities.indices {
            for place in version.entities[index].attributes.indices
            where !version.entities[index].attributes[place].isOptional {
                version.entities[index].attributes[place].hasDefault = true
            }
        }
        return version
    }

    private mutating func changeAttribute(_ version: inout ModelVersion) {
        guard let index = pick(Array(version.entities.indices)) else { return }
        guard chance(75), let place = pick(Array(version.entities[index].attributes.indices)) else {
            version.entities[index].attributes.append(attribute())
            return
        }
        switch number(0...4) {
        case 0: version.entities[index].attributes.remove(at: place)
        case 1: version.entities[index].attributes[place].name = name(false)
        case 2: version.entities[index].attributes[place].isOptional.toggle()
        case 3:
            switch version.entities[index].attributes[place].type {
            case .integer16AttributeType: version.entities[index].attributes[place].type = .integer32AttributeType
            case .integer32AttributeType: version.entities[index].attributes[place].type = .integer64AttributeType
            case .floatAttributeType: version.entities[index].attributes[place].type = .doubleAttributeType
            case .binaryDataAttributeType: version.entities[index].attributes[place].isExternal.toggle()
            default: break
            }
        default: version.entities[index].attributes[place].hasDefault.toggle()
        }
    }

    private mutating func moveAttribute(_ version: inout ModelVersion) {
        guard let index = pick(version.entities.indices.filter { !version.entities[$0].attributes.isEmpty }) else {
            return
        }
        let up = version.entities[index].parent.map { [$0] } ?? []
        guard let target = pick(up + version.children(version.entities[index].id).map(\.id)),
            let to = version.index(target)
        else { return }
        let place = number(0...version.entities[index].attributes.count - 1)
        version.entities[to].attributes.append(version.entities[index].attributes.remove(at: place))
    }

    private mutating func changeEntity(_ version: inout ModelVersion, _ former: ModelVersion) {
        guard let index = pick(Array(version.entities.indices)) else { return }
        let id = version.entities[index].id
        switch number(0...6) {
        case 0: version.entities[index].name = name(true)
        case 1: version.entities.append(entity(nil))
        case 2: version.entities.append(entity(id))
        case 3:
            var parent = entity(version.entities[index].parent)
            parent.isAbstract = chance(50)
            version.entities[index].parent = parent.id
            version.entities.append(parent)
        case 4 where version.children(id).isEmpty && version.entities.count > 1:
            version.entities.remove(at: index)
            version.pairs.removeAll { $0.sides.contains { $0.entity == id } }
        case 5: version.entities[index].parent = nil
        default:
            // Within what was one hierarchy, so that none are merged.
            let others = version.entities.filter { other in
                !version.isKind(other.id, of: id) && former.entity(other.id) != nil && former.entity(id) != nil
                    && former.root(other.id) == former.root(id) && version.root(other.id) == version.root(id)
            }
            if let parent = pick(others) { version.entities[index].parent = parent.id }
        }
    }

    private mutating func changePair(_ version: inout ModelVersion) {
        guard chance(75), let index = pick(Array(version.pairs.indices)) else {
            if let pair = pair(version) { version.pairs.append(pair) }
            return
        }
        let side = number(0...1)
        switch number(0...4) {
        case 0: version.pairs.remove(at: index)
        case 1: version.pairs[index].sides[side].name = name(false)
        case 2: version.pairs[index].sides[side].isToMany = true
        case 3: version.pairs[index].sides[side].isOrdered.toggle()
        default: version.pairs[index].sides[1].exists.toggle()
        }
    }

    /// Objects of every entity, linked at random.
    mutating func fill(_ context: NSManagedObjectContext, _ version: ModelVersion) {
        var objects: [(entity: Int, object: NSManagedObject)] = []
        for entity in version.entities {
            for _ in 0..<number(0...6) {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity.name, into: context)
                for attribute in version.attributes(entity.id) {
                    let isNil = attribute.isOptional && chance(30)
                    object.setValue(
                        isNil ? nil : ModelVersion.value(attribute.type, number(0...300)), forKey: attribute.name)
                }
                objects.append((entity.id, object))
            }
        }
        for pair in version.pairs {
            let owners = objects.filter { version.isKind($0.entity, of: pair.sides[0].entity) }
            let destinations = objects.filter { version.isKind($0.entity, of: pair.sides[1].entity) }
            var taken: Set<NSManagedObject> = []
            for (_, owner) in owners where chance(70) {
                let count = pair.sides[0].isToMany ? number(0...3) : 1
                var chosen: [NSManagedObject] = []
                for _ in 0..<count {
                    guard let (_, destination) = pick(destinations), !chosen.contains(destination) else { continue }
                    if pair.sides[1].exists, !pair.sides[1].isToMany, !taken.insert(destination).inserted { continue }
                    chosen.append(destination)
                }
                switch (pair.sides[0].isToMany, pair.sides[0].isOrdered) {
                case (false, _): owner.setValue(chosen.first, forKey: pair.sides[0].name)
                case (true, true): owner.setValue(NSOrderedSet(array: chosen), forKey: pair.sides[0].name)
                case (true, false): owner.setValue(NSSet(array: chosen), forKey: pair.sides[0].name)
                }
            }
        }
    }
}
