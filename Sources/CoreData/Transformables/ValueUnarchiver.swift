import Foundation

/// Makes the value of a keyed archive, without trust in any byte of it.
///
/// Foundation's unarchiver on Linux ends the program at a class that is not allowed and at many
/// kinds of damage. Here a reader with limits first parses the archive. Then Foundation's value
/// classes are made directly. Other classes, if the list allows them, are made by their
/// `init(coder:)` with a coder that reads the parsed archive. Cost: O(number of bytes), and the
/// cost of the initializers of other classes.
final class ValueUnarchiver {
    private enum State {
        case open
        /// The object, and the number of values in it, counted at each occurrence.
        case made(Any, count: Int)
    }

    static let depthLimit = 256

    let archive: ObjectArchive
    private var states: [Int: State] = [:]
    /// Classes other than standard ones, by name.
    private var classes: [String: AnyClass] = [:]
    /// The number of values so far in the object that is being made.
    private var count = 0
    private let countLimit: Int
    /// The first error while an object decoded its parts.
    private(set) var failure: UnarchivingError?

    private init(_ archive: ObjectArchive, size: Int) {
        self.archive = archive
        // An object may occur in many places, but comparing or printing the value visits all of
        // them.
        countLimit = max(4_000_000, 16 * size)
    }

    /// The value in an archive; nil for an archive of nil.
    ///
    /// - Parameter classes: the classes that the archive may contain, including subclasses; texts,
    ///   numbers, dates and data are always allowed.
    /// - Throws: `UnarchivingError`.
    static func value(from data: Data, classes: [AnyClass]) throws(UnarchivingError) -> Any? {
        do {
            if data.starts(with: Data("\u{4}\u{b}streamtyped".utf8)) {
                throw UnarchivingError(problem: "is of the kind before keyed archives, which only a Mac reads")
            }
            let unarchiver = ValueUnarchiver(try ObjectArchive(data), size: data.count)
            let value = try unarchiver.value(unarchiver.archive.root, classes, depth: 0)
            if let failure = unarchiver.failure { throw failure }
            return value
        } catch {
            throw Self.unarchivingError(error)
        }
    }

    private static func unarchivingError(_ error: any Error) -> UnarchivingError {
        switch error {
        case let error as UnarchivingError: error
        case let error as ModelReadingError: .damaged(error.problem)
        default: .damaged(error.localizedDescription)
        }
    }

    /// Records why a part could not be decoded; the whole archive is then refused.
    func fail(_ error: any Error) {
        failure = failure ?? Self.unarchivingError(error)
    }

    /// The value with a number in the object table.
    func value(_ number: Int, _ classes: [AnyClass], depth: Int) throws -> Any? {
        switch try archive.value(number) {
        case nil, .null?: return nil
        case .boolean(let value)?: return NSNumber(value: value)
        case .integer(let value)?: return NSNumber(value: value)
        case .unsignedInteger(let value)?: return NSNumber(value: value)
        case .real(let value)?: return NSNumber(value: value)
        case .date(let seconds)?: return NSDate(timeIntervalSinceReferenceDate: seconds)
        case .data(let data)?: return NSData(data: data)
        case .string(let text)?: return NSString(string: text)
        case .uid?, .array?: throw UnarchivingError.damaged("its object \(number) has no class")
        case .dictionary?: return try object(number, classes, depth: depth)
        }
    }

    private func object(_ number: Int, _ classes: [AnyClass], depth: Int) throws -> Any? {
        guard let object = try archive.object(number) else { return nil }
        let type: AnyClass = try allowedClass(object.className, classes)
        switch states[number] {
        case .open?:
            throw UnarchivingError.damaged("its object \(number), of the class '\(object.className)', contains itself")
        case .made(let value, let count)?:
            try add(count)
            return value
        case nil: break
        }
        guard depth < Self.depthLimit else {
            throw UnarchivingError(problem: "is nested more than \(Self.depthLimit) objects deep")
        }
        states[number] = .open
        let outer = count
        count = 1
        let value = try make(object, type, classes, depth: depth + 1)
        states[number] = .made(value, count: count)
        let inner = count
        count = outer
        try add(inner)
        return value
    }

    private func add(_ more: Int) throws {
        count += more
        guard count <= countLimit else {
            throw UnarchivingError.damaged("its objects refer to each other far too often")
        }
    }

    // MARK: Classes

    private func allowedClass(_ name: String, _ classes: [AnyClass]) throws -> AnyClass {
        if let chosen = NSKeyedUnarchiver.`class`(forClassName: name) {
            guard isAllowed(chosen, classes) else { throw UnarchivingError.forbidden(name) }
            return chosen
        }
        if let standard = Self.standardClasses[name] {
            guard Self.leafClasses.contains(name) || isAllowed(standard, classes) else {
                throw UnarchivingError.forbidden(name)
            }
            return standard
        }
        if let found = self.classes[name], isAllowed(found, classes) { return found }
        for allowed in classes {
            guard case .found(let found) = ClassLookup.find(name, inheritingFrom: allowed) else { continue }
            self.classes[name] = found
            return found
        }
        throw UnarchivingError.forbidden(name)
    }

    private func isAllowed(_ type: AnyClass, _ classes: [AnyClass]) -> Bool {
        classes.contains { ClassLookup.inherits(type, from: $0) }
    }

    /// The names of classes that every archive may contain.
    private static let leafClasses: Set<String> = [
        "NSString", "NSMutableString", "NSNumber", "NSDate", "NSData", "NSMutableData",
    ]

    private static let standardClasses: [String: AnyClass] = [
        "NSString": NSString.self, "NSMutableString": NSMutableString.self, "NSNumber": NSNumber.self,
        "NSDecimalNumber": NSDecimalNumber.self, "NSDecimalNumberPlaceholder": NSDecimalNumber.self,
        "NSDate": NSDate.self,
        "NSData": NSData.self, "NSMutableData": NSMutableData.self, "NSURL": NSURL.self, "NSUUID": NSUUID.self,
        "NSNull": NSNull.self, "NSArray": NSArray.self, "NSMutableArray": NSMutableArray.self, "NSSet": NSSet.self,
        "NSMutableSet": NSMutableSet.self, "NSOrderedSet": NSOrderedSet.self,
        "NSMutableOrderedSet": NSMutableOrderedSet.self,
        "NSDictionary": NSDictionary.self, "NSMutableDictionary": NSMutableDictionary.self,
        "NSAttributedString": NSAttributedString.self, "NSMutableAttributedString": NSMutableAttributedString.self,
    ]

    // MARK: Objects

    private func make(_ object: ObjectArchive.Object, _ type: AnyClass, _ classes: [AnyClass], depth: Int) throws -> Any
    {
        if Self.standardClasses[object.className] == type {
            guard let value = try standardValue(object, classes, depth: depth) else {
                throw UnarchivingError.damaged("its object \(object.number) is no \(object.className)")
            }
            return value
        }
        guard let coding = type as? any NSCoding.Type else { throw UnarchivingError.forbidden(object.className) }
        let decoder = ValueDecoder(self, object, classes, depth: depth)
        guard let value = coding.init(coder: decoder) else {
            throw failure ?? .damaged("the class '\(object.className)' makes no object of object \(object.number)")
        }
        return value
    }

    private func standardValue(_ object: ObjectArchive.Object, _ classes: [AnyClass], depth: Int) throws -> Any? {
        switch object.className {
        case "NSArray": return NSArray(array: try elements(of: object, classes, depth: depth))
        case "NSMutableArray": return NSMutableArray(array: try elements(of: object, classes, depth: depth))
        case "NSSet": return NSSet(array: try members(of: object, classes, depth: depth))
        case "NSMutableSet": return NSMutableSet(array: try members(of: object, classes, depth: depth))
        case "NSOrderedSet": return NSOrderedSet(array: try members(of: object, classes, depth: depth))
        case "NSMutableOrderedSet": return NSMutableOrderedSet(array: try members(of: object, classes, depth: depth))
        case "NSDictionary": return try dictionary(of: object, classes, depth: depth).copy()
        case "NSMutableDictionary": return try dictionary(of: object, classes, depth: depth)
        case "NSAttributedString":
            return NSAttributedString(attributedString: try attributedString(object, classes, depth: depth))
        case "NSMutableAttributedString": return try attributedString(object, classes, depth: depth)
        default: return try leaf(object, classes, depth: depth)
        }
    }

    /// A value that contains no other values.
    private func leaf(_ object: ObjectArchive.Object, _ classes: [AnyClass], depth: Int) throws -> Any? {
        switch object.className {
        case "NSString": return try archive.text(object.number).map { NSString(string: $0) }
        case "NSMutableString": return try archive.text(object.number).map { NSMutableString(string: $0) }
        case "NSData", "NSMutableData":
            guard let data = try data("NS.data", of: object) ?? data("NS.bytes", of: object) else { return nil }
            return object.className == "NSData" ? NSData(data: data) : NSMutableData(data: data)
        case "NSDate":
            return (archive.entry("NS.time", of: object)?.number).map {
                NSDate(timeIntervalSinceReferenceDate: $0.doubleValue)
            }
        case "NSNumber":
            return ["NS.number", "NS.dblval", "NS.floatval", "NS.intval", "NS.boolval"].lazy
                .compactMap { self.archive.entry($0, of: object)?.number }.first
        case "NSURL":
            guard let text = try archive.text("NS.relative", of: object) else { return nil }
            let base = try archive.reference("NS.base", of: object).flatMap {
                try value($0, [NSURL.self], depth: depth) as? NSURL
            }
            return NSURL(string: text, relativeTo: base as URL?)
        case "NSUUID":
            guard let bytes = try archive.data("NS.uuidbytes", of: object), bytes.count == 16 else { return nil }
            return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) } as NSUUID
        case "NSNull": return NSNull()
        case "NSDecimalNumber", "NSDecimalNumberPlaceholder": return try ArchivedDecimal.number(object, in: archive)
        default: return nil
        }
    }

    /// Bytes that are stored in an object, or in the object table.
    private func data(_ key: String, of object: ObjectArchive.Object) throws -> Data? {
        switch archive.entry(key, of: object) {
        case .data(let data)?: return data
        case .uid(let number)?:
            guard case .data(let data)? = try archive.value(number) else { return nil }
            return data
        default: return nil
        }
    }
}

extension PropertyListValue {
    var number: NSNumber? {
        switch self {
        case .boolean, .integer, .unsignedInteger, .real: foundationValue as? NSNumber
        default: nil
        }
    }
}

/// The reason why an archive of values was not read.
struct UnarchivingError: Error, Sendable {
    /// The problem, as the end of a sentence that begins with the archive.
    let problem: String
    var isForbidden = false

    static func forbidden(_ className: String) -> UnarchivingError {
        UnarchivingError(
            problem: "holds an object of the class '\(className.prefix(200))', which it may not hold", isForbidden: true
        )
    }

    static func damaged(_ detail: String) -> UnarchivingError {
        UnarchivingError(problem: "is damaged: \(detail)")
    }
}
