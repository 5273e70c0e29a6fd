import Synchronization

/// Tells the connections of a pool where the store's external files are; set after they were
/// opened.
final class ExternalFilesReference: Sendable {
    /// Guards the value, which is set once a store is ready.
    private let files = Mutex<ExternalFiles?>(nil)

    var value: ExternalFiles? { files.withLock { $0 } }

    func set(_ value: ExternalFiles?) { files.withLock { $0 = value } }
}
