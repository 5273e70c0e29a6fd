import Foundation

/// Puts the numbers of one store in the place of object IDs, entities and tokens in the predicate
/// of a request for history.
///
/// `changedObjectID` is no column: the row of a change has the number of its entity and its key.
struct HistoryPredicate {
    let store: NSPersistentStore
    /// Returns the number by which the history knows an entity.
    let number: (EntityLayout) -> Int64?

    private static let objectID = "changedObjectID"

    func resolved(_ predicate: NSPredicate) throws -> NSPredicate {
        switch predicate {
        case let compound as NSCompoundPredicate:
            return NSCompoundPredicate(
                type: compound.compoundPredicateType, subpredicates: try compound.operands.map(resolved))
        case let comparison as NSComparisonPredicate: return try resolved(comparison)
        default: return predicate
        }
    }

    private func resolved(_ comparison: NSComparisonPredicate) throws -> NSPredicate {
        for (path, other) in [
            (comparison.leftExpression, comparison.rightExpression),
            (comparison.rightExpression, comparison.leftExpression),
        ] where path.expressionType == .keyPath && path.keyPath.pathNames.last == Self.objectID {
            return try condition(on: path, like: other, comparison)
        }
        let (left, right) = (
            try resolved(comparison.leftExpression), try resolved(comparison.rightExpression)
        )
        if comparison.predicateOperatorType == .customSelector { return comparison }
        return NSComparisonPredicate(
            leftExpression: left, rightExpression: right, modifier: comparison.comparisonPredicateModifier,
            type: comparison.predicateOperatorType, options: comparison.options)
    }

    private func resolved(_ expression: NSExpression) throws -> NSExpression {
        switch expression.expressionType {
        case .constantValue:
            let value: Any? = expression.constantValue
            let found = replaced(value)
            return found.isOther ? NSExpression(forConstantValue: found.value) : expression
        case .aggregate:
            return NSExpression(forAggregate: try (expression.aggregateElements ?? []).map(resolved))
        case .keyPath:
            let names = expression.keyPath.pathNames
            // `changedObjectID.entity`
            if names.suffix(2) == [Self.objectID, "entity"] {
                return Self.path(expression, names.dropLast(2), HistoryModel.changedEntity)
            }
            // `SUBQUERY(…).@count`
            guard expression.operand.expressionType == .subquery else { return expression }
            return try resolved(expression.operand).appending(expression.keyPath)
        case .function where expression.methodTarget == nil:
            return NSExpression(
                forFunction: expression.function, arguments: try (expression.arguments ?? []).map(resolved))
        case .subquery:
            guard let collection = expression.collection as? NSExpression else { return expression }
            return NSExpression(
                forSubquery: collection, usingIteratorVariable: expression.variable,
                predicate: try resolved(expression.predicate))
        default: return expression
        }
    }

    /// Returns a constant with numbers in the place of tokens and entities.
    private func replaced(_ value: Any?) -> (value: Any?, isOther: Bool) {
        switch value {
        case let token as NSPersistentHistoryToken: return (token.number(in: store) ?? 0, true)
        case let entity as NSEntityDescription:
            let layout = entity.name.flatMap { store.modelLayout?.layoutByName[$0] }
            // No entity has this number.
            return (layout.flatMap(number) ?? -1, true)
        case let list as [Any]:
            let elements = list.map(replaced)
            return (elements.map { $0.value ?? NSNull() }, elements.contains(where: \.isOther))
        default: return (value, false)
        }
    }

    // MARK: Object IDs

    private static func path(_ expression: NSExpression, _ start: ArraySlice<String>, _ name: String) -> NSExpression {
        let path = (start + [name]).joined(separator: ".")
        return expression.operand.appending(path)
    }

    /// Returns the condition on the entity and the key of a change that compares its object ID.
    private func condition(
        on path: NSExpression, like other: NSExpression, _ comparison: NSComparisonPredicate
    ) throws -> NSPredicate {
        func refusal(_ reason: String) -> NSError {
            CoreDataErrors.unanswerable(comparison.predicateFormat, by: "history of a store", reason)
        }
        guard comparison.comparisonPredicateModifier == .direct else {
            throw refusal("\(Self.objectID) cannot be compared with ANY or ALL; use a SUBQUERY")
        }
        let type = comparison.predicateOperatorType
        guard [.equalTo, .notEqualTo, .in].contains(type), type != .in || path === comparison.leftExpression else {
            throw refusal("\(Self.objectID) can only be compared with ==, != and IN")
        }
        var keys: [Int: [Int64]] = [:]
        for case let objectID? in try objectIDs(of: other, refusal) {
            guard let row = objectID.rowReference(in: store), let layouts = store.modelLayout?.layouts else { continue }
            keys[layouts[row.layoutIndex].rootIndex, default: []].append(row.key)
        }
        let start = path.keyPath.pathNames.dropLast()
        let rows = keys.sorted { $0.key < $1.key }.map { root, keys in
            let family = store.modelLayout.map { layouts in
                layouts.layouts[root].familyIndexes.compactMap { number(layouts.layouts[$0]) }
            }
            return NSCompoundPredicate(andPredicateWithSubpredicates: [
                Self.path(path, start, HistoryModel.changedEntity).compared(.in, family ?? []),
                Self.path(path, start, HistoryModel.changedKey).compared(.in, keys),
            ])
        }
        let isOne = rows.isEmpty ? NSPredicate(value: false) : NSCompoundPredicate(orPredicateWithSubpredicates: rows)
        return type == .notEqualTo ? NSCompoundPredicate(notPredicateWithSubpredicate: isOne) : isOne
    }

    private func objectIDs(of expression: NSExpression, _ refusal: (String) -> NSError) throws -> [NSManagedObjectID?] {
        func objectID(_ value: Any?) throws -> NSManagedObjectID? {
            switch PropertyConversion.unwrapped(value) {
            case let objectID as NSManagedObjectID: return objectID
            case nil, is NSNull: return nil
            default: throw refusal("\(Self.objectID) can only be compared with object IDs")
            }
        }
        if let elements = expression.aggregateElements {
            return try elements.flatMap { try objectIDs(of: $0, refusal) }
        }
        guard expression.expressionType == .constantValue else {
            throw refusal("\(Self.objectID) can only be compared with object IDs")
        }
        switch expression.constantValue {
        case let list as [Any]: return try list.map(objectID)
        case let set as NSSet: return try set.allObjects.map(objectID)
        case let set as Set<AnyHashable>: return try set.map { try objectID($0.base) }
        case let value: return [try objectID(value)]
        }
    }
}

extension HistoryFetch {
    /// Returns the fetch with the numbers of a store in its predicate.
    package func resolved(in store: NSPersistentStore, _ mapping: SQLMapping) throws -> HistoryFetch {
        let resolving = HistoryPredicate(store: store) { layout in mapping.entity(layout).map { Int64($0.number) } }
        var fetch = self
        fetch.predicate = try predicate.map(resolving.resolved)
        return fetch
    }
}
