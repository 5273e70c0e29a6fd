import Foundation

/// Executes one fetch request: asks the stores, makes objects of their rows, applies unsaved
/// changes.
struct FetchExecutor<Result> {
    private let request: NSFetchRequest<Result>
    private let context: NSManagedObjectContext
    let resolved: ResolvedRequest

    init(_ request: NSFetchRequest<Result>, in context: NSManagedObjectContext) throws {
        self.init(request, try context.resolve(request), in: context)
    }

    init(_ request: NSFetchRequest<Result>, _ resolved: ResolvedRequest, in context: NSManagedObjectContext) {
        self.request = request
        self.context = context
        self.resolved = resolved
    }

    /// The results of a fetch, by the result type of its request.
    enum Fetched {
        case objects([NSManagedObject])
        case objectIDs([NSManagedObjectID])
        case dictionaries([NSDictionary])
        case count(Int)

        var elements: [Any] {
            switch self {
            case .objects(let objects): objects
            case .objectIDs(let objectIDs): objectIDs
            case .dictionaries(let dictionaries): dictionaries
            case .count(let count): [NSNumber(value: count)]
            }
        }

        var elementCount: Int {
            switch self {
            case .objects(let objects): objects.count
            case .objectIDs(let objectIDs): objectIDs.count
            case .dictionaries(let dictionaries): dictionaries.count
            case .count: 1
            }
        }
    }

    func run() throws -> Fetched {
        let start = Instruments.now
        let fetched = try fetched()
        record(fetched.elementCount, since: start)
        return fetched
    }

    /// Tells of a fetch of the program.
    private func record(_ count: Int, since start: Int64) {
        Instruments.record(
            .fetch(
                ExecutedFetch(
                    context: context.name, entity: resolved.fetch.entity.name, count: count, limit: request.fetchLimit,
                    batchSize: request.fetchBatchSize, nanoseconds: Instruments.duration(since: start))))
    }

    private func fetched() throws -> Fetched {
        switch request.resultType {
        case .managedObjectIDResultType: .objectIDs(try objectIDs())
        case .countResultType: .count(try count())
        case .dictionaryResultType: .dictionaries(try dictionaries().map { NSDictionary(dictionary: $0) })
        default: .objects(try objects())
        }
    }

    func results() throws -> [Result] {
        switch try run() {
        case .objects(let objects): try typed(objects)
        case .objectIDs(let objectIDs): try typed(objectIDs)
        case .dictionaries(let dictionaries): try typed(dictionaries)
        case .count(let count): try typed([NSNumber(value: count)])
        }
    }

    // MARK: - Objects

    func objects() throws -> [NSManagedObject] {
        let plan = try plan()
        return try objects(from: plan.answers(), plan)
    }

    /// The fetch that the stores execute now, with the context's unsaved changes.
    func plan() throws -> FetchPlan {
        var plan = FetchPlan(
            request: resolved, asked: resolved.fetch, overlay: try overlay(),
            usesBatches: context.usesBatches(resolved, request))
        for store in resolved.stores {
            if let rows = context.rows(ofStore: store.number) { plan.sources.append((store, rows)) }
        }
        if !request.includesPropertyValues || plan.usesBatches { plan.asked.shape = .references }
        return plan
    }

    private func overlay() throws -> PendingOverlay? {
        request.includesPendingChanges ? try PendingOverlay(resolved, in: context) : nil
    }

    func results(from answers: [FetchPlan.Answer], _ plan: FetchPlan) throws -> [Result] {
        let start = Instruments.now
        let objects = try objects(from: answers, plan)
        record(objects.count, since: start)
        return try typed(objects)
    }

    /// Makes objects of the stores' answers, in order, and applies unsaved changes.
    private func objects(from answers: [FetchPlan.Answer], _ plan: FetchPlan) throws -> [NSManagedObject] {
        var objects: [NSManagedObject] = []
        for (store, answer) in answers {
            let found: [NSManagedObject]
            switch answer {
            case .rows(let rows):
                found = context.objects(
                    of: rows, store: store.number, asFaults: request.returnsObjectsAsFaults,
                    refreshing: request.shouldRefreshRefetchedObjects)
            case .references(let references):
                found = context.faults(
                    for: references, of: resolved.layout, store: store.number,
                    inBatches: plan.usesBatches
                        ? context.batches(of: request, resolved.layout, store: store.number) : nil)
            default: continue
            }
            if objects.isEmpty { objects = found } else { objects += found }
        }
        let isShared = resolved.stores.count > 1
        if let overlay = plan.overlay {
            objects = isShared ? overlay.merged(intoSeveral: objects, in: context) : overlay.merged(into: objects)
        } else if isShared {
            if !resolved.fetch.sortDescriptors.isEmpty {
                objects = context.sorted(objects, resolved.fetch.sortDescriptors)
            }
            objects = slice(objects)
        }
        if let keyPaths = request.relationshipKeyPathsForPrefetching, !objects.isEmpty {
            if plan.usesBatches {
                // The relationships are loaded with the batches.
                try context.checkPrefetching(keyPaths, of: resolved.layout)
                return objects
            }
            for keyPath in keyPaths { try context.prefetch(keyPath.pathNames[...], of: objects) }
        }
        return objects
    }

    private func slice(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        let (offset, limit) = (resolved.fetch.offset, resolved.fetch.limit)
        if offset <= 0, limit <= 0 { return objects }
        var slice = objects[...]
        if offset > 0 { slice = slice.dropFirst(offset) }
        if limit > 0 { slice = slice.prefix(limit) }
        return Array(slice)
    }

    // MARK: - Other shapes

    private func objectIDs() throws -> [NSManagedObjectID] {
        var plan = try plan()
        if plan.overlay != nil || resolved.stores.count > 1 {
            // The few objects that are compared with new ones are read one by one.
            if resolved.stores.count == 1 || resolved.fetch.sortDescriptors.isEmpty { plan.asked.shape = .references }
            return try objects(from: plan.answers(), plan).map(\.objectID)
        }
        plan.asked.shape = .references
        let layouts = resolved.layout.model.layouts
        return try plan.answers().flatMap { store, answer -> [NSManagedObjectID] in
            guard case .references(let references) = answer else { return [] }
            return references.map { NSManagedObjectID(key: $0.key, layout: layouts[$0.layoutIndex], store: store) }
        }
    }

    func count() throws -> Int {
        if request.resultType == .dictionaryResultType, resolved.fetch.columns?.joinRows(of: resolved.layout) == true {
            return try dictionaries().count
        }
        var plan = try plan()
        plan.asked = resolved.fetch
        plan.asked.shape = .count
        plan.asked.sortDescriptors = []
        var rows = 0
        for (_, answer) in try plan.answers(countingOnly: true) {
            if case .count(let count) = answer { rows += count }
        }
        if let overlay = plan.overlay { return overlay.count(withRows: rows) }
        if resolved.stores.count == 1 { return rows }
        rows = max(0, rows - max(0, resolved.fetch.offset))
        return resolved.fetch.limit > 0 ? min(rows, resolved.fetch.limit) : rows
    }

    /// Dictionaries come straight from the stores and do not see unsaved changes.
    private func dictionaries() throws -> [[String: Any]] {
        guard let parts = DictionaryResults.parts(of: resolved.fetch),
            !resolved.stores.contains(where: { context.rows(ofStore: $0.number)?.computesDictionaries == true })
        else { return try dictionaries(resolved.fetch) }
        let totals = try dictionaries(parts.totals).first ?? [:]
        return try dictionaries(parts.rows).map { $0.merging(totals) { ownValue, _ in ownValue } }
    }

    private func dictionaries(_ fetch: StoreFetch) throws -> [[String: Any]] {
        let merge = resolved.stores.count > 1 ? try fetch.columns.map { try DictionaryMerge(fetch, $0) } : nil
        let asked = merge?.asked ?? fetch
        var result: [[String: Any]] = []
        for store in resolved.stores {
            if case .dictionaries(let rows)? = try context.rows(ofStore: store.number)?.fetch(asked) { result += rows }
        }
        return try merge?.merged(result) ?? result
    }

    // MARK: - Result types

    private func typed<Element: NSObject>(_ values: [Element]) throws -> [Result] {
        if let same = values as? [Result] { return same }
        throw CoreDataErrors.otherResultType(Element.self, than: Result.self, of: request.entityName)
    }

    private func typed(_ objects: [NSManagedObject]) throws -> [Result] {
        if Result.self == NSManagedObject.self, let same = objects as? [Result] { return same }
        if let wanted = Result.self as? NSManagedObject.Type {
            let layouts = resolved.layout.model.layouts
            let fits = resolved.layout.familyIndexes.allSatisfy {
                layouts[$0].managedObjectClass.isSubclass(of: wanted)
            }
            if fits, type(of: resolved.layout) == EntityLayout.self {
                // Every object is an instance of `Result`, a class: both arrays hold the same
                // references.
                return unsafeBitCast(objects, to: [Result].self)
            }
        }
        var result: [Result] = []
        result.reserveCapacity(objects.count)
        for object in objects {
            guard let element = object as? Result else {
                throw CoreDataErrors.otherClass(object, than: Result.self, of: resolved.layout.name)
            }
            result.append(element)
        }
        return result
    }
}
