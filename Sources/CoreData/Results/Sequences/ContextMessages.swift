import Foundation

/// The notifications of a context as a sequence of typed values.
///
/// Notifications that are posted while no task waits are kept.
///
/// ```swift
/// for await message in context.notifications(of: .didSaveObjectIDs) { print(message.insertedIDs) }
/// ```
public struct ContextMessages<Message>: AsyncSequence, Sendable {
    public typealias Element = Message

    fileprivate let notifications: NotificationCenter.Notifications
    fileprivate let make: @Sendable (Notification) -> Message?

    /// Observes the context as long as the iterator lives.
    public func makeAsyncIterator() -> Iterator { Iterator(base: notifications.makeAsyncIterator(), make: make) }

    /// Waits for one message after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: NotificationCenter.Notifications.Iterator
        fileprivate let make: @Sendable (Notification) -> Message?

        /// The next message; nil once the task was cancelled.
        public mutating func next() async -> Message? {
            while let notification = await base.next() {
                if let message = make(notification) { return message }
            }
            return nil
        }
    }
}

extension NSManagedObjectContext {
    /// A kind of notification that contexts post, with the type that its contents have.
    ///
    /// ```swift
    /// // saves: a sequence of DidSaveObjectIDsMessage
    /// let saves = context.notifications(of: .didSaveObjectIDs)
    /// for await save in saves { print(save.insertedIDs.count) }
    /// ```
    public struct MessageKind<Message>: Sendable {
        fileprivate let name: Notification.Name
        fileprivate let make: @Sendable (Notification) -> Message?

        fileprivate init(
            _ name: Notification.Name, _ make: @escaping @Sendable (NSManagedObjectContext, Notification) -> Message
        ) {
            self.name = name
            self.make = { notification in
                (notification.object as? NSManagedObjectContext).map { make($0, notification) }
            }
        }
    }

    /// The context's notifications of a kind, from the time when iteration begins.
    ///
    /// ```swift
    /// for await message in context.notifications(of: .didSave) {
    ///     await context.perform { show(message.inserted) }
    /// }
    /// ```
    ///
    /// Messages with managed objects are to be used on the context's queue; those with IDs are
    /// `Sendable`.
    public func notifications<Message>(of kind: MessageKind<Message>) -> ContextMessages<Message> {
        ContextMessages(
            notifications: NotificationCenter.default.notifications(named: kind.name, object: self), make: kind.make)
    }

    /// A save is about to begin.
    public struct WillSaveMessage: Sendable {
        /// The context that posted the notification.
        public let context: NSManagedObjectContext
    }

    /// Changes were saved.
    public struct DidSaveMessage {
        /// The context that posted the notification.
        public let context: NSManagedObjectContext
        /// New objects.
        public let inserted: Set<NSManagedObject>
        /// Changed objects.
        public let updated: Set<NSManagedObject>
        /// Deleted objects.
        public let deleted: Set<NSManagedObject>
    }

    /// Pending changes were processed.
    public struct ObjectsDidChangeMessage {
        /// The context that posted the notification.
        public let context: NSManagedObjectContext
        /// New objects.
        public let inserted: Set<NSManagedObject>
        /// Changed objects.
        public let updated: Set<NSManagedObject>
        /// Deleted objects.
        public let deleted: Set<NSManagedObject>
        /// Objects whose values were read again.
        public let refreshed: Set<NSManagedObject>
        /// Objects that the context has released.
        public let invalidated: Set<NSManagedObject>
        /// Whether the context was reset.
        public let invalidatedAll: Bool
    }

    /// Changes were saved: the IDs of their objects.
    public struct DidSaveObjectIDsMessage: Sendable {
        /// The context that posted the notification.
        public let context: NSManagedObjectContext
        /// The IDs of new objects.
        public let insertedIDs: Set<NSManagedObjectID>
        /// The IDs of changed objects.
        public let updatedIDs: Set<NSManagedObjectID>
        /// The IDs of deleted objects.
        public let deletedIDs: Set<NSManagedObjectID>
    }

    /// Changes that another context or program saved were merged.
    public struct DidMergeChangesMessage: Sendable {
        /// The context that posted the notification.
        public let context: NSManagedObjectContext
        /// The IDs of new objects.
        public let insertedIDs: Set<NSManagedObjectID>
        /// The IDs of changed objects.
        public let updatedIDs: Set<NSManagedObjectID>
        /// The IDs of deleted objects.
        public let deletedIDs: Set<NSManagedObjectID>
        /// The IDs of objects whose values were read again.
        public let refreshedIDs: Set<NSManagedObjectID>
    }
}

extension Notification {
    fileprivate func objects(_ key: String) -> Set<NSManagedObject> { userInfo?[key] as? Set<NSManagedObject> ?? [] }
    fileprivate func objectIDs(_ key: String) -> Set<NSManagedObjectID> {
        userInfo?[key] as? Set<NSManagedObjectID> ?? []
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.WillSaveMessage {
    /// `willSaveObjectsNotification`.
    public static var willSave: Self {
        Self(NSManagedObjectContext.willSaveObjectsNotification) { context, _ in Message(context: context) }
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.DidSaveMessage {
    /// `didSaveObjectsNotification`.
    public static var didSave: Self {
        Self(NSManagedObjectContext.didSaveObjectsNotification) {
            Message(
                context: $0, inserted: $1.objects(NSInsertedObjectsKey), updated: $1.objects(NSUpdatedObjectsKey),
                deleted: $1.objects(NSDeletedObjectsKey))
        }
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.ObjectsDidChangeMessage {
    /// `didChangeObjectsNotification`.
    public static var objectsDidChange: Self {
        Self(NSManagedObjectContext.didChangeObjectsNotification) {
            Message(
                context: $0, inserted: $1.objects(NSInsertedObjectsKey), updated: $1.objects(NSUpdatedObjectsKey),
                deleted: $1.objects(NSDeletedObjectsKey), refreshed: $1.objects(NSRefreshedObjectsKey),
                invalidated: $1.objects(NSInvalidatedObjectsKey),
                invalidatedAll: $1.userInfo?[NSInvalidatedAllObjectsKey] != nil)
        }
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.DidSaveObjectIDsMessage {
    /// `didSaveObjectIDsNotification`.
    public static var didSaveObjectIDs: Self {
        Self(NSManagedObjectContext.didSaveObjectIDsNotification) {
            Message(
                context: $0, insertedIDs: $1.objectIDs(NSInsertedObjectIDsKey),
                updatedIDs: $1.objectIDs(NSUpdatedObjectIDsKey), deletedIDs: $1.objectIDs(NSDeletedObjectIDsKey))
        }
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.DidMergeChangesMessage {
    /// `didMergeChangesObjectIDsNotification`.
    public static var didMergeChanges: Self {
        Self(NSManagedObjectContext.didMergeChangesObjectIDsNotification) {
            Message(
                context: $0, insertedIDs: $1.objectIDs(NSInsertedObjectIDsKey),
                updatedIDs: $1.objectIDs(NSUpdatedObjectIDsKey), deletedIDs: $1.objectIDs(NSDeletedObjectIDsKey),
                refreshedIDs: $1.objectIDs(NSRefreshedObjectIDsKey))
        }
    }
}
