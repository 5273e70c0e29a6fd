import Foundation

/// Makes the errors that Core Data throws.
///
/// Each is an `NSError` (`CoreDataError`) in `NSCocoaErrorDomain`; on every platform `error as?
/// CocoaError` and `catch CocoaError.managedObjectMerge` match it too.
package enum CoreDataErrors {
    /// An error with a message for a person.
    ///
    /// - Parameters:
    ///   - message: What happened, to which entity, property, object or file.
    ///   - recovery: Advice: what to do about it.
    ///   - userInfo: Further entries; they replace the message and the advice if they have the same
    ///     keys.
    package static func make(
        _ code: CocoaError.Code, _ message: String, recovery: String? = nil, userInfo: [String: Any] = [:]
    ) -> NSError {
        var entries: [String: Any] = [NSLocalizedDescriptionKey: message]
        if let recovery { entries[NSLocalizedRecoverySuggestionErrorKey] = recovery }
        entries.merge(userInfo) { _, given in given }
        return CoreDataError(domain: NSCocoaErrorDomain, code: code.rawValue, userInfo: entries)
    }
}

/// The class of the engine's errors, which print their descriptions: Foundation's on Linux print
/// the failure reason.
final class CoreDataError: NSError, @unchecked Sendable {
    // Sendable: as its superclass; nothing is added.

    override var description: String { "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\"" }
}
