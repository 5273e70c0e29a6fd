import Foundation

/// Keyed archives of property lists that hold decimal numbers.
///
/// Foundation on Linux cannot write them, as it cannot hash an `NSDecimalNumber`.
enum DecimalArchive {
    private static let maximumDepth = 16

    /// The archive of a value; nil if it contains anything that is not a property list.
    static func data(from value: Any) -> Data? {
        guard let value = propertyList(value) else { return nil }
        return try? ObjectArchiveWriter.data { writer in
            guard let root = writer.plainValue(value) else {
                throw ModelReadingError.damagedArchive("The value is no property list.")
            }
            return root
        }
    }

    /// The value with Swift's arrays and dictionaries; nil if it contains anything that is not a
    /// property list.
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
}
