import CoreData

/// Fetches the rows of a query in chunks.
///
/// One fetch returns the sorted IDs. The objects are fetched by ID and released chunk by chunk, so
/// that memory holds only the IDs and one chunk.
struct QueryRows {
    let context: NSManagedObjectContext
    let entity: NSEntityDescription
    let columns: [QueryColumn]
    var predicate: NSPredicate?
    var sortDescriptors: [NSSortDescriptor] = []
    var limit: Int?
    var offset = 0
    /// The checks for values that the engine cannot show as they are.
    var checks: CellChecks?
    let reader: SQLiteReader

    private static let chunkSize = 500

    struct Outcome {
        var count = 0
        /// The faults of values in these rows, in sentences.
        var problems: [String] = []
    }

    func forEach(_ body: ([CellValue]) throws -> Void) throws -> Outcome {
        var odd = OddCells()
        if limit == 0 { return Outcome() }
        return try context.performAndWait {
            let ids = try fetchIDs()
            var start = 0
            while start < ids.count {
                let chunk = Array(ids[start..<min(start + Self.chunkSize, ids.count)])
                try autoreleased { try forEach(in: chunk, &odd, body) }
                start += chunk.count
            }
            return Outcome(count: ids.count, problems: odd.sentences)
        }
    }

    private func fetchIDs() throws -> [NSManagedObjectID] {
        let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
        request.resultType = .managedObjectIDResultType
        request.predicate = predicate
        // The object itself is the last criterion, so that the order is always the same.
        request.sortDescriptors = sortDescriptors + [NSSortDescriptor(key: "self", ascending: true)]
        request.fetchLimit = limit ?? 0
        request.fetchOffset = offset
        return try context.fetch(request)
    }

    private func forEach(
        in ids: [NSManagedObjectID], _ odd: inout OddCells, _ body: ([CellValue]) throws -> Void
    ) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.predicate = NSPredicate(format: "SELF IN %@", ids)
        request.returnsObjectsAsFaults = false
        let objects = try context.fetch(request)
        let byID = Dictionary(objects.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        let counts = try toManyCounts(of: ids)
        let keys = Dictionary(ids.map { ($0, CellValue.key(of: $0)) }, uniquingKeysWith: { first, _ in first })
        let found = try checks?.oddCells(of: keys.values.compactMap { $0 }, reader: reader) ?? [:]
        for id in ids {
            // Rows that were deleted since the IDs were fetched are omitted.
            guard let object = byID[id] else { continue }
            let oddCells = found.isEmpty ? nil : keys[id].flatMap { $0 }.flatMap { key in found[key].map { (key, $0) } }
            if let (key, cells) = oddCells { odd.add(cells, of: key) }
            try body(
                columns.map { column in
                    OddCells.value(of: column, among: oddCells?.1) ?? value(of: object, column, counts[id], oddCells?.1)
                })
        }
        context.reset()
    }

    private func value(
        of object: NSManagedObject, _ column: QueryColumn, _ counts: NSDictionary?, _ oddCells: [CellChecks.OddCell]?
    ) -> CellValue {
        switch column.source {
        case .object: return CellValue(object.objectID)
        case .attribute(let type, let isTransformable):
            return CellValue(object.value(forKeyPath: column.name), type: type, isTransformable: isTransformable)
        case .composite(let composite, let transformables):
            let odd = OddCells.elements(of: column, among: oddCells)
            return CellValue(object.value(forKeyPath: column.name), of: composite, transformables, odd: odd)
        case .toOne:
            switch object.value(forKeyPath: column.name) {
            case let destination as NSManagedObject: return CellValue(destination.objectID)
            case let objectID as NSManagedObjectID: return CellValue(objectID)
            default: return .null
            }
        case .toMany: return .number("\((counts?[column.name] as? NSNumber)?.intValue ?? 0)")
        }
    }

    /// Returns the number of objects in each to-many column: counted by the store, no object is
    /// loaded.
    private func toManyCounts(of ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: NSDictionary] {
        let names = columns.compactMap { column -> String? in
            if case .toMany = column.source { return column.name }
            return nil
        }
        if names.isEmpty { return [:] }
        let identity = NSExpressionDescription()
        identity.name = QueryColumn.objectID
        identity.expression = NSExpression.expressionForEvaluatedObject()
        identity.expressionResultType = .objectIDAttributeType
        let counts = names.map { name in
            let count = NSExpressionDescription()
            count.name = name
            count.expression = NSExpression(forKeyPath: "\(name).@count")
            count.expressionResultType = .integer64AttributeType
            return count
        }
        let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [identity] + counts
        request.predicate = NSPredicate(format: "SELF IN %@", ids)
        var result: [NSManagedObjectID: NSDictionary] = [:]
        for row in try context.fetch(request) {
            if let id = row[QueryColumn.objectID] as? NSManagedObjectID { result[id] = row }
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
