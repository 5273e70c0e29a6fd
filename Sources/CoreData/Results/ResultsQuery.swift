import Foundation

/// What results were fetched for, as it was at the time of the fetch: later changes of the request wait for the next one.
struct ResultsQuery {
    let request: NSFetchRequest<any NSFetchRequestResult>
    let resolved: ResolvedRequest
    let order: ResultsOrder
    let sectionName: SectionName?
    /// Whether objects have attributes whose values come with a save.
    let hasDerivedAttributes: Bool
    /// The names of properties that decide the order and the section.
    private let placingProperties: Set<String>

    init(_ request: NSFetchRequest<any NSFetchRequestResult>, _ resolved: ResolvedRequest, sectionNameKeyPath: String?) {
        self.request = Self.following(request)
        self.resolved = resolved
        order = ResultsOrder(descriptors: resolved.fetch.sortDescriptors)
        sectionName = sectionNameKeyPath.map(SectionName.init)
        let layouts = resolved.layout.model.layouts
        hasDerivedAttributes = resolved.layout.familyIndexes.contains { layouts[$0].slots.contains(where: \.isDerived) }
        let paths = resolved.fetch.sortDescriptors.compactMap(\.key) + [sectionNameKeyPath].compactMap(\.self)
        placingProperties = Set(paths.compactMap { $0.split(separator: ".").first.map(String.init) })
    }

    /// The request by which results are fetched again while they follow their context: with its unsaved changes, as where single objects
    /// find their places, and without reading objects anew, which would be a change to follow.
    private static func following(_ request: NSFetchRequest<any NSFetchRequestResult>) -> NSFetchRequest<any NSFetchRequestResult> {
        if request.includesPendingChanges, !request.shouldRefreshRefetchedObjects { return request }
        let copy = NSFetchRequest<any NSFetchRequestResult>()
        request.copyValues(to: copy)
        copy.includesPendingChanges = true
        copy.shouldRefreshRefetchedObjects = false
        return copy
    }

    /// Whether the request asks for a part of the matches only, so that a change of one moves others in and out.
    var isPart: Bool { resolved.fetch.limit > 0 || resolved.fetch.offset > 0 }

    /// Whether an object is one that the request would give, offset and limit aside. An error of the predicate waits for the next save.
    func matches(_ object: NSManagedObject, in context: NSManagedObjectContext) -> Bool {
        // Without a choice of stores it is all of them, also those that came after the fetch.
        guard object.flags.isDisjoint(with: .isNoResult), object.registry === context.registry, context.belongs(object, resolved),
            request.affectedStores == nil || context.isIn(resolved.stores, object)
        else { return false }
        if object.flags.contains(.fault) {
            object.fireFaultIfNeeded()
            if !object.flags.isDisjoint(with: .isNoResult) { return false }
        }
        guard let predicate = resolved.fetch.predicate else { return true }
        do {
            return try predicate.isMet(by: object, run: PredicateRun())
        } catch {
            context.readFailure = error
            return false
        }
    }

    /// Whether an object that has other values of some properties has one of those that decide its place.
    func placeChanged(of object: NSManagedObject, _ properties: SlotMask) -> Bool {
        object.layout.propertySlots.contains { $0.isIn(properties) && placingProperties.contains($0.name) }
    }
}

extension ObjectFlags {
    /// Any of them says that no fetch would give the object.
    fileprivate static let isNoResult: ObjectFlags = [.deleted, .discarded, .deletionSaved, .deletedElsewhere, .inaccessible, .invalid]
}
