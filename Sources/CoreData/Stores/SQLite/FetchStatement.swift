import Foundation

/// The SQL of a fetch, kept for fetches of the same shape: of the same entity, in the same order, with a predicate that
/// differs only in its constants. Making SQL takes longer than reading a few rows.
final class FetchStatement: @unchecked Sendable {
    // Sendable: constants; what they refer to is never changed once a store is open.

    /// How the constant of one comparison is bound.
    private struct Binding {
        enum Role {
            case value
            /// BEGINSWITH as a range: the text and the least text behind it.
            case prefix
            /// ENDSWITH: minus the length in bytes, and the text.
            case suffix
            /// CONTAINS: a text that is not empty.
            case part
        }

        let role: Role
        /// What the constant is compared with.
        let other: SQLTerm?
        /// What the constant is compared as: one of another class needs other SQL.
        let constantClass: SQLValueClass
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
    private let bindings: [Binding]

    /// Keeps the SQL that was made for a fetch.
    ///
    /// - Parameters:
    ///   - query: the SQL and the values that were bound in it.
    ///   - others: what the constants of the predicate were compared with, in order.
    /// - Returns: nil when SQL of this kind cannot be used again.
    init?(_ plan: StoreFetch, entity: SQLEntity, query: SQLText, others: [SQLTerm?], _ generator: SQLGenerator) {
        self.entity = entity
        sql = query.sql
        includesSubentities = plan.includesSubentities
        shape = plan.shape
        excludesRows = !plan.excludedKeys.isEmpty
        hasLimit = plan.limit > 0
        hasOffset = plan.offset > 0
        var order: [(key: String, ascending: Bool, selector: Selector?)] = []
        for descriptor in plan.sortDescriptors {
            guard let key = descriptor.key else { return nil }
            order.append((key, descriptor.ascending, descriptor.selector))
        }
        self.order = order
        var constants: [Any?] = []
        if let given = plan.predicate {
            guard let shape = PredicateShape(given, &constants) else { return nil }
            predicate = shape
        } else {
            predicate = nil
        }
        let comparisons = predicate?.comparisons ?? []
        guard comparisons.count == others.count else { return nil }
        guard let classes = try? Self.classes(constants, others, generator) else { return nil }
        bindings = comparisons.indices.map { index in
            Binding(role: Self.role(comparisons[index], others[index]), other: others[index], constantClass: classes[index])
        }
        // Only what gives the same values again is kept.
        guard let arguments = try? arguments(constants, plan, generator), arguments.count == query.arguments.count,
            zip(arguments, query.arguments).allSatisfy({ $0.isSameArgument(as: $1) })
        else { return nil }
    }

    private static func classes(_ constants: [Any?], _ others: [SQLTerm?], _ generator: SQLGenerator) throws -> [SQLValueClass] {
        try zip(constants, others).map { constant, other in
            let (_, kind) = try generator.constant(constant, like: other, "")
            return kind.map(SQLValueClass.init) ?? .unknown
        }
    }

    private static func role(_ comparison: PredicateShape.Comparison, _ other: SQLTerm?) -> Binding.Role {
        guard comparison.options.comparesLiterally else { return .value }
        switch comparison.type {
        case .beginsWith: return other?.isColumn == true && other?.valueClass == .text ? .prefix : .value
        case .endsWith: return .suffix
        case .contains: return .part
        default: return .value
        }
    }

    /// The values to bind for another fetch; nil when that fetch needs other SQL.
    func arguments(for plan: StoreFetch, _ generator: SQLGenerator) -> [PropertyValue]? {
        guard plan.shape == shape, plan.includesSubentities == includesSubentities, (plan.limit > 0) == hasLimit,
            (plan.offset > 0) == hasOffset, plan.excludedKeys.isEmpty != excludesRows, plan.sortDescriptors.count == order.count
        else { return nil }
        for (descriptor, wanted) in zip(plan.sortDescriptors, order) {
            guard descriptor.key == wanted.key, descriptor.ascending == wanted.ascending, descriptor.selector == wanted.selector
            else { return nil }
        }
        var constants: [Any?] = []
        switch (predicate, plan.predicate) {
        case (nil, nil): break
        case (let shape?, let given?):
            guard shape.matches(given, &constants) else { return nil }
        default: return nil
        }
        // An error is reported by the one who makes the SQL then.
        return try? arguments(constants, plan, generator)
    }

    private struct NeedsOtherSQL: Error {}

    private func arguments(_ constants: [Any?], _ plan: StoreFetch, _ generator: SQLGenerator) throws -> [PropertyValue] {
        var arguments: [PropertyValue] = []
        for (constant, binding) in zip(constants, bindings) {
            let (value, kind) = try generator.constant(constant, like: binding.other, "")
            if !value.isNull, kind.map(SQLValueClass.init) ?? .unknown != binding.constantClass { throw NeedsOtherSQL() }
            switch (binding.role, value) {
            case (_, .null): throw NeedsOtherSQL()
            case (.value, _): arguments.append(value)
            case (.prefix, .string(let text)):
                guard let end = SQLGenerator.upperBound(ofPrefix: text) else { throw NeedsOtherSQL() }
                arguments.append(value)
                arguments.append(.string(end))
            case (.suffix, .string(let text)) where !text.isEmpty:
                arguments.append(.integer(-Int64(text.utf8.count)))
                arguments.append(value)
            case (.part, .string(let text)) where !text.isEmpty: arguments.append(value)
            default: throw NeedsOtherSQL()
            }
        }
        if let exclusion = SQLiteStore.exclusion(plan) { arguments += exclusion.arguments }
        arguments += SQLiteStore.limits(plan).arguments
        return arguments
    }
}

extension PropertyValue {
    /// Whether two arguments of a statement are the same. False for values that are not compared here.
    fileprivate func isSameArgument(as other: PropertyValue) -> Bool {
        switch (self, other) {
        case (.integer(let value), .integer(let other)): value == other
        case (.double(let value), .double(let other)): value.bitPattern == other.bitPattern
        case (.string(let value), .string(let other)): value.utf8.elementsEqual(other.utf8)
        case (.data(let value), .data(let other)): value == other
        case (.uuid(let value), .uuid(let other)): value == other
        case (.decimal(let value), .decimal(let other)): value == other
        default: false
        }
    }
}

extension SQLiteBackend {
    /// How many statements are kept for each entity.
    private static var maximumFetchStatements: Int { 32 }

    /// A kept statement that fits a fetch, and the values to bind.
    func fetchStatement(for plan: StoreFetch, _ generator: SQLGenerator) -> (FetchStatement, [PropertyValue])? {
        let kept = fetchStatements.withLock { $0[plan.entity.index] }
        for statement in kept {
            if let arguments = statement.arguments(for: plan, generator) { return (statement, arguments) }
        }
        return nil
    }

    /// Keeps a statement; the one that was kept longest goes when there are too many.
    func keep(_ statement: FetchStatement) {
        fetchStatements.withLock { statements in
            let index = statement.entity.layout.index
            if statements[index].count >= Self.maximumFetchStatements { statements[index].removeFirst() }
            statements[index].append(statement)
        }
    }
}
