import Foundation

/// The class of the engine's errors, which print their descriptions: Foundation's on Linux print
/// the failure reason.
final class CoreDataError: NSError, @unchecked Sendable {
    // Sendable: as its superclass; nothing is added.

    override var description: String { "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\"" }
}
