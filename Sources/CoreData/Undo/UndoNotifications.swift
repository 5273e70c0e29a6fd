import Foundation

// Notifications of undo managers. The object of each is the undo manager, and they are posted on
// the thread that uses it.
extension NSNotification.Name {
    /// Posted before a group is opened within another one or closed, before undoing and redoing,
    /// and by `canRedo`. Observers that register their changes late register them now, in the right
    /// group.
    ///
    /// Source:
    /// <https://developer.apple.com/documentation/foundation/nsnotification/name-swift.struct/nsundomanagercheckpoint>
    public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")

    /// Posted after a group was opened.
    public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name("NSUndoManagerDidOpenUndoGroupNotification")

    /// Posted before a group is closed. The userInfo of a discardable group contains
    /// `NSUndoManagerGroupIsDiscardableKey`.
    public static let NSUndoManagerWillCloseUndoGroup = NSNotification.Name(
        "NSUndoManagerWillCloseUndoGroupNotification")

    /// Posted after a group was closed. The userInfo of a discardable group contains
    /// `NSUndoManagerGroupIsDiscardableKey`.
    public static let NSUndoManagerDidCloseUndoGroup = NSNotification.Name("NSUndoManagerDidCloseUndoGroupNotification")

    /// Posted before the actions of a group are undone.
    public static let NSUndoManagerWillUndoChange = NSNotification.Name("NSUndoManagerWillUndoChangeNotification")

    /// Posted after the actions of a group were undone.
    ///
    /// ```swift
    /// for await _ in NotificationCenter.default.notifications(
    ///     named: .NSUndoManagerDidUndoChange, object: undoManager)
    /// {
    ///     redraw()
    /// }
    /// ```
    public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")

    /// Posted before the actions of a group are redone.
    public static let NSUndoManagerWillRedoChange = NSNotification.Name("NSUndoManagerWillRedoChangeNotification")

    /// Posted after the actions of a group were redone.
    public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")
}

/// A key in the userInfo of a group's closing: `true` (an `NSNumber`) if all actions of the group
/// are discardable.
///
/// Source:
/// <https://developer.apple.com/documentation/foundation/nsundomanagergroupisdiscardablekey>
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

/// The order in which a run loop on a Mac closes groups. Without effect here: the main queue closes
/// them.
public let NSUndoCloseGroupingRunLoopOrdering = 350_000
