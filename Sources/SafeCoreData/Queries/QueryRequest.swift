/// A typed request that is resolved later in a context.
@usableFromInline
struct QueryRequest<Object: NSManagedObject>: Sendable {
    private let parts: Result<(predicate: NSPredicate?, order: [NSSortDescriptor]), any Error>
    private let limit: Int?
    private let offset: Int

    @usableFromInline
    init(
        _ type: Object.Type, _ predicate: Predicate<Object>?, _ orderings: [Ordering<Object>], limit: Int?,
        offset: Int = 0
    ) {
        parts = Result {
            (try predicate.map { try NSPredicate.translating($0) }, try orderings.map { try $0.sortDescriptor() })
        }
        self.limit = limit
        self.offset = offset
    }

    init(_ objectID: NSManagedObjectID) {
        parts = .success((NSPredicate(format: "SELF == %@", objectID), []))
        limit = nil
        offset = 0
    }

    func request(in context: NSManagedObjectContext) throws -> NSFetchRequest<Object> {
        let parts = try parts.get()
        let request = try context.request(for: Object.self, limit: limit, offset: offset)
        request.predicate = limit == 0 ? NSPredicate(value: false) : parts.predicate
        request.sortDescriptors = parts.order
        return request
    }

    @usableFromInline
    func request(in context: ReadContext) throws -> NSFetchRequest<Object> { try request(in: context.context) }
}
