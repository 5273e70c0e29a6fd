import Foundation

/// The delegate of a fetched results controller, notified of changes on the queue of its context.
///
/// Every method may be left out. A controller whose delegate has none of them does not follow its
/// context. For one event either `controller(_:didChangeContentWith:)` is called, if the delegate
/// has it, or the other methods in this order: `controllerWillChangeContent(_:)`, changes of
/// sections, changes of objects, `controllerDidChangeContent(_:)`. The parameter is the controller,
/// typed for any result: compare it with `===` or `==`.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsfetchedresultscontrollerdelegate>
///
/// ```swift
/// func controller(
///     _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
///     didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
/// ) { list.apply(snapshot) }
/// ```
public protocol NSFetchedResultsControllerDelegate: AnyObject {
    /// An object was added, removed, moved or changed.
    ///
    /// Old places are those before all changes of the event, new places those after.
    ///
    /// - Parameters:
    ///   - controller: the controller whose results changed.
    ///   - anObject: the object.
    ///   - indexPath: the old place; nil for an insertion.
    ///   - type: a move if a property of the sort descriptors or of the section key path changed,
    ///     or if the object lost its place among the others. A move stands for an update, too.
    ///   - newIndexPath: the new place; nil for a deletion, and for an update:
    ///     `indexPath(forObject:)` gives the place of an object that others have shifted.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// A section was added or removed.
    ///
    /// The number of an added section is that after all changes, of a removed section that before.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)

    /// Called before the changes of an event. The controller still has its former results.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// Called after all changes of the event.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The title of a section in an index. Without this method, it is the first letter of its name,
    /// as a capital.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String?

    /// The results have changed: names of sections with the IDs of their objects.
    ///
    /// Called after a fetch, too. Replaces all other methods for changes. The snapshot is filled
    /// when it is first used.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The results have changed: the difference to the former results.
    ///
    /// Replaces the methods for single changes, for a controller without section key path whose
    /// delegate does not take snapshots.
    ///
    /// An update is a removal and an insertion of one ID, associated with each other.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
}

// The defaults show that a delegate lacks a method: Swift cannot be asked.
extension NSFetchedResultsControllerDelegate {
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        controller.announcer.note(absent: .object)
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
        controller.announcer.note(absent: .section)
    }

    public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        controller.announcer.note(absent: .willChange)
    }

    public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        controller.announcer.note(absent: .didChange)
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
        FetchedSection.defaultIndexTitle(sectionName)
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
    ) {
        controller.announcer.note(absent: .snapshot)
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
        controller.announcer.note(absent: .difference)
    }
}
