import Foundation

/// Transformable and composite attributes: objects to bytes and back.
enum Transformation {
    /// The bytes to store.
    ///
    /// - Throws: code 1550 when the attribute's transformer is missing or gives no data.
    static func data(from value: Any, attribute: NSAttributeDescription) throws -> Data {
        let place = "\(attribute.entity.name ?? "?").\(attribute.name)"
        if let name = attribute.valueTransformerName, !name.isEmpty {
            guard let transformer = ValueTransformers.transformer(named: name) else {
                throw CoreDataErrors.make(
                    .managedObjectValidation,
                    "The value transformer \(name) of \(place) is not registered.",
                    recovery: "Register it with ValueTransformer.setValueTransformer(_:forName:) before the store is used.")
            }
            guard let bytes = transformer.encode(value) else {
                throw CoreDataErrors.make(
                    .managedObjectValidation, "The value transformer \(name) of \(place) gave no data for a \(type(of: value)).")
            }
            return bytes
        }
        guard let bytes = TransformableArchive.data(from: value) else {
            throw CoreDataErrors.make(
                .managedObjectValidation,
                "A \(type(of: value)) in \(place) cannot be archived.",
                recovery: "Use a type that conforms to NSCoding, or name a value transformer in the model.")
        }
        return bytes
    }

    /// The object that stored bytes stand for; nil when they cannot be read.
    static func value(from data: Data, attribute: NSAttributeDescription) -> Any? {
        if let name = attribute.valueTransformerName, !name.isEmpty {
            return ValueTransformers.transformer(named: name)?.decode(data)
        }
        return TransformableArchive.value(from: data)
    }
}

extension NSManagedObject {
    /// The bytes of a transformable attribute's value, as a store keeps them; nil for nil.
    ///
    /// - Throws: code 1550 when the attribute's transformer is missing or gives no data.
    package final func transformedData(forKey key: String) throws -> Data? {
        guard let slot = layout.slotByName[key], let attribute = layout.slots[slot].attribute else { return nil }
        fireFaultIfNeeded(slot)
        switch currentValue(slot) {
        case .data(let data): return data
        case .custom(let custom): return try Transformation.data(from: custom.value, attribute: attribute)
        default: return nil
        }
    }

    /// Sets a transformable attribute to the value that bytes stand for; nil where they cannot be read.
    package final func setTransformedData(_ data: Data?, forKey key: String) {
        guard let slot = layout.slotByName[key], let attribute = layout.slots[slot].attribute else { return }
        setObjectValue(data.flatMap { Transformation.value(from: $0, attribute: attribute) }, slot: slot)
    }
}

/// The archives that transformable attributes without a transformer of their own are stored in.
enum TransformableArchive {
    /// Property list types and NSCoding objects; nil for anything else, and for decimal numbers beside other objects than
    /// property lists have.
    static func data(from value: Any) -> Data? {
        if DecimalArchive.holdsDecimal(value) { return DecimalArchive.data(from: value) }
        let object: NSObject
        switch value {
        case let value as NSObject & NSCoding: object = value
        case let value as String: object = value as NSString
        case let value as [Any]: object = value as NSArray
        case let value as [AnyHashable: Any]: object = value as NSDictionary
        case let value as Date: object = value as NSDate
        case let value as Data: object = value as NSData
        case let value as URL: object = value as NSURL
        case let value as UUID: object = value as NSUUID
        case let value as Set<AnyHashable>: object = value as NSSet
        case let value as NSNumber: object = value
        default: return nil
        }
        guard object is NSCoding else { return nil }
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        return archiver.encodedData
    }

    /// Decodes with an allow-list of Foundation's value classes and the classes that were registered.
    static func value(from data: Data, classes: [AnyClass] = ValueTransformers.allowedClasses) -> Any? {
        if let value = DecimalArchive.value(from: data, classes: classes) { return value }
        return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data)
    }
}

/// Value transformers by name, as a pair of functions.
enum ValueTransformers {
    static let allowedClasses: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self,
        NSSet.self, NSOrderedSet.self, NSNull.self, NSDecimalNumber.self, NSAttributedString.self,
    ]

    struct Coding {
        let encode: (Any) -> Data?
        let decode: (Data) -> Any?
    }

    static func transformer(named name: String) -> Coding? {
        guard let transformer = ValueTransformer(forName: NSValueTransformerName(name)) else { return nil }
        // Unarchiving transformers read data in the forward direction; all others make it.
        if transformer is NSSecureUnarchiveFromDataTransformer {
            return Coding(
                encode: { transformer.reverseTransformedValue($0) as? Data }, decode: { transformer.transformedValue($0) })
        }
        return Coding(
            encode: { transformer.transformedValue($0) as? Data }, decode: { transformer.reverseTransformedValue($0) })
    }
}
