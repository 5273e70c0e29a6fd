import CoreData

/// Values for attributes: for each number another one, the edges of the type's range among them.
enum GeneratedValues {
    static func value(of attribute: NSAttributeDescription, _ number: Int) -> Any? {
        let isUnique = attribute.entity.isUnique(attribute.name)
        if attribute.isOptional, !isUnique, number % 5 == 4 { return nil }
        // Rules of the model forbid some of the odd values.
        let isPlain = !attribute.validationPredicates.isEmpty || isUnique
        switch attribute.attributeType {
        case .integer16AttributeType:
            return isPlain
                ? NSNumber(value: Int16(number)) : NSNumber(value: pick([Int16.max, .min, -1, 0, 7], number))
        case .integer32AttributeType:
            return isPlain
                ? NSNumber(value: Int32(number)) : NSNumber(value: pick([Int32.max, .min, -1, 0, 7], number))
        case .integer64AttributeType:
            return isPlain
                ? NSNumber(value: Int64(number)) : NSNumber(value: pick([Int64.max, .min, -1, 0, 7], number))
        case .booleanAttributeType: return NSNumber(value: number % 2 == 0)
        case .doubleAttributeType:
            return isPlain
                ? NSNumber(value: Double(number) + 0.5)
                : NSNumber(
                    value: pick(
                        [
                            Double.greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
                            0.1 + 0.2,
                            -0.5, 9_007_199_254_740_991,
                        ], number))
        case .floatAttributeType:
            return NSNumber(value: pick([Float.greatestFiniteMagnitude, -3.25, 0.1, .leastNormalMagnitude, 0], number))
        case .decimalAttributeType:
            let texts = [
                "12345.6789", "-0.000000000123456789", "99999999999999999999999999999999999999", "0.1", "-1", "1e-30",
            ]
            return NSDecimalNumber(string: isPlain ? String(number) : pick(texts, number))
        case .dateAttributeType:
            return Date(
                timeIntervalSinceReferenceDate: isPlain
                    ? Double(number) : pick([-3_000_000_000.125, 0, 731_947_175.405035, -0.001, 1e11], number))
        case .stringAttributeType:
            let texts = [
                "Žluťoučký kůň", "🧑‍🚀 e\u{301} 漢字 עברית", "", "it's \"quoted\"; -- \\ %_*?", "zero \u{0} inside",
                String(repeating: "long ", count: 2000),
            ]
            return isPlain ? "The title with number \(number)" : pick(texts, number)
        case .UUIDAttributeType: return uuid(number)
        case .URIAttributeType: return URL(string: "https://example.com/%C5%BE/\(number)?q=a%20b#c")
        case .binaryDataAttributeType, .transformableAttributeType:
            let counts =
                attribute.allowsExternalBinaryDataStorage ? [300_000, 0, 1, 5000, 150_000] : [16, 0, 70_000, 1]
            return data(number, count: isPlain ? 16 : pick(counts, number))
        default: return nil
        }
    }

    private static func pick<Value>(_ values: [Value], _ number: Int) -> Value { values[number % values.count] }

    private static func uuid(_ number: Int) -> UUID {
        UUID(uuidString: String(format: "00000000-FFFF-4ABC-8000-%012d", number)) ?? UUID()
    }

    /// Bytes that begin with the number.
    private static func data(_ number: Int, count: Int) -> Data {
        let start = withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Array($0) }
        return Data((0..<count).map { $0 < 4 ? start[$0] : UInt8(truncatingIfNeeded: $0 &* 31 &+ number) })
    }
}

extension NSEntityDescription {
    /// Whether an attribute takes part in a uniqueness constraint of the entity or of one of its
    /// superentities.
    func isUnique(_ name: String) -> Bool {
        if uniquenessConstraints.contains(where: {
            $0.contains { "\($0)" == name || ($0 as? NSPropertyDescription)?.name == name }
        }) {
            return true
        }
        return superentity?.isUnique(name) ?? false
    }

    /// The attributes that a user sets and a store keeps.
    var settableAttributes: [NSAttributeDescription] {
        attributesByName.values.filter { !$0.isTransient && !($0 is NSDerivedAttributeDescription) }
            .sorted { $0.name < $1.name }
    }

    var sortedRelationships: [NSRelationshipDescription] { relationshipsByName.values.sorted { $0.name < $1.name } }
}

/// Fills a context with valid objects of any model.
final class ObjectMaker {
    let context: NSManagedObjectContext
    /// Objects that relationships may lead to.
    var partners: [NSManagedObject]
    private var number: Int
    /// The values that were set, by object and attribute.
    private var assigned: [NSManagedObject: ObjectState] = [:]

    var assignedByPlace: [String: ObjectState] {
        Dictionary(assigned.map { ($0.key.place, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    init(_ context: NSManagedObjectContext, partners: [NSManagedObject] = [], firstNumber: Int = 0) {
        self.context = context
        self.partners = partners
        number = firstNumber
    }

    /// Sets all attributes of an object to new values.
    func fill(_ object: NSManagedObject) {
        number += 1
        for attribute in object.entity.settableAttributes {
            let value = GeneratedValues.value(of: attribute, number)
            object.setValue(value, forKey: attribute.name)
            assigned[object, default: [:]][attribute.name] = ReadValue(value, of: attribute)
        }
    }

    /// Inserts an object with all attributes, and with the relationships that it needs or can have.
    @discardableResult
    func insert(_ entity: NSEntityDescription, besides owner: NSRelationshipDescription? = nil) throws
        -> NSManagedObject
    {
        let object = NSManagedObject(entity: entity, insertInto: context)
        fill(object)
        for relationship in entity.sortedRelationships where relationship !== owner?.inverseRelationship {
            guard let destination = relationship.destinationEntity else { continue }
            let candidates = partners.filter { $0.entity.isKindOf(entity: destination) }
            if !relationship.isToMany {
                if let partner = candidates.isEmpty ? nil : candidates[number % candidates.count] {
                    object.setValue(partner, forKey: relationship.name)
                } else if !relationship.isOptional {
                    object.setValue(try insert(concrete(destination), besides: relationship), forKey: relationship.name)
                }
            } else if relationship.inverseRelationship?.isToMany == true {
                add(Array(candidates.suffix(3)), to: object, relationship)
            } else if !relationship.isOptional || relationship.minCount > 0 {
                let part = try insert(concrete(destination), besides: relationship)
                add([part], to: object, relationship)
            }
        }
        return object
    }

    private func add(_ others: [NSManagedObject], to object: NSManagedObject, _ relationship: NSRelationshipDescription)
    {
        if relationship.isOrdered {
            object.mutableOrderedSetValue(forKey: relationship.name).addObjects(from: others)
        } else {
            for other in others { object.mutableSetValue(forKey: relationship.name).add(other) }
        }
    }

    private func concrete(_ entity: NSEntityDescription) throws -> NSEntityDescription {
        var candidates = [entity]
        while !candidates.isEmpty {
            let candidate = candidates.removeFirst()
            if !candidate.isAbstract { return candidate }
            candidates += candidate.subentities
        }
        throw CocoaError(.featureUnsupported)
    }
}
