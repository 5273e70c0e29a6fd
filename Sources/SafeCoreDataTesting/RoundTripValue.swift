import SafeCoreData

/// A property's value in a form that can be compared across contexts and shown.
enum RoundTripValue: Equatable, CustomStringConvertible {
    case null
    case value(AnyHashable)
    case object(NSManagedObjectID)
    case objects(Set<NSManagedObjectID>)
    case ordered([NSManagedObjectID])
    case other(String)

    init(_ value: Any?) {
        switch value {
        case nil: self = .null
        case let object as NSManagedObject: self = .object(object.objectID)
        case let set as NSOrderedSet: self = .ordered(set.array.compactMap { ($0 as? NSManagedObject)?.objectID })
        case let set as NSSet where set.allObjects.allSatisfy({ $0 is NSManagedObject }):
            self = .objects(Set(set.allObjects.compactMap { ($0 as? NSManagedObject)?.objectID }))
        case let elements as [String: Any]:
            // The elements of a composite attribute; elements that are nil may be present or
            // absent.
            let texts = elements.compactMap { name, value -> String? in
                let value = RoundTripValue(Self.number(value) ?? value)
                return value == .null ? nil : "\(name): \(value)"
            }
            self = .other("(" + texts.sorted().joined(separator: ", ") + ")")
        case let value as AnyHashable: self = .value(value)
        case let value?: self = .other("\(value)")
        }
    }

    /// Returns a number as stores return it; nil for anything else.
    private static func number(_ value: Any) -> NSNumber? {
        switch value {
        case let number as NSNumber: number
        case let flag as Bool: NSNumber(value: flag)
        case let integer as any BinaryInteger: NSNumber(value: Int64(truncatingIfNeeded: integer))
        case let double as Double: NSNumber(value: double)
        case let float as Float: NSNumber(value: float)
        case let decimal as Decimal: NSDecimalNumber(decimal: decimal)
        default: nil
        }
    }

    var description: String {
        switch self {
        case .null: "nil"
        case .value(let value): "\(value.base)"
        case .object(let objectID): "\(objectID)"
        case .objects(let objectIDs): "\(objectIDs.count) objects"
        case .ordered(let objectIDs): "\(objectIDs.count) objects in order"
        case .other(let text): text
        }
    }
}
