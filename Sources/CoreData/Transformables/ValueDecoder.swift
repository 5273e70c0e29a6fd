import Foundation

/// The coder with which an object of a program's own class is decoded: it reads the entries of one
/// object of a keyed archive.
///
/// An entry that is missing, of another kind or of a class that is not allowed reads as nil or
/// zero, as with Foundation's unarchiver under `setErrorAndReturn`. In the latter two cases the
/// whole archive is refused.
final class ValueDecoder: NSCoder {
    private let unarchiver: ValueUnarchiver
    private let object: ObjectArchive.Object
    private let classes: [AnyClass]
    private let depth: Int
    private var nextUnkeyed = 0

    init(_ unarchiver: ValueUnarchiver, _ object: ObjectArchive.Object, _ classes: [AnyClass], depth: Int) {
        self.unarchiver = unarchiver
        self.object = object
        self.classes = classes
        self.depth = depth
    }

    override var allowsKeyedCoding: Bool { true }
    override var requiresSecureCoding: Bool { true }
    override var allowedClasses: [AnyClass]? { classes }
    override var decodingFailurePolicy: NSCoder.DecodingFailurePolicy { .setErrorAndReturn }
    override var error: (any Error)? {
        unarchiver.failure.map {
            CocoaError(.coderReadCorrupt, userInfo: [NSDebugDescriptionErrorKey: "The archive \($0.problem)."])
        }
    }
    override func failWithError(_ error: any Error) { unarchiver.fail(error) }
    override func version(forClassName className: String) -> Int { 0 }

    private func entry(_ key: String) -> PropertyListValue? {
        // Archivers escape keys that look like their own.
        unarchiver.archive.entry(key.hasPrefix("$") ? "$" + key : key, of: object)
    }

    private func wrong(_ key: String) {
        unarchiver.fail(
            UnarchivingError.damaged(
                "the '\(key.prefix(200))' of a \(object.className) is of another kind than it should be"))
    }

    override func containsValue(forKey key: String) -> Bool { entry(key) != nil }

    // MARK: Objects

    private func value(_ entry: PropertyListValue?, _ key: String, _ classes: [AnyClass]) -> Any? {
        switch entry {
        case nil: return nil
        case .uid(let number)?:
            do {
                return try unarchiver.value(number, classes, depth: depth)
            } catch {
                unarchiver.fail(error)
                return nil
            }
        case let plain?:
            if let number = plain.number { return number }
            guard let value = plain.foundationValue else {
                wrong(key)
                return nil
            }
            return value
        }
    }

    override func decodeObject(forKey key: String) -> Any? { value(entry(key), key, classes) }

    override func decodeObject(of classes: [AnyClass]?, forKey key: String) -> Any? {
        value(entry(key), key, classes ?? self.classes)
    }

    override func decodeObject<Decoded: NSObject & NSCoding>(of type: Decoded.Type, forKey key: String) -> Decoded? {
        guard let value = value(entry(key), key, [type]) else { return nil }
        if let decoded = value as? Decoded { return decoded }
        wrong(key)
        return nil
    }

    override func decodePropertyList(forKey key: String) -> Any? {
        value(
            entry(key), key, [NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self])
    }

    override func decodeObject() -> Any? {
        let key = "$\(nextUnkeyed)"
        nextUnkeyed += 1
        return value(unarchiver.archive.entry(key, of: object), key, classes)
    }

    override func decodePropertyList() -> Any? { decodeObject() }
    override func decodeData() -> Data? { decodeObject() as? Data }

    // MARK: Numbers

    private func number(_ key: String) -> NSNumber? {
        guard let entry = entry(key) else { return nil }
        if let number = entry.number { return number }
        if case .uid = entry, let number = value(entry, key, []) as? NSNumber { return number }
        wrong(key)
        return nil
    }

    private func integer<Integer: FixedWidthInteger>(_ key: String) -> Integer {
        guard let number = number(key) else { return 0 }
        let value = number.kind == .real ? Integer(exactly: number.doubleValue) : Integer(exactly: number.int64Value)
        if value == nil { wrong(key) }
        return value ?? 0
    }

    override func decodeBool(forKey key: String) -> Bool { number(key)?.boolValue ?? false }
    override func decodeCInt(forKey key: String) -> CInt { integer(key) }
    override func decodeInt32(forKey key: String) -> Int32 { integer(key) }
    override func decodeInt64(forKey key: String) -> Int64 { integer(key) }
    override func decodeInteger(forKey key: String) -> Int { integer(key) }
    override func decodeFloat(forKey key: String) -> Float { number(key)?.floatValue ?? 0 }
    override func decodeDouble(forKey key: String) -> Double { number(key)?.doubleValue ?? 0 }

    // MARK: Bytes

    private func bytes(_ key: String) -> Data? {
        guard let entry = entry(key) else { return nil }
        switch value(entry, key, [NSData.self]) {
        case let data as Data: return data
        case let data as NSData: return data as Data
        case nil: return nil
        default:
            wrong(key)
            return nil
        }
    }

    override func withDecodedUnsafeBufferPointer<Result>(
        forKey key: String, body: (UnsafeBufferPointer<UInt8>?) throws -> Result
    ) rethrows -> Result {
        guard let data = bytes(key) else { return try body(nil) }
        return try data.withUnsafeBytes { try body($0.bindMemory(to: UInt8.self)) }
    }

    /// Values of C types without keys occur in archives older than keyed ones: they read as zero.
    override func decodeValue(ofObjCType type: UnsafePointer<Int8>, at data: UnsafeMutableRawPointer) {
        unarchiver.fail(
            UnarchivingError(problem: "is decoded by a \(object.className) as one without keys, which it is not"))
        // Safe: the caller passes memory for a value of the type; the sizes are those of C on
        // 64-bit machines.
        let sizes: [UInt8: Int] = [
            0x63: 1, 0x43: 1, 0x42: 1, 0x73: 2, 0x53: 2, 0x69: 4, 0x49: 4, 0x66: 4, 0x71: 8, 0x51: 8, 0x6c: 8, 0x4c: 8,
            0x64: 8, 0x40: 8,
        ]
        if let size = sizes[UInt8(bitPattern: type.pointee)] {
            data.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        }
    }
}
