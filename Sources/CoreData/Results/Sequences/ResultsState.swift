import Foundation

/// The results of a request at one time, and their difference to the state before.
///
/// ```swift
/// // the first state has no difference
/// guard let difference = state.difference else { return show(state.objectIDs) }
/// for change in difference {                              // removals first
///     switch change {
///     case .insert(let place, let id, _): insert(id, at: place)
///     case .remove(let place, _, _): remove(at: place)
///     }
/// }
/// ```
public struct ResultsState<Value: Sendable>: Sendable {
    /// The IDs of the results, in order.
    public let objectIDs: [NSManagedObjectID]
    /// The results, in the same order: IDs, or snapshots.
    public let values: [Value]
    /// The difference to the IDs of the element before, moves included; nil in the first element.
    public let difference: CollectionDifference<NSManagedObjectID>?
    /// The IDs of results that were there before, wherever they are now, and have changed.
    public let updatedObjectIDs: Set<NSManagedObjectID>
}

extension ResultsState: Equatable where Value: Equatable {}

extension CollectionDifference where ChangeElement == NSManagedObjectID {
    /// Creates the difference between two lists that contain each ID once. Takes time for both
    /// lists, and for each ID that stays the logarithm of the number of such IDs.
    init(from old: [NSManagedObjectID], to new: [NSManagedObjectID]) {
        var places: [NSManagedObjectID: Int] = [:]
        places.reserveCapacity(old.count)
        for (place, objectID) in old.enumerated() { places[objectID] = place }
        let common = new.compactMap { places[$0] }
        let staying = Set(ResultsDifference.longestRise(common).map { common[$0] })
        var destinations: [Int: Int] = [:]
        var changes: [Change] = []
        for (place, objectID) in new.enumerated() {
            let former = places[objectID]
            if let former {
                destinations[former] = place
                if staying.contains(former) { continue }
            }
            changes.append(.insert(offset: place, element: objectID, associatedWith: former))
        }
        for (place, objectID) in old.enumerated() where !staying.contains(place) {
            changes.append(.remove(offset: place, element: objectID, associatedWith: destinations[place]))
        }
        guard let difference = CollectionDifference(changes) else {
            preconditionFailure("A list of results has an object twice.")
        }
        self = difference
    }
}
