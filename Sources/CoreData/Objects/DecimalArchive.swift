import Foundation

/// Keyed archives of property lists that hold decimal numbers.
///
/// Foundation on Linux can neither write them, as it cannot hash an `NSDecimalNumber`, nor read those of a Mac.
enum DecimalArchive {
    private static let maximumDepth = 16

    /// Whether a value is a decimal number or an array or dictionary with one in it.
    static func holdsDecimal(_ value: Any, depth: Int = 0) -> Bool {
        if depth > maximumDepth { return false }
        switch value {
        case is NSDecimalNumber, is Decimal: return true
        case let array as NSArray: return array.contains { holdsDecimal($0, depth: depth + 1) }
        case let dictionary as NSDictionary: return dictionary.contains { holdsDecimal($0.value, depth: depth + 1) }
        case let array as [Any]: return array.contains { holdsDecimal($0, depth: depth + 1) }
        case let dictionary as [AnyHashable: Any]: return dictionary.contains { holdsDecimal($0.value, depth: depth + 1) }
        default: return false
        }
    }

    /// The archive of a value; nil when something in it is no property list.
    static func data(from value: Any) -> Data? {
        guard let value = propertyList(value) else { return nil }
        return try? ObjectArchiveWriter.data { writer in
            guard let root = writer.plainValue(value) else { throw ModelReadingError.damagedArchive("The value is no property list.") }
            return root
        }
    }

    /// The value with Swift's arrays and dictionaries; nil when something in it is no property list.
    private static func propertyList(_ value: Any, depth: Int = 0) -> Any? {
        if depth > maximumDepth { return nil }
        switch value {
        case is String, is NSNumber, is Date, is Data, is UUID, is URL: return value
        case let decimal as Decimal: return NSDecimalNumber(decimal: decimal)
        case let array as [Any]:
            let elements = array.compactMap { propertyList($0, depth: depth + 1) }
            return elements.count == array.count ? elements : nil
        case let dictionary as [AnyHashable: Any]:
            var result: [AnyHashable: Any] = [:]
            for (key, element) in dictionary {
                guard key.base is String, let element = propertyList(element, depth: depth + 1) else { return nil }
                result[key] = element
            }
            return result
        default: return nil
        }
    }

    /// The value of an archive that holds decimal numbers in property lists; nil for any other archive.
    ///
    /// - Parameter classes: what the archive may hold; decimal numbers must be among it.
    static func value(from data: Data, classes: [AnyClass]) -> Any? {
        // Most archives do not hold any, and are not taken apart twice.
        guard data.range(of: Data("NSDecimalNumber".utf8)) != nil,
            classes.contains(where: { $0 == NSDecimalNumber.self || $0 == NSNumber.self }),
            let archive = try? ObjectArchive(data), archive.holdsOnly(plainClasses)
        else { return nil }
        return (try? archive.plainValue(archive.root)).flatMap { value in
            value.map(foundation)
        }
    }

    private static let plainClasses: Set<String> = [
        "NSString", "NSMutableString", "NSNumber", "NSDecimalNumber", "NSDecimalNumberPlaceholder", "NSDate", "NSData",
        "NSMutableData", "NSUUID", "NSURL", "NSArray", "NSMutableArray", "NSDictionary", "NSMutableDictionary",
    ]

    /// The value in the classes that the unarchiver gives.
    private static func foundation(_ value: Any) -> Any {
        switch value {
        case let array as [Any]: NSArray(array: array.map(foundation))
        case let dictionary as [String: Any]: NSDictionary(dictionary: dictionary.mapValues(foundation))
        default: value
        }
    }
}
