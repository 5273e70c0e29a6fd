import Dispatch

/// What a merge replaces the rows of a context's objects by: the newest committed ones.
final class NewestRows {
    private let context: NSManagedObjectContext
    /// Where rows came from last: many objects in a row have the same source.
    private var last: (number: Int32, source: (any RowSource)?)?
    /// The pages of rows that were replaced, each once where it was that of objects in a row.
    private var replacedPages: ContiguousArray<RowPage> = []

    /// How many pages are too many to be freed on the context's queue.
    private static let manyPages = 16

    init(of context: NSManagedObjectContext) { self.context = context }

    private func source(near object: NSManagedObject) -> (any RowSource)? {
        let number = Int32(object.storeNumber)
        if let last, last.number == number { return last.source }
        let source = context.rows(near: object)
        last = (number, source)
        return source
    }

    /// Calls a block with the row of an object; nil where nobody uses it, and for a fault.
    func withRow<Value>(of object: NSManagedObject, _ body: (RowPointer?) -> Value) -> Value {
        let snapshot = object.flags.contains(.fault) ? nil : source(near: object)?.cachedRow(object.key, of: object.layout)
        return withExtendedLifetime(snapshot) { body(snapshot?.row) }
    }

    /// Calls a block with the place and the row of each of the objects of a table that are the context's still.
    func forEachRow(of found: FoundObjects, _ body: (Int, RowPointer?) -> Void) {
        guard let first = found.objects.first, let cache = source(near: first)?.rowCache(of: first.layout), cache === found.cache else {
            for place in found.objects.indices where isHere(found.objects[place]) {
                withRow(of: found.objects[place]) { body(place, $0) }
            }
            return
        }
        found.forEachRow { place, row in
            let object = found.objects[place]
            if !isHere(object) { return }
            // Since it was found, a later one may have been read.
            if let row, object.committedRow.map(row.isSameOrLater) != false { return body(place, row) }
            withRow(of: object) { body(place, $0) }
        }
    }

    /// Whether an object that was found has not left the context since.
    private func isHere(_ object: NSManagedObject) -> Bool {
        object.heldRegistry?.toOpaque() == Unmanaged.passUnretained(context.registry).toOpaque() && object.storeNumber >= 0
            && object.flags.isDisjoint(with: [.invalid, .deletionSaved])
    }

    /// Keeps the page of an object's row, which is about to be replaced, alive until `releaseReplacedPages`.
    func keepReplacedPage(of object: NSManagedObject) {
        guard let page = object.page, page !== replacedPages.last else { return }
        replacedPages.append(page)
    }

    /// Lets go of the pages whose rows were replaced: of many on no queue of the program's, for freeing them takes their rows out of the cache.
    func releaseReplacedPages() {
        let pages = replacedPages
        replacedPages = []
        if pages.count > Self.manyPages { DispatchQueue.global(qos: .utility).async { withExtendedLifetime(pages) {} } }
    }
}
