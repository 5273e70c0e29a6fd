import Foundation

/// The query of results at the time of the fetch, whatever the request becomes.
struct ResultsQuery {
    let request: NSFetchRequest<any NSFetchRequestResult>
    let resolved: ResolvedRequest
    let order: ResultsOrder
    let sectionName: SectionName?
    /// Whether objects have derived attributes, whose values change with a save.
    let hasDerivedAttributes: Bool
    /// The names of properties that decide the order and the section.
    private let placingProperties: Set<String>

    init(_ request: NSFetchRequest<any NSFetchRequestResult>, _ resolved: ResolvedRequest, sectionNameKeyPath: String?)
    {
        self.request = Self.following(request)
        self.resolved = resolved
        order = ResultsOrder(descriptors: resolved.fetch.sortDescriptors)
        sectionName = sectionNameKeyPath.map(SectionName.init)
        let layouts = resolved.layout.model.layouts
        hasDerivedAttributes = resolved.layout.familyIndexes.contains { layouts[$0].slots.contains(where: \.isDerived) }
        let paths = resolved.fetch.sortDescriptors.compactMap(\.key) + [sectionNameKeyPath].compactMap(\.self)
        placingProperties = Set(paths.compactMap { $0.split(separator: ".").first.map(String.init) })
    }

    /// The request that fetches results again while they follow their context.
    ///
    /// It includes unsaved changes, as the placing of single objects does. It does not read objects
    /// again, because that would be a change to follow.
    private static func following(_ request: NSFetchRequest<any NSFetchRequestResult>) -> NSFetchRequest<
        any NSFetchRequestResult
    > {
        if request.includesPendingChanges, !request.shouldRefreshRefetchedObjects { return request }
        let copy = NSFetchRequest<any NSFetchRequestResult>()
        request.copyValues(to: copy)
        copy.includesPendingChanges = true
        copy.shouldRefreshRefetchedObjects = false
        return copy
    }

    /// Whether a change of one match moves others in and out, as with a limit.
    var isPart: Bool { resolved.fetch.limit > 0 || resolved.fetch.offset > 0 }

    /// Whether the request finds an object, limits aside. The next save throws its error.
    func matches(_ object: NSManagedObject, in context: NSManagedObjectContext) -> Bool {
        // Without affected stores, all stores count, also those that were added after the fetch.
        guard object.flags.isDisjoint(with: .isNoResult), object.registry === context.registry,
            context.belongs(object, resolved),
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

    /// Whether one of the changed properties of an object decides its place.
    func placeChanged(of object: NSManagedObject, _ properties: SlotMask) -> Bool {
        object.layout.propertySlots.contains { $0.isIn(properties) && placingProperties.contains($0.name) }
    }
}

extension ObjectFlags {
    /// Flags of objects that no fetch returns.
    fileprivate static let isNoResult: ObjectFlags = [
        .deleted, .discarded, .deletionSaved, .deletedElsewhere, .inaccessible, .invalid,
    ]
}
