import Foundation

// Values of options that several store types share.
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

    /// Whether a program requests history, which then begins if there is none.
    package static func wantsHistory(_ options: [AnyHashable: Any]?) -> Bool {
        guard let option = options?[NSPersistentHistoryTrackingKey] else { return false }
        return option is [AnyHashable: Any] || option is NSDictionary || flag(options, NSPersistentHistoryTrackingKey)
    }

    /// The number of seconds to wait for other processes, at least 0; nil unless the options set
    /// it.
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

    /// The longest timeout in seconds: 24 days, as databases take milliseconds as a 32-bit integer.
    private static let longestTimeout: Double = 2_147_483

    /// The maximum number of connections; nil unless the options set it.
    ///
    /// - Throws: `CocoaError.persistentStoreOpen` (134080) for a value that is not a number of at
    ///   least 1.
    package static func mostConnections(_ options: [AnyHashable: Any]?) throws -> Int? {
        guard let size = options?[NSPersistentStoreConnectionPoolMaxSizeKey] else { return nil }
        guard let number = (size as? NSNumber)?.intValue ?? (size as? Int), number > 0 else {
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "NSPersistentStoreConnectionPoolMaxSizeKey must be a number of at least 1, not \(size).")
        }
        return number
    }
}
