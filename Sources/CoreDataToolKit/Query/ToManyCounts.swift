import CoreData

/// Counts the members of to-many relationships in the store: no member is loaded.
final class ToManyCounts {
    private let context: NSManagedObjectContext
    /// The counts by object and relationship; none for an object that was not counted.
    private var known: [NSManagedObjectID: [String: Int]] = [:]

    private static let mostKnown = 20_000

    init(in context: NSManagedObjectContext) { self.context = context }

    /// Counts all to-many relationships of some objects, in one query for each entity.
    func load(_ objects: [NSManagedObject]) throws {
        if known.count > Self.mostKnown { known.removeAll() }
        let unknown = objects.filter { known[$0.objectID] == nil }
        for (entity, objects) in Dictionary(grouping: unknown, by: \.entity) {
            let names = entity.relationshipsByName.values.filter(\.isToMany).map(\.name)
            let ids = objects.map(\.objectID)
            let counts = try Self.counts(of: ids, names, of: entity, in: context)
            for id in ids {
                let numbers = counts[id] ?? names.map { _ in 0 }
                known[id] = Dictionary(zip(names, numbers), uniquingKeysWith: { first, _ in first })
            }
        }
    }

    /// Returns the number of members of an object's own relationship; nil if it was not counted.
    func count(_ name: String, of object: NSManagedObject) -> Int? { known[object.objectID]?[name] }

    /// Returns the numbers of members of to-many relationships, by object; no entry where all
    /// are 0.
    ///
    /// The condition keeps rows without members away, because most of the cost is the dictionaries
    /// of the result.
    static func counts(
        of ids: [NSManagedObjectID], _ names: [String], of entity: NSEntityDescription,
        in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: [Int]] {
        if names.isEmpty || ids.isEmpty { return [:] }
        let counts = names.map { NSExpression(forKeyPath: $0 + ".@count") }
        let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
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
        request.predicate = NSCompoundPredicate(
            type: .and, subpredicates: [.isAmong(ids), NSCompoundPredicate(type: .or, subpredicates: isAny)])
        var result: [NSManagedObjectID: [Int]] = [:]
        for row in try context.fetch(request) {
            guard let id = row[QueryColumn.objectID] as? NSManagedObjectID else { continue }
            result[id] = names.indices.map { (row["\($0)"] as? NSNumber)?.intValue ?? 0 }
        }
        return result
    }
}

extension NSPredicate {
    /// The condition that an object is one of some.
    static func isAmong(_ ids: [NSManagedObjectID]) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: .expressionForEvaluatedObject(), rightExpression: NSExpression(forConstantValue: ids),
            modifier: .direct, type: .in, options: [])
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
