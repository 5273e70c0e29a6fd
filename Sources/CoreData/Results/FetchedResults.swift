import Foundation

/// The results of a fetch, in sections, that follow their context.
///
/// It is used on the context's queue. Its follower is notified of changes. Without a follower,
/// results stay as they were fetched.
final class FetchedResults {
    let context: NSManagedObjectContext
    let sectionNameKeyPath: String?
    /// nil before the first fetch.
    private(set) var contents: ResultsContents? { didSet { replacementCount += 1 } }
    /// The number of times the contents were replaced. Together with the version of the contents it
    /// identifies a state of the results, as no address does.
    private(set) var replacementCount = 0
    /// The query of the last fetch; nil if the results cannot follow changes.
    private(set) var query: ResultsQuery?
    /// Whether the last fetch left out unsaved changes, which no later event reports.
    private var lacksChanges = false
    /// Makes the titles of sections. Set by the controller.
    weak var titles: (any SectionTitles)?
    weak var follower: (any ResultsFollower)? {
        didSet {
            if follower == nil { context.listeners.remove(self) } else if query != nil { context.listeners.add(self) }
        }
    }

    init(context: NSManagedObjectContext, sectionNameKeyPath: String?) {
        self.context = context
        self.sectionNameKeyPath = sectionNameKeyPath
    }

    // MARK: Fetching

    /// Fetches again. On an error everything stays as it was.
    ///
    /// - Parameters:
    ///   - needsOrder: whether sort descriptors are required. Without any, objects are in the order
    ///     of their keys.
    ///   - check: checks the results before they replace the former ones.
    /// - Throws: the errors of the fetch and the check; code 134060 for a request without sort
    ///   descriptors, results that cannot be in sections, and objects that are not in the order of
    ///   their sections.
    func fetch(
        _ request: NSFetchRequest<any NSFetchRequestResult>, needsOrder: Bool = true,
        check: ([NSObject]) throws -> Void = { _ in }
    ) throws {
        if needsOrder, request.sortDescriptors == nil {
            throw CoreDataErrors.resultsWithoutOrder(of: request.entityName)
        }
        // Changes that the results contain must not be reported at the event's end.
        context.processPendingChanges()
        let executor = try FetchExecutor(request, in: context)
        let fetched: [NSObject]
        var query: ResultsQuery?
        switch try context.asOperation({ try executor.run() }) {
        case .objects(let objects):
            fetched = objects
            query = ResultsQuery(request, executor.resolved, sectionNameKeyPath: sectionNameKeyPath)
        case .dictionaries(let dictionaries): fetched = dictionaries
        case .objectIDs(let objectIDs): fetched = objectIDs
        case .count:
            throw CoreDataErrors.resultsAsCount(resultName(request))
        }
        try check(fetched)
        contents = try inSections(fetched, request)
        self.query = query
        lacksChanges = query != nil && !request.includesPendingChanges && context.hasChanges
        if query != nil, follower != nil { context.listeners.add(self) } else { context.listeners.remove(self) }
    }

    private func inSections(_ objects: [NSObject], _ request: NSFetchRequest<any NSFetchRequestResult>) throws
        -> ResultsContents
    {
        guard let sectionNameKeyPath else { return ResultsContents(objects, titles: titles) }
        if objects.first is NSManagedObjectID {
            throw CoreDataErrors.sectionsOfObjectIDs(resultName(request), by: sectionNameKeyPath)
        }
        let name = SectionName(keyPath: sectionNameKeyPath)
        do {
            return try ResultsContents(objects, titles: titles) { name.of($0) }
        } catch let problem as ResultsContents.SectionOutOfOrder {
            let first = request.sortDescriptors?.first?.key.map { "\"\($0)\"" } ?? "a block"
            throw CoreDataErrors.sectionOutOfOrder(problem, resultName(request), by: sectionNameKeyPath, first: first)
        }
    }

    private func resultName(_ request: NSFetchRequest<any NSFetchRequestResult>) -> String {
        "entity \(request.entityName ?? "?")"
    }

    /// Fetches the objects of the query again.
    func fetchAgain(_ query: ResultsQuery) throws -> ResultsContents {
        let executor = FetchExecutor(query.request, query.resolved, in: context)
        guard case .objects(let objects) = try context.asOperation({ try executor.run() }) else {
            return ResultsContents([], titles: titles)
        }
        // Sections out of order are grouped by name, as when single objects are placed.
        guard let name = query.sectionName else { return ResultsContents(objects, titles: titles) }
        return ResultsContents.grouped(objects, titles: titles, by: name.of)
    }

    // MARK: Going back

    /// The contents before the last event, where they were replaced as a whole.
    private var former: ResultsContents?

    /// Runs a block with the results before the last changes, unless it fetches.
    func withFormerContents(_ changes: ResultsChanges, _ body: () -> Void) {
        let changed = contents
        takeBack(changes)
        let taken = contents
        let version = taken?.version
        body()
        guard contents === taken, taken?.version == version else { return }
        if taken === changed { changed?.replay(changes) } else { contents = changed }
    }

    /// Takes back changes that were made last.
    func takeBack(_ changes: ResultsChanges) {
        if let former { contents = former } else { contents?.replay(changes.inverted) }
    }
}

/// A receiver of changes of results, on the queue of their context.
protocol ResultsFollower: AnyObject {
    /// Whether any listener would be notified of changes; otherwise results stay as they are.
    var isListening: Bool { get }
    /// Called after the contents have changed.
    func results(_ results: FetchedResults, didChange changes: ResultsChanges)
    /// The context has saved its changes, or merged those of another context or program.
    func resultsDidReachStore(_ results: FetchedResults)
    /// The context has released its objects: results follow no changes until the next fetch.
    func resultsWereForgotten(_ results: FetchedResults)
}

extension ResultsFollower {
    var isListening: Bool { true }
    func resultsDidReachStore(_ results: FetchedResults) {}
    func resultsWereForgotten(_ results: FetchedResults) {}
}

extension FetchedResults: ContextListener {
    func context(_ context: NSManagedObjectContext, didEnd event: EventChanges) {
        guard let query, let contents, follower?.isListening == true else { return }
        update(TouchedObjects(event, query, contents, context), query, contents)
    }

    /// - Parameter fetches: whether to fetch again, whatever was touched.
    private func update(
        _ touched: TouchedObjects, _ query: ResultsQuery, _ contents: ResultsContents, fetches: Bool = false
    ) {
        guard let follower, fetches || !touched.isEmpty else { return }
        let changes: ResultsChanges
        let isLarge = touched.objects.count > max(Self.largeChange, contents.count / 4)
        if !isLarge { touched.readRows() }
        if fetches || isLarge || query.isPart {
            guard fetches || isLarge || touched.concern, let next = fetchedAgain(query) else { return }
            changes = ResultsDifference(from: contents, to: next, touched: touched).changes()
            former = contents
            self.contents = next
        } else {
            var update = ResultsUpdate(contents, query, touched)
            changes = update.run()
        }
        defer { former = nil }
        if !changes.isEmpty { follower.results(self, didChange: changes) }
    }

    /// From this many touched objects on, if a quarter of all, a fetch costs less than placing.
    private static let largeChange = 1000

    /// The results that a fetch gives now. The next save throws its error.
    private func fetchedAgain(_ query: ResultsQuery) -> ResultsContents? {
        do {
            return try fetchAgain(query)
        } catch {
            context.readFailure = error
            return nil
        }
    }

    func context(_ context: NSManagedObjectContext, didSave saved: [ContiguousArray<NSManagedObject>]) {
        // A save updates derived attributes, and makes changes known that the fetch left out.
        if let query, let contents, query.hasDerivedAttributes || lacksChanges {
            update(TouchedObjects(saved, query, contents, context), query, contents, fetches: lacksChanges)
        }
        lacksChanges = false
        follower?.resultsDidReachStore(self)
    }

    func objectsOutOfPlace(in context: NSManagedObjectContext) -> (
        missing: [NSManagedObjectID], misplaced: [NSManagedObjectID]
    ) {
        guard let query, let contents, follower?.isListening == true, let next = fetchedAgain(query) else {
            return ([], [])
        }
        let former = contents.objects.compactMap { $0 as? NSManagedObject }
        let present = next.objects.compactMap { $0 as? NSManagedObject }
        let (formerSet, presentSet) = (Set(former), Set(present))
        let (stayed, staying) = (former.filter(presentSet.contains), present.filter(formerSet.contains))
        let misplaced = former.filter { !presentSet.contains($0) } + zip(stayed, staying).filter { $0 !== $1 }.map(\.0)
        return (present.filter { !formerSet.contains($0) }.map(\.objectID), misplaced.map(\.objectID))
    }

    func contextDidMerge(_ context: NSManagedObjectContext) { follower?.resultsDidReachStore(self) }

    func contextForgotObjects(_ context: NSManagedObjectContext) {
        query = nil
        follower?.resultsWereForgotten(self)
    }
}
