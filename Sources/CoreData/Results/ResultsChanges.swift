import Foundation

/// The changes of results by one event. Old places are before all changes, new places after all.
struct ResultsChanges {
    struct ObjectChange {
        let object: NSManagedObject
        let kind: NSFetchedResultsChangeType
        /// nil for an insertion.
        let old: ResultsPath?
        /// nil for a deletion.
        let new: ResultsPath?

        /// Whether the object leaves its old place.
        var leaves: Bool { kind == .delete || kind == .move }
        /// Whether the object comes to its new place.
        var comes: Bool { kind == .insert || kind == .move }
    }

    struct SectionChange {
        let section: FetchedSection
        let kind: NSFetchedResultsChangeType
        let index: Int
    }

    var sections: [SectionChange] = []
    /// Deletions from the last place on, insertions from the first, moves, updates.
    var objects: [ObjectChange] = []

    var isEmpty: Bool { objects.isEmpty && sections.isEmpty }

    /// The changes that take these back.
    var inverted: ResultsChanges {
        func inverse(_ kind: NSFetchedResultsChangeType) -> NSFetchedResultsChangeType {
            switch kind {
            case .insert: .delete
            case .delete: .insert
            case .move, .update: kind
            }
        }
        return ResultsChanges(
            sections: sections.map { SectionChange(section: $0.section, kind: inverse($0.kind), index: $0.index) },
            objects: objects.map { ObjectChange(object: $0.object, kind: inverse($0.kind), old: $0.new, new: $0.old) })
    }

    /// Sorts the changes in the order of notification.
    mutating func sort() {
        func rank(_ kind: NSFetchedResultsChangeType) -> Int {
            switch kind {
            case .delete: 0
            case .insert: 1
            case .move: 2
            case .update: 3
            }
        }
        let start = ResultsPath(section: 0, row: 0)
        objects.sort { left, right in
            if left.kind != right.kind { return rank(left.kind) < rank(right.kind) }
            return left.kind == .delete
                ? left.old ?? start > right.old ?? start : left.new ?? start < right.new ?? start
        }
        sections.sort { left, right in
            if left.kind != right.kind { return left.kind == .delete }
            return left.kind == .delete ? left.index > right.index : left.index < right.index
        }
    }

    /// The changes in one section as a difference of object IDs.
    ///
    /// An update is a removal and an insertion that are associated. They have one place, or two if
    /// other objects were added or removed before it.
    var difference: CollectionDifference<NSManagedObjectID>? {
        var changes: [CollectionDifference<NSManagedObjectID>.Change] = []
        for change in objects {
            let objectID = change.object.objectID
            let (old, new) = (change.old?.row, change.new?.row)
            if let old { changes.append(.remove(offset: old, element: objectID, associatedWith: new)) }
            if let new { changes.append(.insert(offset: new, element: objectID, associatedWith: old)) }
        }
        return CollectionDifference(changes)
    }
}

/// The kind of a change to an object or a section of fetched results.
///
/// ```swift
/// switch type {                       // in controller(_:didChange:at:for:newIndexPath:)
/// case .insert: list.insertRow(at: newIndexPath!)
/// case .delete: list.deleteRow(at: indexPath!)
/// case .move: list.moveRow(at: indexPath!, to: newIndexPath!)
/// case .update: list.reloadRow(at: indexPath!)
/// }
/// ```
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// It was added.
    case insert = 1
    /// It was removed.
    case delete = 2
    /// It is at another place, and may have changed.
    case move = 3
    /// It has changed without a move.
    case update = 4
}
