import Dispatch

/// The newest committed rows of a context's objects, as a merge takes them over.
final class NewestRows {
    private let context: NSManagedObjectContext
    /// Where rows came from last: many objects in a row have the same source.
    private var last: (number: Int32, source: (any RowSource)?)?
    /// The pages of rows that were replaced, each once where it was that of objects in a row.
    private var replacedPages: ContiguousArray<RowPage> = []

    /// How many rows are looked up under one lock, and how many pages are too many to be freed on the context's queue.
    private static let chunk = (rows: 512, pages: 16)

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

    /// Calls a block with the place and the row of each of many objects of one table.
    func forEachRow(of objects: ContiguousArray<NSManagedObject>, _ body: (Int, RowPointer?) -> Void) {
        guard let first = objects.first, let cache = source(near: first)?.rowCache(of: first.layout) else {
            for place in objects.indices { withRow(of: objects[place]) { body(place, $0) } }
            return
        }
        var start = 0
        while start < objects.count {
            let end = min(start + Self.chunk.rows, objects.count)
            let cached = cache.rows(for: objects[start..<end].lazy.map(\.key))
            withExtendedLifetime(cached) {
                for place in start..<end { body(place, cached.rows[place - start]) }
            }
            start = end
        }
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
        if pages.count > Self.chunk.pages { DispatchQueue.global(qos: .utility).async { withExtendedLifetime(pages) {} } }
    }
}
