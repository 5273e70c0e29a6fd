import CoreData

/// The notifications that one object posts, in order.
public final class NotificationLog: @unchecked Sendable {
    private let lock = NSLock()
    /// Guarded by `lock`.
    private var received: [Notification] = []
    private var tokens: [any NSObjectProtocol] = []

    public init(_ names: [Notification.Name], from object: AnyObject) {
        for name in names {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) { [weak self] in
                    self?.append($0)
                })
        }
    }

    public convenience init(_ name: Notification.Name, from object: AnyObject) { self.init([name], from: object) }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

    public var all: [Notification] { lock.withLock { received } }
    public var names: [Notification.Name] { all.map(\.name) }
    public var count: Int { all.count }
    public func clear() { lock.withLock { received = [] } }

    private func append(_ notification: Notification) { lock.withLock { received.append(notification) } }
}

extension Notification {
    /// The managed objects under a key, none when there is no such key.
    public func objects(_ key: String) -> Set<NSManagedObject> { userInfo?[key] as? Set<NSManagedObject> ?? [] }

    /// The object IDs under a key, none when there is no such key.
    public func objectIDs(_ key: String) -> Set<NSManagedObjectID> { userInfo?[key] as? Set<NSManagedObjectID> ?? [] }
}
