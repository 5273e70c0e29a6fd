import Foundation

/// A composite value as the SQL terms of its elements.
struct SQLComposite {
    let layout: CompositeLayout
    /// The elements in declared order.
    let elements: [SQLTerm]
}

extension SQLComposite {
    /// Creates the value of a row's composite attribute from the columns of its elements.
    init(_ layout: CompositeLayout, of entity: SQLEntity, alias: String, _ dialect: any SQLDialect) {
        self.layout = layout
        elements = layout.slots.compactMap { slot in
            entity.columns[slot].map { column in
                let property = entity.layout.slots[slot]
                return SQLTerm(
                    text: SQLText("\(alias).\(dialect.identifier(column.name))"), kind: column.kind(of: property),
                    slot: property,
                    isColumn: true)
            }
        }
    }
}

extension SQLComposite {
    /// The same composite as a computed value, without the type affinity of columns.
    var computed: SQLComposite {
        SQLComposite(
            layout: layout,
            elements: elements.map { element in
                var element = element
                element.isColumn = false
                return element
            })
    }
}

extension SQLTerm {
    /// Creates the term of a composite value.
    ///
    /// As a single value, the term only tells nil from other values: it is nil where all elements
    /// are nil.
    init(composite: SQLComposite, _ dialect: any SQLDialect) {
        self.init(text: dialect.anyValue(of: composite.elements.map(\.text)), kind: .composite)
        self.composite = composite
    }
}

extension SQLGenerator {
    /// Returns a term that is a single value.
    ///
    /// - Throws: for a composite attribute.
    func single(_ term: SQLTerm, _ context: RequestPart) throws -> SQLTerm {
        if term.composite == nil { return term }
        throw refuse(context, "a composite attribute stands where one value is needed; name one of its elements")
    }

    /// Compares a composite value, element by element, with nil, a dictionary, or another composite
    /// value of the same elements.
    func compare(
        _ left: SQLComposite, _ term: SQLTerm, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
        in environment: SQLEnvironment, _ context: RequestPart
    ) throws -> SQLText {
        guard type == .equalTo || type == .notEqualTo else {
            throw refuse(context, "a composite attribute can only be compared for equality; compare its elements")
        }
        let other = try self.term(right, in: environment, like: term, context)
        if other.isNull { return term.text + (type == .equalTo ? " IS NULL" : " IS NOT NULL") }
        guard let composite = other.composite, composite.layout.hasSameElements(as: left.layout) else {
            throw refuse(context, "a composite attribute can only be compared with one of the same elements")
        }
        let parts = try zip(left.elements, composite.elements).map { mine, theirs in
            dialect.hasStaticTypes ? try isEqual(mine, theirs, context) : dialect.isSame(mine.text, theirs.text)
        }
        let areEqual = grouped(parts, by: " AND ")
        return type == .equalTo ? "(" + areEqual + ")" : dialect.isNotTrue(areEqual)
    }

    /// Returns the condition that a composite value is in a list.
    func isElement(
        _ left: SQLComposite, _ term: SQLTerm, of right: NSExpression, in environment: SQLEnvironment,
        _ context: RequestPart
    ) throws -> SQLText {
        guard let members = elements(right) else { throw refuse(context, "IN needs a collection on its right side") }
        if members.isEmpty { return truth(false) }
        return combined(try members.map { try compare(left, term, .equalTo, $0, in: environment, context) }, by: " OR ")
    }

    /// Returns a dictionary as a composite value with the elements of another one.
    func compositeConstant(_ value: Any, like other: SQLComposite, _ context: RequestPart) throws -> SQLTerm {
        let values: [(slot: Int, value: Any?)]
        do {
            values = try other.layout.elements(of: value)
        } catch {
            throw refuse(context, error.reason)
        }
        let elements = try zip(other.elements, values).map { element, value in
            try constantTerm(NSExpression(forConstantValue: value.value), like: element, context)
        }
        return SQLTerm(composite: SQLComposite(layout: other.layout, elements: elements), dialect)
    }
}

extension CompositeLayout {
    /// Whether another composite has elements of the same names.
    func hasSameElements(as other: CompositeLayout) -> Bool {
        parts.count == other.parts.count
            && zip(parts, other.parts).allSatisfy { mine, theirs in
                switch (mine, theirs) {
                case (.element(let name, _), .element(let otherName, _)): name == otherName
                case (.composite(let name, let inner), .composite(let otherName, let otherInner)):
                    name == otherName && inner.hasSameElements(as: otherInner)
                default: false
                }
            }
    }
}
