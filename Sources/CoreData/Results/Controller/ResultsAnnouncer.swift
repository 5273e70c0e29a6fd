import Foundation

/// Notifies a controller's delegate of changes.
final class ResultsAnnouncer {
    /// Methods of the delegate.
    struct Methods: OptionSet {
        let rawValue: UInt8
        static let willChange = Methods(rawValue: 1 << 0)
        static let section = Methods(rawValue: 1 << 1)
        static let object = Methods(rawValue: 1 << 2)
        static let didChange = Methods(rawValue: 1 << 3)
        static let snapshot = Methods(rawValue: 1 << 4)
        static let difference = Methods(rawValue: 1 << 5)
        static let all: Methods = [.willChange, .section, .object, .didChange, .snapshot, .difference]
    }

    typealias Controller = NSFetchedResultsController<any NSFetchRequestResult>

    weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet {
            if delegate === oldValue, delegate != nil { return }
            absent = []
        }
    }
    /// Methods that the delegate is known not to have.
    private var absent: Methods = []

    func note(absent method: Methods) { absent.insert(method) }

    private func has(_ method: Methods) -> Bool { !absent.contains(method) }

    /// Whether the delegate is known to have no method for changes.
    var hasNoListener: Bool { absent == .all }

    /// Notifies the delegate of the results of a fetch.
    func announceFetch(_ results: FetchedResults, _ controller: Controller) {
        guard let delegate, let contents = results.contents, results.query != nil else { return }
        announceSnapshot(contents, reloaded: [], delegate, controller)
    }

    /// Notifies the delegate of changes.
    ///
    /// - Parameter changes: the changes that have been made to the results.
    func announce(_ changes: ResultsChanges, _ results: FetchedResults, _ controller: Controller) {
        guard let delegate, let contents = results.contents else { return }
        if announceSnapshot(
            contents, reloaded: changes.objects.lazy.filter { $0.kind == .update }.map(\.object), delegate, controller)
        {
            return
        }
        if results.sectionNameKeyPath == nil, has(.difference), let difference = changes.difference {
            delegate.controller(controller, didChangeContentWith: difference)
            if has(.difference) { return }
        }
        // Before the changes are reported, a delegate finds the former results.
        if has(.willChange) {
            results.withFormerContents(changes) { delegate.controllerWillChangeContent(controller) }
        }
        for change in changes.sections where has(.section) {
            delegate.controller(controller, didChange: change.section, atSectionIndex: change.index, for: change.kind)
        }
        for change in changes.objects where has(.object) {
            delegate.controller(
                controller, didChange: change.object, at: change.old?.indexPath, for: change.kind,
                newIndexPath: change.kind == .update ? nil : change.new?.indexPath)
        }
        if has(.didChange) { delegate.controllerDidChangeContent(controller) }
        if results.sectionNameKeyPath != nil { absent.insert(.difference) } else { absent.insert(.section) }
    }

    /// - Returns: whether the delegate takes snapshots.
    @discardableResult
    private func announceSnapshot(
        _ contents: ResultsContents, reloaded: some Sequence<NSManagedObject>,
        _ delegate: any NSFetchedResultsControllerDelegate,
        _ controller: Controller
    ) -> Bool {
        if !has(.snapshot) { return false }
        var snapshot = NSDiffableDataSourceSnapshotReference {
            var storage = NSDiffableDataSourceSnapshotReference.Storage()
            for section in contents.sections.array {
                storage.appendSections([AnyHashable(section.name)])
                storage.appendItems(
                    section.items.array.compactMap { ($0 as? NSManagedObject).map { AnyHashable($0.objectID) } })
            }
            storage.reloadItems(reloaded.map { AnyHashable($0.objectID) })
            return storage
        }
        delegate.controller(controller, didChangeContentWith: snapshot)
        // A delegate that keeps the snapshot keeps these results, not later ones.
        if !isKnownUniquelyReferenced(&snapshot) { snapshot.fill() }
        return has(.snapshot)
    }
}
