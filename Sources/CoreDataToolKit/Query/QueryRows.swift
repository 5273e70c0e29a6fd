import CoreData

/// Fetches the rows of a query in chunks.
///
/// One fetch returns the sorted IDs. The objects are fetched by ID and released chunk by chunk, so
/// that memory holds only the IDs and one chunk.
struct QueryRows: ResultRows {
    let entity: NSEntityDescription
    let columns: [QueryColumn]
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor] = []
    var limit: Int?
    var offset = 0
    /// The relationships whose objects are needed with each object.
    var prefetched: [String] = []
    /// The number of objects that are in memory at a time.
    var chunkSize = 1000
    let context: NSManagedObjectContext
    /// The checks for values that the engine cannot show as they are.
    private let checks: CellChecks?
    private let reader: SQLiteReader

    init(_ opened: OpenedStore, entity: NSEntityDescription, columns: [QueryColumn]) {
        context = opened.context
        reader = opened.store.reader
        self.entity = entity
        self.columns = columns
        let table = opened.store.survey.tables.first { $0.entities.contains { $0.name == entity.name } }
        checks = table.map {
            CellChecks($0, entity: entity, properties: Set(columns.map(\.name)), file: opened.store.file)
        }
    }

    func forEach(_ body: ([CellValue]) throws -> Void) throws -> ResultOutcome {
        try forEachObject { _, row in try body(row) }
    }

    /// Passes each object with its row to `body`, in order.
    func forEachObject(_ body: (NSManagedObject, [CellValue]) throws -> Void) throws -> ResultOutcome {
        var odd = OddCells()
        let toManyNames = columns.compactMap { column -> String? in
            if case .toMany = column.source { return column.name }
            return nil
        }
        let count = try forEachChunk { objects in try forEach(of: objects, toManyNames, &odd, body) }
        return ResultOutcome(count: count, problems: odd.sentences)
    }

    // MARK: Fetching

    /// Fetches the objects in order, in chunks, and releases each chunk after `body`.
    ///
    /// - Returns: the number of objects.
    private func forEachChunk(_ body: ([NSManagedObject]) throws -> Void) throws -> Int {
        if limit == 0 { return 0 }
        return try context.performAndWait {
            let ids = try objectIDs()
            for start in stride(from: 0, to: ids.count, by: chunkSize) {
                let chunk = Array(ids[start..<min(start + chunkSize, ids.count)])
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.predicate = .isAmong(chunk)
                request.sortDescriptors = order
                request.returnsObjectsAsFaults = false
                request.relationshipKeyPathsForPrefetching = prefetched
                // Rows that were deleted since the IDs were fetched are omitted.
                try body(try context.fetch(request))
                context.reset()
            }
            return ids.count
        }
    }

    /// Fetches the identities of the objects in order.
    func objectIDs() throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
        request.resultType = .managedObjectIDResultType
        request.predicate = predicate
        request.sortDescriptors = order
        request.fetchLimit = limit ?? 0
        request.fetchOffset = offset
        return try context.performAndWait { try context.fetch(request) }
    }

    /// Returns the number of objects, counted by the store.
    func count() throws -> Int {
        if limit == 0 { return 0 }
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = predicate
        request.fetchLimit = limit ?? 0
        request.fetchOffset = offset
        return try context.performAndWait { try context.count(for: request) }
    }

    /// The object itself is the last criterion, so that the order is always the same.
    private var order: [NSSortDescriptor] { sortDescriptors + [NSSortDescriptor(key: "self", ascending: true)] }

    // MARK: Values

    private func forEach(
        of objects: [NSManagedObject], _ toManyNames: [String], _ odd: inout OddCells,
        _ body: (NSManagedObject, [CellValue]) throws -> Void
    ) throws {
        let ids = objects.map(\.objectID)
        let names = ids.map(ObjectName.init)
        let allCounts = try ToManyCounts.counts(of: ids, toManyNames, of: entity, in: context)
        let found = try checks?.oddCells(of: names.compactMap(\.key), reader: reader) ?? [:]
        for (index, object) in objects.enumerated() {
            let oddCells = found.isEmpty ? nil : names[index].key.flatMap { found[$0] }
            if let oddCells, let key = names[index].key { odd.add(oddCells, of: key) }
            let counts = allCounts.isEmpty ? nil : allCounts[ids[index]]
            var toManyIndex = 0
            try body(
                object,
                columns.map { column in
                    switch column.source {
                    case .object: return .text(names[index].text)
                    case .toMany:
                        defer { toManyIndex += 1 }
                        return .number(String(counts?[toManyIndex] ?? 0))
                    default:
                        return OddCells.value(of: column, among: oddCells) ?? column.value(of: object, oddCells)
                    }
                })
        }
    }
}
