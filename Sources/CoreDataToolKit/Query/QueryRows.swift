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
    private let context: NSManagedObjectContext
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
        let count = try forEachChunk { objects in try forEach(of: objects, &odd, body) }
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
                try autoreleased {
                    let request: NSFetchRequest<NSManagedObject> = self.request(for: chunk)
                    request.returnsObjectsAsFaults = false
                    request.relationshipKeyPathsForPrefetching = prefetched
                    // Rows that were deleted since the IDs were fetched are omitted.
                    try body(try context.fetch(request))
                    context.reset()
                }
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

    /// Returns a request for some objects, in the order of the query.
    private func request<Result>(for ids: [NSManagedObjectID]) -> NSFetchRequest<Result> {
        let request = NSFetchRequest<Result>(entityName: entity.name ?? "")
        request.predicate = NSComparisonPredicate(
            leftExpression: .expressionForEvaluatedObject(), rightExpression: NSExpression(forConstantValue: ids),
            modifier: .direct, type: .in, options: [])
        request.sortDescriptors = order
        return request
    }

    // MARK: Values

    private func forEach(
        of objects: [NSManagedObject], _ odd: inout OddCells, _ body: (NSManagedObject, [CellValue]) throws -> Void
    ) throws {
        let ids = objects.map(\.objectID)
        let names = ids.map(ObjectName.init)
        let allCounts = try toManyCounts(of: ids)
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

    /// Returns the numbers of objects in the to-many columns, by object; no entry where all are 0.
    ///
    /// The store counts them, no object is loaded. The condition keeps rows without any away,
    /// because most of the cost is the dictionaries of the result.
    private func toManyCounts(of ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: [Int]] {
        let names = columns.compactMap { column -> String? in
            if case .toMany = column.source { return column.name }
            return nil
        }
        if names.isEmpty || ids.isEmpty { return [:] }
        let counts = names.map { NSExpression(forKeyPath: $0 + ".@count") }
        let request: NSFetchRequest<NSDictionary> = request(for: ids)
        request.sortDescriptors = nil
        request.resultType = .dictionaryResultType
        request.propertiesToFetch =
            [
                NSExpressionDescription(
                    column: QueryColumn.objectID, .expressionForEvaluatedObject(), .objectIDAttributeType)
            ]
            + counts.enumerated().map { NSExpressionDescription(column: "\($0)", $1, .integer64AttributeType) }
        let isAny = counts.map { count in
            NSComparisonPredicate(
                leftExpression: count, rightExpression: NSExpression(forConstantValue: 0), modifier: .direct,
                type: .greaterThan, options: [])
        }
        if let chosen = request.predicate {
            request.predicate = NSCompoundPredicate(
                type: .and, subpredicates: [chosen, NSCompoundPredicate(type: .or, subpredicates: isAny)])
        }
        var result: [NSManagedObjectID: [Int]] = [:]
        for row in try context.fetch(request) {
            guard let id = row[QueryColumn.objectID] as? NSManagedObjectID else { continue }
            result[id] = names.indices.map { (row["\($0)"] as? NSNumber)?.intValue ?? 0 }
        }
        return result
    }

    /// Runs a block in an autorelease pool on platforms that have one.
    private func autoreleased(_ body: () throws -> Void) rethrows {
        #if canImport(Darwin)
            try autoreleasepool(invoking: body)
        #else
            try body()
        #endif
    }
}

extension NSExpressionDescription {
    /// Creates a computed column of a result.
    convenience init(column name: String, _ expression: NSExpression, _ type: NSAttributeType) {
        self.init()
        self.name = name
        self.expression = expression
        expressionResultType = type
    }
}
