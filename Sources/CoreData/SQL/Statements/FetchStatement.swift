import Foundation
import Synchronization

/// The SQL of a fetch, kept for fetches of the same shape.
///
/// Such fetches have the same entity and order, and a predicate that differs only in its constants.
/// Generating SQL takes longer than reading a few rows.
///
/// The generator marks each argument with its origin. Another fetch fills in its own values by
/// these marks.
final class FetchStatement: @unchecked Sendable {
    // Sendable: all properties are constants, and the objects that they refer to never change once
    // a store is open.

    /// The origin of one argument.
    private enum Source {
        case fixed(SQLArgument)
        case constant(Int, SQLConstant.Form, ValueKind?)
        case limit
        case offset
        case excludedKeys
    }

    /// A constant of the predicate.
    private struct Constant {
        /// The term that the constant is compared with.
        let other: SQLTerm?
        /// The kind that the constant is bound as. A constant of another kind needs different SQL.
        let kind: ValueKind?
    }

    let entity: SQLEntity
    let sql: String
    private let includesSubentities: Bool
    private let shape: StoreFetch.Shape
    private let excludesRows: Bool
    private let hasLimit: Bool
    private let hasOffset: Bool
    private let order: [(key: String, ascending: Bool, selector: Selector?)]
    private let predicate: PredicateShape?
    private let constants: [Constant]
    private let sources: [Source]

    /// Keeps the SQL that was generated for a fetch.
    ///
    /// - Returns: nil when SQL of this kind cannot be used again.
    init?(_ fetch: StoreFetch, entity: SQLEntity, statement: SQLStatement) {
        self.entity = entity
        sql = statement.sql
        includesSubentities = fetch.includesSubentities
        shape = fetch.shape
        excludesRows = !fetch.excludedKeys.isEmpty
        hasLimit = fetch.limit > 0
        hasOffset = fetch.offset > 0
        var order: [(key: String, ascending: Bool, selector: Selector?)] = []
        for descriptor in fetch.sortDescriptors {
            guard let key = descriptor.key else { return nil }
            order.append((key, descriptor.ascending, descriptor.selector))
        }
        self.order = order
        var expressions: [NSExpression] = []
        if let given = fetch.predicate {
            guard let shape = PredicateShape(given, &expressions) else { return nil }
            predicate = shape
        } else {
            predicate = nil
        }
        var places: [ObjectIdentifier: Int] = [:]
        for (place, expression) in expressions.enumerated() {
            // One expression in two places may be two different ones in another predicate of this
            // shape.
            guard places.updateValue(place, forKey: ObjectIdentifier(expression)) == nil else { return nil }
        }
        var known: [SQLConstant?] = Array(repeating: nil, count: expressions.count)
        var sources: [Source] = []
        for argument in statement.arguments {
            switch argument.role {
            case .fixed: sources.append(.fixed(argument))
            case .once: return nil
            case .limit: sources.append(.limit)
            case .offset: sources.append(.offset)
            case .excludedKeys: sources.append(.excludedKeys)
            case .constant(let constant, let form):
                guard let place = places[ObjectIdentifier(constant.expression)],
                    known[place].map({ $0 === constant }) ?? true
                else {
                    return nil
                }
                known[place] = constant
                sources.append(.constant(place, form, argument.kind))
            }
        }
        // A constant that is not bound appears in the SQL in another way.
        guard known.allSatisfy({ $0 != nil }) else { return nil }
        constants = known.compactMap { $0.map { Constant(other: $0.other, kind: $0.kind) } }
        self.sources = sources
    }

    /// Returns the values to bind for another fetch; nil when that fetch needs different SQL.
    func arguments(for fetch: StoreFetch, _ generator: SQLGenerator) -> [SQLArgument]? {
        guard fetch.shape == shape, fetch.includesSubentities == includesSubentities, (fetch.limit > 0) == hasLimit,
            (fetch.offset > 0) == hasOffset, fetch.excludedKeys.isEmpty != excludesRows,
            fetch.sortDescriptors.count == order.count
        else { return nil }
        for (descriptor, wanted) in zip(fetch.sortDescriptors, order) {
            guard descriptor.key == wanted.key, descriptor.ascending == wanted.ascending,
                descriptor.selector == wanted.selector
            else { return nil }
        }
        var given: [Any?] = []
        switch (predicate, fetch.predicate) {
        case (nil, nil): break
        case (let shape?, let predicate?):
            guard shape.matches(predicate, &given) else { return nil }
        default: return nil
        }
        var values: [StoredValue] = []
        for (value, constant) in zip(given, constants) {
            // The caller then generates SQL again, which reports the error.
            guard let (value, kind) = try? generator.constant(value, like: constant.other, ""), kind == constant.kind
            else { return nil }
            values.append(value)
        }
        var arguments: [SQLArgument] = []
        arguments.reserveCapacity(sources.count)
        for source in sources {
            switch source {
            case .fixed(let argument): arguments.append(argument)
            case .limit: arguments.append(SQLArgument(.integer(Int64(fetch.limit))))
            case .offset: arguments.append(SQLArgument(.integer(Int64(fetch.offset))))
            case .excludedKeys: arguments.append(generator.dialect.keyList(fetch.excludedKeys.sorted()))
            case .constant(let place, let form, let kind):
                guard let argument = SQLConstant.argument(values[place], form) else { return nil }
                arguments.append(SQLArgument(argument, kind: kind))
            }
        }
        return arguments
    }
}

/// The statements that a store keeps for later fetches.
final class FetchStatements: Sendable {
    /// The number of statements kept for each entity.
    private static let maximumCount = 32

    /// The statements by layout index, oldest first. The lock guards this table.
    private let statements: Mutex<[[FetchStatement]]>

    init(layoutCount: Int) { statements = Mutex(Array(repeating: [], count: layoutCount)) }

    /// Returns a kept statement that fits a fetch, and the values to bind.
    func statement(for fetch: StoreFetch, _ generator: SQLGenerator) -> (FetchStatement, [SQLArgument])? {
        let kept = statements.withLock { $0[fetch.entity.index] }
        for statement in kept {
            if let arguments = statement.arguments(for: fetch, generator) { return (statement, arguments) }
        }
        return nil
    }

    /// Keeps a statement. If there are too many for its entity, the oldest one is removed.
    func keep(_ statement: FetchStatement) {
        statements.withLock { statements in
            let index = statement.entity.layout.index
            if statements[index].count >= Self.maximumCount { statements[index].removeFirst() }
            statements[index].append(statement)
        }
    }
}
