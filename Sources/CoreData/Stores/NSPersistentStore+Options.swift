import Foundation

// What options of several types of stores say.
extension NSPersistentStore {
    /// Whether an option holds a true boolean or number.
    static func flag(_ options: [AnyHashable: Any]?, _ key: String) -> Bool {
        switch options?[key] {
        case let number as NSNumber: number.boolValue
        case let bool as Bool: bool
        case let string as String: (string as NSString).boolValue
        default: false
        }
    }

    /// How many seconds to wait for others, at least 0; nil unless the options say so.
    static func timeout(_ options: [AnyHashable: Any]?) -> Double? {
        switch options?[NSPersistentStoreTimeoutOption] {
        case let number as NSNumber: max(0, number.doubleValue)
        case let seconds as Double: max(0, seconds)
        case let seconds as Int: max(0, Double(seconds))
        default: nil
        }
    }

    /// How many connections to open at most; nil unless the options say so.
    ///
    /// - Throws: `CocoaError.persistentStoreOpen` (134080) for what is not a number of at least 1.
    static func mostConnections(_ options: [AnyHashable: Any]?) throws -> Int? {
        guard let size = options?[NSPersistentStoreConnectionPoolMaxSizeKey] else { return nil }
        guard let number = (size as? NSNumber)?.intValue ?? (size as? Int), number > 0 else {
            throw CoreDataErrors.make(
                .persistentStoreOpen, "NSPersistentStoreConnectionPoolMaxSizeKey must be a number of at least 1, not \(size).")
        }
        return number
    }
}
