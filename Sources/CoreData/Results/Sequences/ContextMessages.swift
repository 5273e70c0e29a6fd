import Foundation

/// The notifications of a context as a sequence of typed values.
///
/// Notifications that are posted while no task waits are kept.
///
/// ```swift
/// for await message in context.notifications(of: .didSaveObjectIDs) { print(message.insertedIDs) }
/// ```
public struct ContextMessages<Message>: AsyncSequence, @unchecked Sendable {
    // Sendable: constants; the function that makes messages keeps nothing.
    public typealias Element = Message

    fileprivate let notifications: NotificationCenter.Notifications
    fileprivate let make: (Notification) -> Message?

    /// Observes the context as long as the iterator lives.
    public func makeAsyncIterator() -> Iterator { Iterator(base: notifications.makeAsyncIterator(), make: make) }

    /// Waits for one message after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: NotificationCenter.Notifications.Iterator
        fileprivate let make: (Notification) -> Message?

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
    public struct MessageKind<Message>: @unchecked Sendable {
        // Sendable: constants; the function that makes messages keeps nothing.
        fileprivate let name: Notification.Name
        fileprivate let make: (Notification) -> Message?
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
        ContextMessages(notifications: NotificationCenter.default.notifications(named: kind.name, object: self), make: kind.make)
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
    fileprivate var context: NSManagedObjectContext? { object as? NSManagedObjectContext }
    fileprivate func objects(_ key: String) -> Set<NSManagedObject> { userInfo?[key] as? Set<NSManagedObject> ?? [] }
    fileprivate func objectIDs(_ key: String) -> Set<NSManagedObjectID> { userInfo?[key] as? Set<NSManagedObjectID> ?? [] }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.WillSaveMessage {
    /// `willSaveObjectsNotification`.
    public static var willSave: Self {
        Self(name: NSManagedObjectContext.willSaveObjectsNotification) { $0.context.map(Message.init) }
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.DidSaveMessage {
    /// `didSaveObjectsNotification`.
    public static var didSave: Self {
        Self(name: NSManagedObjectContext.didSaveObjectsNotification) { notification in
            notification.context.map {
                Message(
                    context: $0, inserted: notification.objects(NSInsertedObjectsKey), updated: notification.objects(NSUpdatedObjectsKey),
                    deleted: notification.objects(NSDeletedObjectsKey))
            }
        }
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.ObjectsDidChangeMessage {
    /// `didChangeObjectsNotification`.
    public static var objectsDidChange: Self {
        Self(name: NSManagedObjectContext.didChangeObjectsNotification) { notification in
            notification.context.map {
                Message(
                    context: $0, inserted: notification.objects(NSInsertedObjectsKey), updated: notification.objects(NSUpdatedObjectsKey),
                    deleted: notification.objects(NSDeletedObjectsKey), refreshed: notification.objects(NSRefreshedObjectsKey),
                    invalidated: notification.objects(NSInvalidatedObjectsKey),
                    invalidatedAll: notification.userInfo?[NSInvalidatedAllObjectsKey] != nil)
            }
        }
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.DidSaveObjectIDsMessage {
    /// `didSaveObjectIDsNotification`.
    public static var didSaveObjectIDs: Self {
        Self(name: NSManagedObjectContext.didSaveObjectIDsNotification) { notification in
            notification.context.map {
                Message(
                    context: $0, insertedIDs: notification.objectIDs(NSInsertedObjectIDsKey),
                    updatedIDs: notification.objectIDs(NSUpdatedObjectIDsKey), deletedIDs: notification.objectIDs(NSDeletedObjectIDsKey))
            }
        }
    }
}

extension NSManagedObjectContext.MessageKind where Message == NSManagedObjectContext.DidMergeChangesMessage {
    /// `didMergeChangesObjectIDsNotification`.
    public static var didMergeChanges: Self {
        Self(name: NSManagedObjectContext.didMergeChangesObjectIDsNotification) { notification in
            notification.context.map {
                Message(
                    context: $0, insertedIDs: notification.objectIDs(NSInsertedObjectIDsKey),
                    updatedIDs: notification.objectIDs(NSUpdatedObjectIDsKey), deletedIDs: notification.objectIDs(NSDeletedObjectIDsKey),
                    refreshedIDs: notification.objectIDs(NSRefreshedObjectIDsKey))
            }
        }
    }
}
