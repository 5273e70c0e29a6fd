import Foundation

/// A parsed keyed archive: a table of objects that refer to each other by number. Nothing is
/// instantiated by class name.
package struct ObjectArchive {
    /// An object of the table with a class.
    package struct Object {
        /// The number of the object in the table. The same object has the same number.
        package let number: Int
        package let className: String
        fileprivate let entries: [String: PropertyListValue]
    }

    /// The number of objects and elements that may still be read: objects may refer to each other
    /// many times over.
    private final class Budget {
        var remaining: Int
        /// The number of bytes of texts and data that may still be copied. Equal ones are stored
        /// once, and this many times if they are copied.
        var remainingBytes: Int

        init(size: Int) {
            remaining = 100_000 + 16 * size
            remainingBytes = 1 << 28 + 16 * size
        }
    }

    let objects: [PropertyListValue]
    private let budget: Budget
    package let root: Int
    /// Whether the root object is all that was archived.
    package let hasOnlyRoot: Bool

    /// - Parameter key: The key of the root object.
    /// - Throws: `ModelReadingError` when the data is not a keyed archive.
    package init(_ data: Data, key: String = "root") throws {
        guard case .dictionary(let archive) = try BinaryPropertyListReader.read(data),
            case .array(let objects)? = archive["$objects"], case .dictionary(let top)? = archive["$top"],
            case .string("NSKeyedArchiver")? = archive["$archiver"], case .uid(let root)? = top[key]
        else { throw ModelReadingError.damagedArchive("This is not a keyed archive.") }
        self.objects = objects
        self.root = root
        hasOnlyRoot = top.count == 1
        budget = Budget(size: data.count)
    }

    /// Counts values that were read, and bytes of texts and data that are copied.
    package func spend(_ count: Int, bytes: Int = 0) throws {
        budget.remaining -= count
        budget.remainingBytes -= bytes
        guard budget.remaining >= 0, budget.remainingBytes >= 0 else {
            throw ModelReadingError.damagedArchive("The archive's objects refer to each other far too often.")
        }
    }

    /// Returns a value of the table: a text, a number, nil for `$null`, or a dictionary for an
    /// object.
    package func value(_ number: Int) throws -> PropertyListValue? {
        try spend(1)
        guard objects.indices.contains(number) else {
            throw ModelReadingError.damagedArchive("The archive refers to an object \(number) that it does not have.")
        }
        if number == 0 { return nil }
        return objects[number]
    }

    package func object(_ number: Int) throws -> Object? {
        guard let value = try value(number) else { return nil }
        guard case .dictionary(let entries) = value else {
            throw ModelReadingError.damagedArchive("The archive's object \(number) is not of the expected kind.")
        }
        guard case .uid(let classNumber)? = entries["$class"],
            case .dictionary(let description)? = try self.value(classNumber),
            case .string(let className)? = description["$classname"]
        else { throw ModelReadingError.damagedArchive("The archive's object \(number) has no class.") }
        return Object(number: number, className: className, entries: entries)
    }

    /// Returns an object's entry as it is stored; nil when there is none.
    package func entry(_ key: String, of object: Object) -> PropertyListValue? { object.entries[key] }

    /// Returns the number that an object's entry refers to; nil if the entry is missing or `$null`.
    package func reference(_ key: String, of object: Object) throws -> Int? {
        switch object.entries[key] {
        case nil, .uid(0)?: return nil
        case .uid(let number)?: return number
        default: throw wrongEntry(key, of: object)
        }
    }

    package func object(_ key: String, of object: Object) throws -> Object? {
        try reference(key, of: object).flatMap { try self.object($0) }
    }

    package func text(_ key: String, of object: Object) throws -> String? {
        try reference(key, of: object).flatMap { try text($0) }
    }

    /// Returns the text at a number, which is a plain text or an object of a string class.
    package func text(_ number: Int) throws -> String? {
        switch try value(number) {
        case nil: return nil
        case .string(let text)?: return text
        case .dictionary?:
            guard let object = try self.object(number), ["NSString", "NSMutableString"].contains(object.className)
            else { throw notText(number) }
            switch object.entries["NS.string"] {
            case .string(let text)?: return text
            case .uid(let inner)? where inner != number:
                guard case .string(let text)? = try value(inner) else { return nil }
                return text
            default: return nil
            }
        default: throw notText(number)
        }
    }

    /// Returns a number that is stored in the object itself; nil when there is no such entry.
    package func integer(_ key: String, of object: Object) throws -> Int? {
        switch object.entries[key] {
        case nil: return nil
        case .integer(let value)?: return Int(value)
        case .unsignedInteger?: return Int.max
        case .boolean(let value)?: return value ? 1 : 0
        case .real(let value)?: return Int(exactly: value.rounded())
        default: throw wrongEntry(key, of: object)
        }
    }

    /// Returns a Boolean that is stored in the object itself; false when there is no such entry.
    package func boolean(_ key: String, of object: Object) throws -> Bool {
        try integer(key, of: object) ?? 0 != 0
    }

    /// Returns the numbers of the elements of a list or set; nil when there is no such entry.
    package func elements(_ key: String, of object: Object) throws -> [Int]? {
        try self.object(key, of: object).map { try elements(of: $0) }
    }

    package func elements(of object: Object) throws -> [Int] {
        guard Self.listClasses.contains(object.className) else {
            throw ModelReadingError.damagedArchive("The archive has a \(object.className) where it should have a list.")
        }
        return try references("NS.objects", of: object)
    }

    private static let listClasses: Set<String> = [
        "NSArray", "NSMutableArray", "NSSet", "NSMutableSet", "NSOrderedSet", "NSMutableOrderedSet",
    ]

    /// Returns the keys of a dictionary and the numbers of its values, in the order of the archive.
    package func dictionary(_ key: String, of object: Object) throws -> [(key: String, value: Int)]? {
        guard let dictionary = try self.object(key, of: object) else { return nil }
        return try entries(of: dictionary).map { key, value in
            guard let text = try text(key) else {
                throw ModelReadingError.damagedArchive("The archive has a dictionary with a key that is not a text.")
            }
            return (text, value)
        }
    }

    /// Returns the numbers of a dictionary's keys and values, in the order of the archive.
    package func entries(of object: Object) throws -> [(key: Int, value: Int)] {
        let keys: [Int]
        let values: [Int]
        switch object.className {
        case "NSDictionary", "NSMutableDictionary":
            keys = try references("NS.keys", of: object)
            values = try references("NS.objects", of: object)
        case _ where object.className.hasPrefix("NSKnownKeysDictionary"):
            guard let mapping = try self.object("searchMapping", of: object) else {
                throw ModelReadingError.damagedArchive("The archive has a dictionary without keys.")
            }
            keys = try elements("keys", of: mapping) ?? []
            values = try elements("values", of: object) ?? []
        default:
            throw ModelReadingError.damagedArchive(
                "The archive has a \(object.className) where it should have a dictionary.")
        }
        guard keys.count == values.count else {
            throw ModelReadingError.damagedArchive("The archive has a dictionary with more keys than values or fewer.")
        }
        let emptySlot = object.entries["emptyToken"]
        return zip(keys, values).filter { .uid($0.1) != emptySlot }.map { (key: $0.0, value: $0.1) }
    }

    /// Returns the value at a number as Foundation has it: text, number, date, data, identifier,
    /// address or collection.
    ///
    /// An object of any other class gives nil, and collections leave it out. With `isWhole`, a
    /// collection that contains one is nil instead, null counts as a value, and numbers may be
    /// keys.
    package func plainValue(_ number: Int, depth: Int = 0, isWhole: Bool = false) throws -> Any? {
        guard depth < 16 else { throw ModelReadingError.damagedArchive("The archive's values are nested too deeply.") }
        switch try value(number) {
        case nil, .null?, .uid?, .array?: return nil
        case .dictionary?: return try object(number).flatMap { try plainValue($0, depth: depth, isWhole) }
        case let value?: return value.foundationValue
        }
    }

    private func plainValue(_ object: Object, depth: Int, _ isWhole: Bool) throws -> Any? {
        switch object.className {
        case "NSString", "NSMutableString": return try text(object.number)
        case "NSDate":
            guard case .real(let seconds)? = object.entries["NS.time"] else {
                return try integer("NS.time", of: object).map { Date(timeIntervalSinceReferenceDate: Double($0)) }
            }
            return Date(timeIntervalSinceReferenceDate: seconds)
        case "NSData", "NSMutableData":
            switch object.entries["NS.data"] {
            case .data(let data)?: return data
            case .uid(let inner)?:
                guard case .data(let data)? = try value(inner) else { return nil }
                return data
            default: return nil
            }
        case "NSUUID":
            guard case .data(let data)? = object.entries["NS.uuidbytes"], data.count == 16 else { return nil }
            return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        case "NSURL":
            guard let text = try text("NS.relative", of: object) else { return nil }
            return URL(string: text)
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return try ArchivedDecimal.number(object, in: self)
        case _ where Self.listClasses.contains(object.className):
            let numbers = try elements(of: object)
            let values = try numbers.compactMap { try plainValue($0, depth: depth + 1, isWhole: isWhole) }
            return isWhole && values.count < numbers.count ? nil : values
        case "NSDictionary", "NSMutableDictionary":
            let entries = try entries(of: object)
            var values: [String: Any] = [:]
            // Keys of other kinds are ignored.
            for (key, number) in entries {
                guard let key = try self.key(key, depth: depth + 1, isWhole) else { continue }
                values[key] = try plainValue(number, depth: depth + 1, isWhole: isWhole)
            }
            return isWhole && values.count < entries.count ? nil : values
        case "NSNull": return isWhole ? NSNull() : nil
        default: return nil
        }
    }

    private func key(_ number: Int, depth: Int, _ isWhole: Bool) throws -> String? {
        let key = try plainValue(number, depth: depth, isWhole: isWhole)
        if isWhole, let number = key as? NSNumber { return number.stringValue }
        return key as? String
    }

    package func data(_ key: String, of object: Object) throws -> Data? {
        guard case .data(let data)? = object.entries[key] else { return nil }
        return data
    }

    package func references(_ key: String, of object: Object) throws -> [Int] {
        guard case .array(let values)? = object.entries[key] else { throw wrongEntry(key, of: object) }
        try spend(values.count)
        return try values.map { value in
            guard case .uid(let number) = value else { throw wrongEntry(key, of: object) }
            return number
        }
    }

    private func notText(_ number: Int) -> ModelReadingError {
        ModelReadingError.damagedArchive("The archive's object \(number) is not a text.")
    }

    private func wrongEntry(_ key: String, of object: Object) -> ModelReadingError {
        ModelReadingError.damagedArchive("The archive has a \(object.className) whose '\(key)' is missing or wrong.")
    }
}
