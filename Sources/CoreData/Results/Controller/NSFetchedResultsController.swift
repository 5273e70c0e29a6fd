import Foundation

/// The base class of fetched results controllers of all types.
///
/// A delegate gets the controller typed for any result. Off Apple's platforms this is another
/// object: `===` and `==` compare the results behind both.
open class FetchedResultsControllerBase: NSObject {
    let results: FetchedResults
    let announcer: ResultsAnnouncer

    init(_ results: FetchedResults, _ announcer: ResultsAnnouncer) {
        self.results = results
        self.announcer = announcer
    }

    open override func isEqual(_ object: Any?) -> Bool {
        (object as? FetchedResultsControllerBase)?.results === results
    }

    open override var hash: Int { ObjectIdentifier(results).hashValue }
}

/// Whether both controllers have the same results.
public func === (left: FetchedResultsControllerBase?, right: FetchedResultsControllerBase?) -> Bool {
    left?.results === right?.results
}

/// Whether both controllers have different results.
public func !== (left: FetchedResultsControllerBase?, right: FetchedResultsControllerBase?) -> Bool {
    !(left === right)
}

/// Keeps the results of a fetch, in order and in sections, and notifies its delegate of changes.
///
/// The results follow the objects of their context, saved or not, with every
/// `didChangeObjectsNotification`, while there is a delegate that has a method for changes. Saves
/// of other contexts count when they are merged into the context. Changes of objects that the
/// predicate, the order or the sections reach through relationships are not noticed until the
/// objects themselves change, as on a Mac.
///
/// One change costs time for the objects that changed and for the logarithm of the number of
/// results. With a `fetchLimit` or a `fetchOffset` the request is executed again for each event
/// that concerns its entity, so that the results are always its first ones. Requests for IDs and
/// dictionaries work, but do not follow changes.
///
/// Use it on the queue of its context.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsfetchedresultscontroller>
///
/// ```swift
/// let controller = NSFetchedResultsController(
///     fetchRequest: request, managedObjectContext: context,
///     sectionNameKeyPath: "supplier.name", cacheName: nil)
/// controller.delegate = list
/// try controller.performFetch()
/// let first = controller.object(at: IndexPath(item: 0, section: 0))
/// ```
open class NSFetchedResultsController<ResultType>: FetchedResultsControllerBase {
    // `ResultType` has no constraint, for the same reason as in `NSFetchRequest`.

    /// The request. Changes of it take effect with the next `performFetch()`.
    public let fetchRequest: NSFetchRequest<ResultType>
    /// The name of the cache.
    ///
    /// No cache is kept: sections are found while rows are read. The name has only one effect:
    /// entity, predicate and sort descriptors of the request must not change between two fetches
    /// without `deleteCache(withName:)`.
    public let cacheName: String?
    private var cached: CachedRequest?
    /// The controller typed for any result, for the delegate; nil if it has that type itself.
    private var anyResult: NSFetchedResultsController<any NSFetchRequestResult>?
    private var listed: (version: Int, replacementCount: Int, objects: [ResultType])?

    /// Creates a controller; `performFetch()` fetches.
    ///
    /// - Parameters:
    ///   - fetchRequest: the request, with at least one sort descriptor.
    ///   - context: the context to fetch in. The controller follows its changes while it has a
    ///     delegate, and works on its queue.
    ///   - sectionNameKeyPath: the property, or the path to it, whose value is the name of an
    ///     object's section; nil for one section. The first sort descriptor must bring objects into
    ///     the order of their sections.
    ///   - name: see ``cacheName``.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?,
        cacheName name: String?
    ) {
        self.fetchRequest = fetchRequest
        cacheName = name
        super.init(FetchedResults(context: context, sectionNameKeyPath: sectionNameKeyPath), ResultsAnnouncer())
        results.titles = self
    }

    /// A placeholder for another controller. Its request has no entity, so that `performFetch()`
    /// throws.
    public convenience init() {
        self.init(
            fetchRequest: NSFetchRequest(),
            managedObjectContext: NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType),
            sectionNameKeyPath: nil, cacheName: nil)
    }

    /// Creates a form of a controller for another result type, with the same results.
    private init(
        of request: NSFetchRequest<ResultType>, cacheName: String?, _ results: FetchedResults,
        _ announcer: ResultsAnnouncer
    ) {
        fetchRequest = request
        self.cacheName = cacheName
        super.init(results, announcer)
    }

    /// The context whose objects are fetched.
    open var managedObjectContext: NSManagedObjectContext { results.context }
    /// The path to the name of an object's section.
    open var sectionNameKeyPath: String? { results.sectionNameKeyPath }

    /// The delegate, which is notified of changes; not kept alive.
    ///
    /// ```swift
    /// controller.delegate = list          // keep it elsewhere; nil ends following
    /// ```
    weak open var delegate: (any NSFetchedResultsControllerDelegate)? {
        get { announcer.delegate }
        set {
            announcer.delegate = newValue
            results.follower = newValue == nil ? nil : (results.titles as? any ResultsFollower)
        }
    }

    /// Fetches, and follows changes from now on. On an error the results stay as they were.
    ///
    /// Pending changes of the context are processed first. Without any sort descriptor objects are
    /// in the order of their keys.
    ///
    /// Cost: a fetch, and O(n) for the places and sections of its results.
    ///
    /// ```swift
    /// do { try controller.performFetch() } catch { print(error.localizedDescription) }
    /// let count = controller.fetchedObjects?.count ?? 0
    /// ```
    ///
    /// - Throws: the errors of the fetch; code 134060 for a request without sort descriptors,
    ///   objects that are not in the order of their sections, results that are not of the
    ///   controller's type, and a request that has changed under its cache.
    open func performFetch() throws {
        // The form for the delegate calls the original controller, whose class may override this.
        if let controller = results.titles, controller !== self { return try controller.performFetch() }
        let request = NSFetchRequest<any NSFetchRequestResult>()
        fetchRequest.copyValues(to: request)
        let asked = cacheName.map { CachedRequest(request, cache: $0) }
        if let asked, let cached, let cacheName { try asked.check(against: cached, cache: cacheName) }
        try results.fetch(request, check: checkTypes)
        if let entity = request.entity { fetchRequest.noteEntity(entity) }
        cached = asked
        announcer.announceFetch(results, facade)
    }

    /// The form of the controller that the delegate gets.
    fileprivate var facade: NSFetchedResultsController<any NSFetchRequestResult> {
        if let same = self as? NSFetchedResultsController<any NSFetchRequestResult> { return same }
        if let anyResult { return anyResult }
        let made = NSFetchedResultsController<any NSFetchRequestResult>(
            of: NSFetchRequest(sharing: fetchRequest), cacheName: cacheName, results, announcer)
        anyResult = made
        return made
    }

    // MARK: Results

    /// The results, in order; nil before the first fetch.
    ///
    /// Takes time for each of them when they have changed.
    ///
    /// ```swift
    /// let total = controller.fetchedObjects?.reduce(0) { $0 + $1.stockCount } ?? 0
    /// ```
    open var fetchedObjects: [ResultType]? {
        guard let contents = results.contents else { return nil }
        let replacementCount = results.replacementCount
        if let listed, listed.replacementCount == replacementCount, listed.version == contents.version {
            return listed.objects
        }
        let objects = contents.objects.map(typed)
        // An array that is kept would keep the rows of all batches.
        if fetchRequest.fetchBatchSize == 0 { listed = (contents.version, replacementCount, objects) }
        return objects
    }

    /// The object at a place.
    ///
    /// Asking for an object before the first fetch, or outside of the sections, is a programming
    /// error.
    ///
    /// ```swift
    /// let item = controller.object(at: IndexPath(item: row, section: section))    // O(log n)
    /// ```
    open func object(at indexPath: IndexPath) -> ResultType {
        guard let contents = results.contents else {
            preconditionFailure("There is no object at \(indexPath): performFetch() was not called.")
        }
        guard indexPath.count == 2, indexPath.section >= 0, indexPath.section < contents.sections.count,
            indexPath.item >= 0, indexPath.item < contents.sections[indexPath.section].items.count
        else {
            preconditionFailure(
                "There is no object at \(indexPath) in the results for \(fetchRequest.entityName ?? "?").")
        }
        return typed(contents.object(at: ResultsPath(section: indexPath.section, row: indexPath.item)))
    }

    /// The place of an object; nil if it is not among the results.
    ///
    /// Cost: O(log n) for an object; O(n) for IDs and dictionaries.
    ///
    /// ```swift
    /// if let path = controller.indexPath(forObject: item) { print(path.section, path.item) }
    /// ```
    open func indexPath(forObject object: ResultType) -> IndexPath? {
        guard let contents = results.contents, let object = object as? NSObject else { return nil }
        if let path = contents.path(of: object) { return path.indexPath }
        if object is NSManagedObject { return nil }
        // IDs and dictionaries are found by equality.
        for (section, info) in contents.sections.array.enumerated() {
            if let row = info.items.array.firstIndex(where: { SameValues.areSame($0, object) }) {
                return IndexPath(item: row, section: section)
            }
        }
        return nil
    }

    /// Checks that results are of the controller's type, once for each run of objects of one class.
    private func checkTypes(_ objects: [NSObject]) throws {
        var known: AnyClass?
        for (place, object) in objects.enumerated() where type(of: object) != known {
            guard object is ResultType else {
                throw CoreDataErrors.resultOfOtherType(
                    type(of: object), at: place, of: fetchRequest.entityName, as: fetchRequest.resultType,
                    wanted: ResultType.self)
            }
            known = type(of: object)
        }
    }

    private func typed(_ object: NSObject) -> ResultType {
        guard let typed = object as? ResultType else {
            preconditionFailure(
                "A fetched results controller for \(ResultType.self) has fetched an object of the class "
                    + "\(type(of: object)) "
                    + "(entity \(fetchRequest.entityName ?? "?"), result type \(fetchRequest.resultType.rawValue)).")
        }
        return typed
    }

    // MARK: Sections

    /// The sections, in order; nil before the first fetch. Takes time for each of them.
    ///
    /// ```swift
    /// let counts = controller.sections?.map { ($0.name, $0.numberOfObjects) }
    /// ```
    open var sections: [any NSFetchedResultsSectionInfo]? { results.contents?.sections.array }

    /// The titles of an index of the sections: each title once, in the order of the sections.
    open var sectionIndexTitles: [String] {
        var seen: Set<LiteralText> = []
        return (sections ?? []).compactMap(\.indexTitle).filter { seen.insert(LiteralText($0)).inserted }
    }

    /// The title of a section in an index: the delegate's title, or the first letter of the name as
    /// a capital.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        // The form for the delegate asks the original controller, whose class may override this.
        if let titles = results.titles, titles !== self { return titles.indexTitle(ofSection: sectionName) }
        guard let delegate else { return FetchedSection.defaultIndexTitle(sectionName) }
        return delegate.controller(facade, sectionIndexTitleForSectionName: sectionName)
    }

    /// The first section with a title of the index.
    ///
    /// A title that no section has is a programming error.
    ///
    /// - Parameters:
    ///   - title: one of `sectionIndexTitles`.
    ///   - sectionIndex: its place there.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        guard
            let section = (sections ?? []).firstIndex(where: {
                $0.indexTitle.map { LiteralText.areSame($0, title) } ?? false
            })
        else {
            preconditionFailure("No section has the index title \"\(title)\" (number \(sectionIndex)).")
        }
        return section
    }

    // MARK: Cache

    /// Allows the requests of controllers with this cache to change; nil stands for all caches.
    ///
    /// ```swift
    /// NSFetchedResultsController<Item>.deleteCache(withName: "Items")
    /// controller.fetchRequest.predicate = NSPredicate(format: "stockCount > 0")
    /// try controller.performFetch()
    /// ```
    open class func deleteCache(withName name: String?) { ResultsCaches.delete(name) }
}

extension NSFetchedResultsController: SectionTitles {
    func indexTitle(ofSection name: String) -> String? { sectionIndexTitle(forSectionName: name) }
}

extension NSFetchedResultsController: ResultsFollower {
    var isListening: Bool { announcer.delegate != nil }

    func results(_ results: FetchedResults, didChange changes: ResultsChanges) {
        announcer.announce(changes, results, facade)
        if announcer.hasNoListener {
            results.takeBack(changes)
            results.follower = nil
        }
    }
}
