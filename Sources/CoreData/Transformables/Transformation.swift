import Foundation

/// Converts the objects of transformable and composite attributes to bytes and back.
enum Transformation {
    /// The bytes to store; nil if the attribute's transformer returns nil for the value.
    ///
    /// - Throws: code 1550 if the transformer is missing or returns something other than data, and
    ///   for a value that cannot be archived.
    static func data(from value: Any, attribute: NSAttributeDescription) throws -> Data? {
        let place = place(of: attribute)
        if let name = attribute.valueTransformerName, !name.isEmpty {
            guard let transformer = ValueTransformers.transformer(named: name) else {
                throw CoreDataErrors.make(
                    .managedObjectValidation,
                    "The value transformer \(name) of \(place) is not registered.",
                    recovery:
                        "Register it with ValueTransformer.setValueTransformer(_:forName:) before the store is used.")
            }
            let encoded = transformer.encode(value)
            if let bytes = encoded as? Data { return bytes }
            let isArchivable = transformer.archiveClasses == nil || TransformableArchive.data(from: value) != nil
            if encoded == nil || encoded is NSNull, isArchivable { return nil }
            let reason = isArchivable ? nil : TransformableArchive.problem(with: value)
            throw CoreDataErrors.make(
                .managedObjectValidation,
                "The value transformer \(name) of \(place) gave \(encoded.map { "a \(type(of: $0)) and " } ?? "")no "
                    + "data for a "
                    + "\(type(of: value))\(reason.map { ": " + $0 } ?? "").")
        }
        guard let bytes = TransformableArchive.data(from: value) else {
            let reason = TransformableArchive.problem(with: value)
            throw CoreDataErrors.make(
                .managedObjectValidation,
                "A \(type(of: value)) in \(place) cannot be archived\(reason.map { ": " + $0 } ?? "").",
                recovery: "Use a type that conforms to NSCoding, or name a value transformer in the model.")
        }
        return bytes
    }

    /// The object that stored bytes encode; nil if they cannot be decoded, which is reported once
    /// for each attribute.
    static func value(from data: Data, attribute: NSAttributeDescription) -> Any? {
        guard let name = attribute.valueTransformerName, !name.isEmpty else {
            do {
                return try ValueUnarchiver.value(from: data, classes: ValueTransformers.allowedClasses)
            } catch {
                sayUnreadable(attribute, error)
                return nil
            }
        }
        guard let transformer = ValueTransformers.transformer(named: name) else {
            let place = place(of: attribute)
            Warnings.sayOnce(about: "transformer of \(place)") {
                "The value transformer \(name) of \(place) is not registered: its values read as nil, and the store "
                    + "keeps their bytes. "
                    + "Register it with ValueTransformer.setValueTransformer(_:forName:) before the store is used."
            }
            return nil
        }
        if let value = transformer.decode(data) { return value }
        // A custom transformer may return nil on purpose; for an archive the cause of the failure
        // can be reported.
        if let classes = transformer.archiveClasses {
            do throws(UnarchivingError) {
                _ = try ValueUnarchiver.value(from: data, classes: classes)
            } catch {
                sayUnreadable(attribute, error)
            }
        }
        return nil
    }

    private static func place(of attribute: NSAttributeDescription) -> String {
        "\(attribute.owningEntity?.name ?? "?").\(attribute.name)"
    }

    private static func sayUnreadable(_ attribute: NSAttributeDescription, _ error: UnarchivingError) {
        let place = place(of: attribute)
        Warnings.sayOnce(about: "archive of \(place)") {
            "A stored value of \(place) reads as nil, and the store keeps its bytes: its archive \(error.problem)."
                + (error.isForbidden
                    ? " A class is allowed by a subclass of NSSecureUnarchiveFromDataTransformer that lists it among "
                        + "allowedTopLevelClasses."
                    : "")
        }
    }
}

/// The archive format of transformable attributes without a custom transformer.
enum TransformableArchive {
    /// Archives property list types and NSCoding objects.
    ///
    /// Returns nil for anything else, also within collections, and for decimal numbers beside
    /// objects that are not property list types.
    static func data(from value: Any) -> Data? {
        guard let object = object(value), let contents = try? ArchivableValue(object) else { return nil }
        if contents.holdsDecimal { return DecimalArchive.data(from: value) }
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        let data = archiver.encodedData
        // Stores compare bytes: equal values must have the same bytes.
        return (try? PropertyListReader.inOrder(data)) ?? data
    }

    /// The reason why a value cannot be archived, as the end of a sentence; nil if only its type is
    /// the reason.
    static func problem(with value: Any) -> String? {
        guard let object = object(value) else { return nil }
        do {
            _ = try ArchivableValue(object)
            return nil
        } catch {
            return error.reason
        }
    }

    private static func object(_ value: Any) -> NSObject? {
        switch value {
        case let value as NSObject & NSCoding: value
        case let value as String: value as NSString
        case let value as Decimal: NSDecimalNumber(decimal: value)
        case let value as [Any]: value as NSArray
        case let value as [AnyHashable: Any]: value as NSDictionary
        case let value as Date: value as NSDate
        case let value as Data: value as NSData
        case let value as URL: value as NSURL
        case let value as UUID: value as NSUUID
        case let value as Set<AnyHashable>: value as NSSet
        case let value as NSNumber: value
        default: nil
        }
    }

    /// Decodes with an allow-list; nil if the archive is damaged or contains any other class.
    static func value(from data: Data, classes: [AnyClass] = ValueTransformers.allowedClasses) -> Any? {
        (try? ValueUnarchiver.value(from: data, classes: classes)) ?? nil
    }
}

/// Value transformers by name, as a pair of functions.
enum ValueTransformers {
    static let allowedClasses: [AnyClass] = [
        NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSURL.self,
        NSUUID.self,
        NSSet.self, NSOrderedSet.self, NSNull.self, NSDecimalNumber.self, NSAttributedString.self,
    ]

    struct Coding {
        let encode: (Any) -> Any?
        let decode: (Data) -> Any?
        /// The classes that the transformer's archives may contain; nil if its data are not
        /// archives.
        let archiveClasses: [AnyClass]?
    }

    static func transformer(named name: String) -> Coding? {
        guard let transformer = ValueTransformer(forName: NSValueTransformerName(name)) else { return nil }
        // Unarchiving transformers decode data in the forward direction; all other transformers
        // encode in it.
        if let unarchiving = transformer as? NSSecureUnarchiveFromDataTransformer {
            return Coding(
                encode: { transformer.reverseTransformedValue($0) }, decode: { transformer.transformedValue($0) },
                archiveClasses: type(of: unarchiving).allowedTopLevelClasses)
        }
        return Coding(
            encode: { transformer.transformedValue($0) }, decode: { transformer.reverseTransformedValue($0) },
            archiveClasses: nil)
    }
}
