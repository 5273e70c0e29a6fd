import Foundation

/// Makes the errors that Core Data throws.
///
/// Each is an `NSError` (`CoreDataError`) in `NSCocoaErrorDomain`; on every platform `error as? CocoaError` and
/// `catch CocoaError.managedObjectMerge` match it too.
package enum CoreDataErrors {
    /// An error with a message for a person.
    ///
    /// - Parameters:
    ///   - message: what happened, to which entity, property, object or file.
    ///   - recovery: what to do about it.
    ///   - userInfo: further entries; they win over the message and the advice.
    package static func make(
        _ code: CocoaError.Code, _ message: String, recovery: String? = nil, userInfo: [String: Any] = [:]
    ) -> NSError {
        var entries: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let recovery { entries[NSLocalizedRecoverySuggestionErrorKey] = recovery }
        entries.merge(userInfo) { _, given in given }
        return CoreDataError(domain: NSCocoaErrorDomain, code: code.rawValue, userInfo: entries)
    }
}
