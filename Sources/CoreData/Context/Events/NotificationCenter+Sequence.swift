import Foundation

// Notifications as an asynchronous sequence, which Foundation on Linux lacks.
extension NotificationCenter {
    /// Returns the notifications with a name that are posted after iteration has begun.
    ///
    /// ```swift
    /// for await save in NotificationCenter.default.notifications(
    ///     named: .NSManagedObjectContextDidSaveObjectIDs)
    /// {
    ///     print(save.userInfo?[NSInsertedObjectIDsKey] ?? [])
    /// }
    /// ```
    ///
    /// - Parameter object: The object whose notifications to return; nil for those of all objects.
    public func notifications(named name: Notification.Name, object: AnyObject? = nil) -> Notifications {
        Notifications(center: self, name: name, object: object)
    }

    /// Notifications of one name. Those posted while no loop waits are kept for the next iteration.
    public final class Notifications: AsyncSequence, Sendable {
        public typealias Element = Notification

        private let center: NotificationCenter
        private let name: Notification.Name
        /// Only compared.
        private let object: Unchecked<AnyObject?>

        fileprivate init(center: NotificationCenter, name: Notification.Name, object: AnyObject?) {
            self.center = center
            self.name = name
            self.object = Unchecked(object)
        }

        /// Observes the center as long as it lives.
        public func makeAsyncIterator() -> Iterator {
            let (stream, continuation) = AsyncStream<Unchecked<Notification>>.makeStream()
            // A notification passes from the thread that posts it to the one that waits.
            let token = center.addObserver(forName: name, object: object.value, queue: nil) {
                continuation.yield(Unchecked($0))
            }
            let observation = Unchecked((center: center, token: token))
            continuation.onTermination = { _ in observation.value.center.removeObserver(observation.value.token) }
            return Iterator(base: stream.makeAsyncIterator())
        }

        /// Waits for one notification after another.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<Unchecked<Notification>>.Iterator

            /// The next notification; nil once the task was cancelled.
            public mutating func next() async -> Notification? { await base.next()?.value }
        }
    }
}
