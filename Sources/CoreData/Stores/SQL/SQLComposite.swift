import Foundation

/// A composite attribute of a row: the columns of its elements.
struct SQLComposite {
    let alias: String
    let layout: CompositeLayout
    let entity: SQLEntity
    let dialect: any SQLDialect

    /// The elements, in declared order.
    var elements: [SQLTerm] {
        layout.slots.compactMap { slot in entity.columns[slot].map { element($0, entity.layout.slots[slot]) } }
    }

    /// The element in a slot.
    private func element(_ column: SQLColumn, _ slot: PropertySlot) -> SQLTerm {
        SQLTerm(text: SQLText("\(alias).\(dialect.identifier(column.name))"), kind: slot.kind, slot: slot, isColumn: true)
    }
}

extension SQLTerm {
    /// A composite attribute. As a value it only tells nil, which it is where all its elements are, from everything else.
    init(composite: SQLComposite) {
        self.init(text: composite.dialect.anyValue(of: composite.elements.map(\.text)), kind: .composite)
        self.composite = composite
    }
}

extension SQLGenerator {
    /// A term that is one value.
    ///
    /// - Throws: for a composite attribute.
    func single(_ term: SQLTerm, _ context: RequestPart) throws -> SQLTerm {
        if term.composite == nil { return term }
        throw refuse(context, "a composite attribute stands where one value is needed; name one of its elements")
    }

    /// Compares a composite attribute with nil, a dictionary, or another one of the same elements: element by element.
    func compare(
        _ left: SQLComposite, _ term: SQLTerm, _ type: NSComparisonPredicate.Operator, _ right: NSExpression,
        in environment: SQLEnvironment, _ context: RequestPart
    ) throws -> SQLText {
        guard type == .equalTo || type == .notEqualTo else {
            throw refuse(context, "a composite attribute can only be compared for equality; compare its elements")
        }
        let others: [SQLTerm]
        if right.expressionType == .constantValue {
            guard let value = PropertyConversion.unwrapped(right.constantValue), !(value is NSNull) else {
                return term.text + (type == .equalTo ? " IS NULL" : " IS NOT NULL")
            }
            others = try constants(value, of: left, context)
        } else {
            guard let composite = try self.term(right, in: environment, like: nil, context).composite,
                composite.layout.hasSameElements(as: left.layout)
            else { throw refuse(context, "a composite attribute can only be compared with one of the same elements") }
            others = composite.elements
        }
        let parts = try zip(left.elements, others).map { mine, theirs in
            dialect.hasStaticTypes ? try isEqual(mine, theirs, context) : dialect.isSame(mine.text, theirs.text)
        }
        let areEqual = grouped(parts, by: " AND ")
        return type == .equalTo ? "(" + areEqual + ")" : dialect.isNotTrue(areEqual)
    }

    /// The values of a dictionary, as those of the elements' columns.
    private func constants(_ value: Any, of composite: SQLComposite, _ context: RequestPart) throws -> [SQLTerm] {
        let values: [(slot: Int, value: Any?)]
        do {
            values = try composite.layout.elements(of: value)
        } catch {
            throw refuse(context, error.reason)
        }
        return try zip(composite.elements, values).map { element, value in
            try term(
                NSExpression(forConstantValue: value.value), in: SQLEnvironment(scope: newScope(composite.entity)), like: element, context)
        }
    }
}

extension CompositeLayout {
    /// Whether another composite has elements of the same names.
    fileprivate func hasSameElements(as other: CompositeLayout) -> Bool {
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
