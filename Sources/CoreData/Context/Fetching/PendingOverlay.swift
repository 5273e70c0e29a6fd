/// The effect of a context's unsaved changes on a fetch: rows that the stores must leave out, and
/// objects that replace them.
///
/// Stores leave out the changed rows, and their objects are tested here. So limits, offsets and
/// counts stay with the store, however many rows match.
struct PendingOverlay {
    /// The keys of rows with unsaved changes, by store number.
    private(set) var excludedKeys: [Int: Set<Int64>] = [:]
    /// New and changed objects that match, in the order of the fetch.
    private(set) var objects: [NSManagedObject] = []

    private let sortDescriptors: [NSSortDescriptor]
    private let limit: Int
    private let offset: Int

    /// Nil if the context has no unsaved change that affects the fetch.
    ///
    /// - Throws: Code 134060, as the stores do, for an expression that cannot be evaluated.
    init?(_ request: ResolvedRequest, in context: NSManagedObjectContext) throws {
        guard context.hasChanges else { return nil }
        sortDescriptors = request.fetch.sortDescriptors
        limit = max(0, request.fetch.limit)
        offset = max(0, request.fetch.offset)
        let root = request.layout.rootIndex
        let numbers = Set(request.stores.map(\.number))
        let isExcluded = context.isExcluded(by: request.fetch)
        for list in [context.changes.updated, context.changes.deleted, context.changes.inserted] {
            list.objects.forEachUnretained { object in
                // A deleted object that was never loaded may be of a subentity.
                let number = Int(object.storeNumber)
                guard object.layout.rootIndex == root, numbers.contains(number) else { return }
                excludedKeys[number, default: []].insert(object.key)
            }
        }
        var condition: Condition?
        for list in [context.changes.updated, context.changes.inserted] {
            for object in list.objects
            where context.belongs(object, request) && context.isIn(request.stores, object) && !isExcluded(object) {
                let known = try condition ?? Condition(request)
                condition = known
                if try known.matches(object) { objects.append(object) }
            }
        }
        if excludedKeys.isEmpty, objects.isEmpty { return nil }
        if !sortDescriptors.isEmpty { objects = context.sorted(objects, sortDescriptors) }
    }

    /// The predicate, whose keys are checked first: an object stops at an unknown one.
    private struct Condition {
        private let predicate: NSPredicate?
        private let run = PredicateRun()

        init(_ request: ResolvedRequest) throws {
            predicate = request.fetch.predicate
            guard request.stores.allSatisfy(\.knowsKeysOfModelOnly) else { return }
            try MemoryKeys(layouts: request.layout.model, judge: "context with unsaved changes").check(request.fetch)
        }

        func matches(_ object: NSManagedObject) throws -> Bool {
            try predicate?.isMet(by: object, run: run) ?? true
        }
    }

    // MARK: The stores' fetches

    /// The number of first rows that a store may skip: rows that surely precede the offset.
    private var storeOffset: Int { max(0, offset - objects.count) }

    /// Returns the fetch for one of the stores.
    ///
    /// - Parameter isOnly: Whether no other store is read. If one is, all first results may be its
    ///   rows.
    func storeFetch(_ fetch: StoreFetch, store: NSPersistentStore, isOnly: Bool) -> StoreFetch {
        var fetch = fetch
        // The fetch of a child already has its excluded keys.
        fetch.excludedKeys.formUnion(excludedKeys[store.number] ?? [])
        fetch.offset = isOnly ? storeOffset : 0
        if limit > 0 {
            let (end, overflow) = limit.addingReportingOverflow(offset - fetch.offset)
            fetch.limit = overflow ? 0 : end
        }
        return fetch
    }

    // MARK: Results

    /// Merges the pending objects into the results of the only store, at their places, and applies
    /// offset and limit. Examines few of the given objects: places are found by bisection.
    func merged(into given: [NSManagedObject]) -> [NSManagedObject] {
        var result = given
        if sortDescriptors.isEmpty {
            result += objects
        } else if !objects.isEmpty {
            result = []
            result.reserveCapacity(given.count + objects.count)
            var start = 0
            for object in objects {
                let place = self.place(of: object, in: given, from: start)
                result += given[start..<place]
                result.append(object)
                start = place
            }
            result += given[start...]
        }
        return cut(result, from: offset - storeOffset)
    }

    /// Merges the pending objects into the results of several stores, which may be in any order.
    func merged(intoSeveral given: [NSManagedObject], in context: NSManagedObjectContext) -> [NSManagedObject] {
        let all = given + objects
        return cut(sortDescriptors.isEmpty ? all : context.sorted(all, sortDescriptors), from: offset)
    }

    /// Returns the number of results, given the stores' number of rows without an offset.
    func count(withRows rows: Int) -> Int {
        let count = max(0, rows + objects.count - offset)
        return limit > 0 ? min(count, limit) : count
    }

    /// Returns the index after the last given object that does not sort after the object.
    private func place(of object: NSManagedObject, in given: [NSManagedObject], from start: Int) -> Int {
        var (low, high) = (start, given.count)
        while low < high {
            let middle = low + (high - low) / 2
            if comesAfter(given[middle], object) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func comesAfter(_ object: NSManagedObject, _ other: NSManagedObject) -> Bool {
        for descriptor in sortDescriptors {
            switch descriptor.compare(object, to: other) {
            case .orderedAscending: return false
            case .orderedDescending: return true
            case .orderedSame: continue
            }
        }
        return false
    }

    private func cut(_ objects: [NSManagedObject], from start: Int) -> [NSManagedObject] {
        if start == 0, limit == 0 || objects.count <= limit { return objects }
        let rest = objects.dropFirst(start)
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }

    /// Whether the results that stores gave for the other overlay have all that this overlay needs.
    func asksForTheSame(as other: PendingOverlay) -> Bool {
        excludedKeys == other.excludedKeys && objects.count == other.objects.count
    }
}
