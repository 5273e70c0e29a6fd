import Foundation

// What options of several types of stores say.
extension NSPersistentStore {
    /// Whether an option holds a true boolean or number.
    package static func flag(_ options: [AnyHashable: Any]?, _ key: String) -> Bool {
        switch options?[key] {
        case let number as NSNumber: number.boolValue
        case let bool as Bool: bool
        case let string as String: (string as NSString).boolValue
        default: false
        }
    }

    /// How many seconds to wait for others, at least 0; nil unless the options say so.
    package static func timeout(_ options: [AnyHashable: Any]?) -> Double? {
        let seconds: Double
        switch options?[NSPersistentStoreTimeoutOption] {
        case let number as NSNumber: seconds = number.doubleValue
        case let number as Double: seconds = number
        case let number as Int: seconds = Double(number)
        default: return nil
        }
        return seconds.isNaN ? 0 : min(max(0, seconds), longestTimeout)
    }

    /// Databases take milliseconds as an integer of 32 bits: 24 days, which is as good as for ever.
    private static let longestTimeout: Double = 2_147_483

    /// How many connections to open at most; nil unless the options say so.
    ///
    /// - Throws: `CocoaError.persistentStoreOpen` (134080) for what is not a number of at least 1.
    package static func mostConnections(_ options: [AnyHashable: Any]?) throws -> Int? {
        guard let size = options?[NSPersistentStoreConnectionPoolMaxSizeKey] else { return nil }
        guard let number = (size as? NSNumber)?.intValue ?? (size as? Int), number > 0 else {
            throw CoreDataErrors.make(
                .persistentStoreOpen, "NSPersistentStoreConnectionPoolMaxSizeKey must be a number of at least 1, not \(size).")
        }
        return number
    }
}
