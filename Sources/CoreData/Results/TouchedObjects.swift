import Foundation

/// Objects of an event that affect results: those in the results, and those that may be added.
struct TouchedObjects {
    enum Reason {
        /// Changed in this context, but not in the properties that decide its place.
        case changed
        /// Changed in this context in a property that decides its place.
        case placed
        /// New, or its values were read again: the changed properties are not known.
        case unknown
    }

    private(set) var objects: [(object: NSManagedObject, reason: Reason)] = []
    private let query: ResultsQuery
    private let contents: ResultsContents
    private let context: NSManagedObjectContext

    init(_ event: EventChanges, _ query: ResultsQuery, _ contents: ResultsContents, _ context: NSManagedObjectContext) {
        self.query = query
        self.contents = contents
        self.context = context
        let root = query.resolved.layout.rootIndex
        var seen: Set<ObjectIdentifier> = []
        func add(_ object: NSManagedObject, _ reason: (NSManagedObject) -> Reason?) {
            guard object.layout.rootIndex == root, let reason = reason(object),
                seen.insert(ObjectIdentifier(object)).inserted
            else {
                return
            }
            objects.append((object, reason))
        }
        event.updated.forEachUnretained { object in
            add(object) { object in
                // Values that were merged into its unsaved changes are not recorded as changed.
                if event.reread.contains(object) { return .unknown }
                guard let properties = event.changedProperties(of: object) else { return nil }
                return query.placeChanged(of: object, properties.altered) ? .placed : .changed
            }
        }
        event.inserted.forEachUnretained { add($0) { _ in .unknown } }
        event.deleted.forEachUnretained { add($0) { _ in .unknown } }
        for object in event.refreshed.objects { add(object) { _ in .unknown } }
        for object in event.invalidated { add(object) { _ in .unknown } }
        for objectID in event.unseenUpdates where objectID.layout.rootIndex == root {
            add(context.object(with: objectID)) { _ in .unknown }
        }
    }

    /// Objects that were saved.
    init(
        _ saved: [ContiguousArray<NSManagedObject>], _ query: ResultsQuery, _ contents: ResultsContents,
        _ context: NSManagedObjectContext
    ) {
        self.query = query
        self.contents = contents
        self.context = context
        let root = query.resolved.layout.rootIndex
        for object in saved.joined() where object.layout.rootIndex == root { objects.append((object, .unknown)) }
    }

    var isEmpty: Bool { objects.isEmpty }

    /// Reads the rows of faults at once. What cannot be read is read, or reported, when used.
    func readRows() {
        let faults = objects.map(\.object).filter {
            $0.flags.contains(.fault) && $0.committedRow == nil && $0.storeNumber >= 0
        }
        if faults.count < 2 { return }
        for (number, group) in Dictionary(grouping: faults, by: { Int($0.storeNumber) }) {
            guard let rows = context.rows(ofStore: number) else { continue }
            var read = FetchedRows()
            var missing: [Int64] = []
            for fault in group {
                if let cached = rows.cachedRow(fault.key, of: fault.layout) {
                    read.rows.append(cached.row)
                    read.pages.append(cached.page)
                } else {
                    missing.append(fault.key)
                }
            }
            if !read.rows.isEmpty { _ = context.objects(of: read, store: number, asFaults: true) }
            // If that fails, each is read when used, which records the failure.
            guard !missing.isEmpty,
                let found = try? rows.readRows(
                    missing, of: query.resolved.layout.model.layouts[group[0].layout.rootIndex])
            else { continue }
            _ = context.objects(of: found, store: number, asFaults: true)
        }
    }

    /// Whether any of the objects is, would be, or may have been a result. If the request asks for
    /// a part of the matches, it is not known which objects were results.
    var concern: Bool {
        objects.contains { object, _ in
            object.flags.contains(.deleted) || contents.contains(object) || !object.flags.isDisjoint(with: .discarded)
                || query.matches(object, in: context) || query.resolved.fetch.offset > 0
        }
    }

    func matches(_ object: NSManagedObject) -> Bool { query.matches(object, in: context) }
}
