import Foundation

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.compare(element, .in, sequence)
    }

    func text(with text: inout ExpressionText) -> String { "\(text.operand(sequence)).contains(\(text.of(element)))" }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        if let elements = translation.constant(sequence)?.value as? LHS.Output {
            return .predicate(NSCompoundPredicate(orPredicateWithSubpredicates: try tests(elements, &translation)))
        }
        let matches = try translation.subquery(sequence, variable.key, test)
        return .predicate(matches.appending("@count").compared(.greaterThan, 0))
    }

    /// The test of each known element.
    private func tests(_ elements: LHS.Output, _ translation: inout PredicateTranslation) throws -> [NSPredicate] {
        var tests: [NSPredicate] = []
        for element in elements {
            translation.bind(variable, toKnown: element)
            tests.append(try translation.predicate(test))
        }
        return tests
    }

    func text(with text: inout ExpressionText) -> String { text.closure(sequence, "contains", variable.key, test) }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        if let elements = translation.constant(sequence)?.value as? LHS.Output {
            return .predicate(NSCompoundPredicate(andPredicateWithSubpredicates: try tests(elements, &translation)))
        }
        let failures = try translation.subquery(sequence, variable.key, test, negated: true)
        return .predicate(failures.appending("@count").compared(.equalTo, 0))
    }

    /// The test of each known element.
    private func tests(_ elements: LHS.Output, _ translation: inout PredicateTranslation) throws -> [NSPredicate] {
        var tests: [NSPredicate] = []
        for element in elements {
            translation.bind(variable, toKnown: element)
            tests.append(try translation.predicate(test))
        }
        return tests
    }

    func text(with text: inout ExpressionText) -> String { text.closure(sequence, "allSatisfy", variable.key, test) }
}

extension PredicateExpressions.Filter: TranslatableExpression, FilterExpression {
    var base: Any { sequence }
    var elementVariable: PredicateExpressions.VariableID { variable.key }
    var condition: Any { filter }

    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(try translation.subquery(sequence, variable.key, filter))
    }

    func text(with text: inout ExpressionText) -> String { text.closure(sequence, "filter", variable.key, filter) }
}
