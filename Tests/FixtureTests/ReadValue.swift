import CoreData

/// A property's value in a form in which values of managed objects and values of the sqlite3
/// library can be compared.
enum ReadValue: Equatable {
    case none
    case value(AnyHashable)
    /// The leading digits: a DECIMAL column keeps 15.
    case decimal(String)
    case one(String)
    case many(Set<String>)
    case ordered([String])

    static func decimal(_ value: Double) -> ReadValue { .decimal(String(format: "%.13e", value)) }

    /// The places that a relationship leads to.
    var places: [String] {
        switch self {
        case .one(let place): [place]
        case .many(let places): Array(places)
        case .ordered(let places): places
        case .none, .value, .decimal: []
        }
    }
}

/// All properties of one object.
typealias ObjectState = [String: ReadValue]

extension NSManagedObject {
    /// All stored properties, as key-value coding gives them.
    func state() -> ObjectState {
        var state: ObjectState = [:]
        for (name, attribute) in entity.attributesByName where !attribute.isTransient {
            state[name] = ReadValue(value(forKey: name), of: attribute)
        }
        for (name, relationship) in entity.relationshipsByName where !relationship.isTransient {
            switch value(forKey: name) {
            case let object as NSManagedObject: state[name] = .one(object.place)
            case let objects as NSOrderedSet:
                state[name] = .ordered(objects.array.compactMap { ($0 as? NSManagedObject)?.place })
            case let objects as Set<NSManagedObject>: state[name] = .many(Set(objects.map(\.place)))
            case let objects as NSSet:
                state[name] = .many(Set(objects.allObjects.compactMap { ($0 as? NSManagedObject)?.place }))
            case nil: state[name] = ReadValue.none
            case let other?: state[name] = .value("an unexpected \(type(of: other))")
            }
        }
        return state
    }
}

extension ReadValue {
    /// An attribute's value, as a user sees it or sets it.
    init(_ value: Any?, of attribute: NSAttributeDescription) {
        switch value {
        case nil: self = .none
        case let number as NSDecimalNumber where attribute.attributeType == .decimalAttributeType:
            self = .decimal(number.doubleValue)
        case let number as NSNumber: self = .value(number)
        case let value as AnyHashable: self = .value(value)
        case let other?: self = .value("an unexpected \(type(of: other))")
        }
    }
}

extension Stack {
    /// All objects of all entities, read one property after the other.
    func states() throws -> [String: ObjectState] {
        var result: [String: ObjectState] = [:]
        for entity in model.concreteEntities {
            for object in try objects(entity) { result[object.place] = object.state() }
        }
        return result
    }
}

/// The differences between two readings of a store, in words; empty when there are none.
func differences(_ found: [String: ObjectState], _ expected: [String: ObjectState]) -> [String] {
    var result: [String] = []
    for place in Set(found.keys).union(expected.keys).sorted() where found[place] != expected[place] {
        guard let left = found[place] else {
            result.append("\(place) is missing")
            continue
        }
        guard let right = expected[place] else {
            result.append("\(place) is one too many")
            continue
        }
        for name in Set(left.keys).union(right.keys).sorted() where left[name] != right[name] {
            result.append("\(place).\(name) is \(left[name] as Any), expected \(right[name] as Any)")
        }
    }
    return Array(result.prefix(20))
}
