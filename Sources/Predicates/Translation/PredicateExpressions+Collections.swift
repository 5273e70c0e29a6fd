import Foundation

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        try translation.compare(element, .in, sequence)
    }

    func text(with text: inout ExpressionText) -> String { "\(text.operand(sequence)).contains(\(text.of(element)))" }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        if let elements = translation.constant(sequence)?.value as? LHS.Output {
            return .predicate(
                NSCompoundPredicate(
                    orPredicateWithSubpredicates: try translation.tests(test, of: variable, in: elements)))
        }
        let matches = try translation.subquery(sequence, variable.key, test)
        return .predicate(matches.appending("@count").compared(.greaterThan, 0))
    }

    func text(with text: inout ExpressionText) -> String { text.closure(sequence, "contains", variable.key, test) }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        if let elements = translation.constant(sequence)?.value as? LHS.Output {
            return .predicate(
                NSCompoundPredicate(
                    andPredicateWithSubpredicates: try translation.tests(test, of: variable, in: elements)))
        }
        let failures = try translation.subquery(sequence, variable.key, test, negated: true)
        return .predicate(failures.appending("@count").compared(.equalTo, 0))
    }

    func text(with text: inout ExpressionText) -> String { text.closure(sequence, "allSatisfy", variable.key, test) }
}

extension PredicateExpressions.Filter: TranslatableExpression, FilterExpression {
    var base: Any { sequence }
    var elementVariable: PredicateExpressions.VariableID { variable.key }
    var condition: Any { filter }

    func knownTests(with translation: inout PredicateTranslation) throws -> [NSPredicate]? {
        guard let elements = translation.constant(sequence)?.value as? LHS.Output else { return nil }
        return try translation.tests(filter, of: variable, in: elements)
    }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .expression(try translation.subquery(sequence, variable.key, filter))
    }

    func text(with text: inout ExpressionText) -> String { text.closure(sequence, "filter", variable.key, filter) }
}
