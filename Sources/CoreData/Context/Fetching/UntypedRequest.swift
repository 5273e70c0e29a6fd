import Foundation

/// A fetched results controller's request as its delegate gets it, typed for any result.
///
/// It reads and writes the settings of the original request.
final class UntypedRequest<Original>: NSFetchRequest<any NSFetchRequestResult> {
    private let original: NSFetchRequest<Original>

    init(of original: NSFetchRequest<Original>) {
        self.original = original
        super.init()
    }

    required init() {
        original = NSFetchRequest()
        super.init()
    }

    override var affectedStores: [NSPersistentStore]? {
        get { original.affectedStores }
        set { original.affectedStores = newValue }
    }
    override var entity: NSEntityDescription? {
        get { original.entity }
        set { original.entity = newValue }
    }
    override var entityName: String? { original.entityName }
    override var predicate: NSPredicate? {
        get { original.predicate }
        set { original.predicate = newValue }
    }
    override var sortDescriptors: [NSSortDescriptor]? {
        get { original.sortDescriptors }
        set { original.sortDescriptors = newValue }
    }
    override var fetchLimit: Int {
        get { original.fetchLimit }
        set { original.fetchLimit = newValue }
    }
    override var fetchOffset: Int {
        get { original.fetchOffset }
        set { original.fetchOffset = newValue }
    }
    override var fetchBatchSize: Int {
        get { original.fetchBatchSize }
        set { original.fetchBatchSize = newValue }
    }
    override var resultType: NSFetchRequestResultType {
        get { original.resultType }
        set { original.resultType = newValue }
    }
    override var includesSubentities: Bool {
        get { original.includesSubentities }
        set { original.includesSubentities = newValue }
    }
    override var includesPendingChanges: Bool {
        get { original.includesPendingChanges }
        set { original.includesPendingChanges = newValue }
    }
    override var includesPropertyValues: Bool {
        get { original.includesPropertyValues }
        set { original.includesPropertyValues = newValue }
    }
    override var returnsObjectsAsFaults: Bool {
        get { original.returnsObjectsAsFaults }
        set { original.returnsObjectsAsFaults = newValue }
    }
    override var shouldRefreshRefetchedObjects: Bool {
        get { original.shouldRefreshRefetchedObjects }
        set { original.shouldRefreshRefetchedObjects = newValue }
    }
    override var relationshipKeyPathsForPrefetching: [String]? {
        get { original.relationshipKeyPathsForPrefetching }
        set { original.relationshipKeyPathsForPrefetching = newValue }
    }
    override var propertiesToFetch: [Any]? {
        get { original.propertiesToFetch }
        set { original.propertiesToFetch = newValue }
    }
    override var propertiesToGroupBy: [Any]? {
        get { original.propertiesToGroupBy }
        set { original.propertiesToGroupBy = newValue }
    }
    override var havingPredicate: NSPredicate? {
        get { original.havingPredicate }
        set { original.havingPredicate = newValue }
    }
    override var returnsDistinctResults: Bool {
        get { original.returnsDistinctResults }
        set { original.returnsDistinctResults = newValue }
    }

    override func setEntityName(_ name: String) { original.setEntityName(name) }

    override func noteEntity(_ entity: NSEntityDescription) { original.noteEntity(entity) }

    override func copyValues<Other>(to copy: NSFetchRequest<Other>) { original.copyValues(to: copy) }

    override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchRequest<any NSFetchRequestResult>()
        copyValues(to: copy)
        return copy
    }
}
