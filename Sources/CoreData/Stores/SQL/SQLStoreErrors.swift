import Foundation

/// Errors of the SQL stores in Cocoa's domain.
enum SQLStoreErrors {
    /// - Parameter message: what happened, to which entity, property or file, and what to do.
    static func make(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> NSError {
        var info = userInfo
        info[NSLocalizedDescriptionKey] = message
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }
}

/// The codes of `NSCocoaErrorDomain` that SQL stores use.
enum CocoaCode {
    static let fileReadCorruptFile = 259
    static let fileNoSuchFile = 260
    static let fileWriteUnknown = 512
    static let fileWriteNoPermission = 513
    static let fileWriteOutOfSpace = 640
    static let persistentStoreInvalidType = 134000
    static let persistentStoreIncompatibleSchema = 134020
    static let persistentStoreOperation = 134070
    static let persistentStoreOpen = 134080
    static let persistentStoreTimeout = 134090
    static let persistentStoreUnsupportedRequestType = 134091
    static let coreDataError = 134060
}
