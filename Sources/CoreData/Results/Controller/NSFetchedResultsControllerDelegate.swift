import Foundation

/// What hears of changes of a controller's results, on the queue of its context.
///
/// Every method may be left out. A controller whose delegate has none of them does not follow its context. For one event either
/// `controller(_:didChangeContentWith:)` is called, if the delegate has it, or the others in this order: `controllerWillChangeContent(_:)`,
/// changes of sections, changes of objects, `controllerDidChangeContent(_:)`. The parameter is the controller, typed for any
/// result: compare it with `===` or `==`.
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
    /// An object came, went, moved or changed. Old places are those before all changes of the event, new ones those after.
    ///
    /// - Parameters:
    ///   - controller: whose results changed.
    ///   - anObject: the object.
    ///   - indexPath: the old place; nil for an insertion.
    ///   - type: a move where a property of the sort descriptors or of the section key path changed, or where the object lost its place among
    ///     the others; it stands for an update, too.
    ///   - newIndexPath: the new place; nil for a deletion, and for an update: `indexPath(forObject:)` gives that of an object which others
    ///     have shifted.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

    /// A section came (its number is that after all changes) or went (that before).
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
        atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType)

    /// Changes follow. The controller still has its former results.
    func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// All changes of the event were told.
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

    /// The title of a section in an index; the first letter of its name, as a capital, where the delegate does not say.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
    ) -> String?

    /// The results are others now: names of sections with the IDs of their objects. Called after a fetch, too.
    ///
    /// Takes the place of all other methods that tell of changes. The snapshot is filled when it is first looked at.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

    /// The results are others now: the difference to those before. Takes the place of the methods for single changes, for a controller without
    /// section key path whose delegate does not take snapshots.
    ///
    /// An update is a removal and an insertion of one ID, associated with each other.
    func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
        didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
}

// What a delegate leaves out. Whether it does, nobody can ask a Swift object: it shows in the first call.
extension NSFetchedResultsControllerDelegate {
    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
        for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        controller.announcer.note(absent: .object)
    }

    public func controller(
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
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
        _ controller: NSFetchedResultsController<any NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
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
