import Dispatch

/// The newest committed rows, with which a merge replaces the rows of a context's objects.
final class NewestRows {
    private let context: NSManagedObjectContext
    /// The last source of rows: consecutive objects often have the same source.
    private var last: (number: Int32, source: (any RowSource)?)?
    /// The pages of replaced rows. A page of consecutive objects is in the list once.
    private var replacedPages: ContiguousArray<RowPage> = []

    /// The largest number of pages that are freed on the context's queue.
    private static let manyPages = 16

    init(of context: NSManagedObjectContext) { self.context = context }

    private func source(near object: NSManagedObject) -> (any RowSource)? {
        let number = Int32(object.storeNumber)
        if let last, last.number == number { return last.source }
        let source = context.rows(near: object)
        last = (number, source)
        return source
    }

    /// Calls a block with the row of an object; nil if no row is cached, and for a fault.
    func withRow<Value>(of object: NSManagedObject, _ body: (RowPointer?) -> Value) -> Value {
        let snapshot =
            object.flags.contains(.fault) ? nil : source(near: object)?.cachedRow(object.key, of: object.layout)
        return withExtendedLifetime(snapshot) { body(snapshot?.row) }
    }

    /// Calls a block with the index and the row of each found object that is still in the context.
    func forEachRow(of found: FoundObjects, _ body: (Int, RowPointer?) -> Void) {
        guard let first = found.objects.first, let cache = source(near: first)?.rowCache(of: first.layout),
            cache === found.cache
        else {
            for place in found.objects.indices where isHere(found.objects[place]) {
                withRow(of: found.objects[place]) { body(place, $0) }
            }
            return
        }
        found.forEachRow { place, row in
            let object = found.objects[place]
            if !isHere(object) { return }
            // A later row may have been read since the object was found.
            if let row, object.committedRow.map(row.isSameOrLater) != false { return body(place, row) }
            withRow(of: object) { body(place, $0) }
        }
    }

    /// Whether a found object is still in the context.
    private func isHere(_ object: NSManagedObject) -> Bool {
        object.heldRegistry?.pointer == Unretained(context.registry).pointer
            && object.storeNumber >= 0
            && object.flags.isDisjoint(with: [.invalid, .deletionSaved])
    }

    /// Keeps the page of a row that is about to be replaced alive until `releaseReplacedPages`.
    func keepReplacedPage(of object: NSManagedObject) {
        guard let page = object.page, page !== replacedPages.last else { return }
        replacedPages.append(page)
    }

    /// Releases the pages of replaced rows. Many pages are released outside the program's queues,
    /// because freeing them removes their rows from the cache.
    func releaseReplacedPages() {
        let pages = replacedPages
        replacedPages = []
        if pages.count > Self.manyPages { DispatchQueue.global(qos: .utility).async { withExtendedLifetime(pages) {} } }
    }
}
