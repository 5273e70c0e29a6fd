import Foundation

// One conformance for each operation that `#Predicate` can write and NSPredicate can say.

extension PredicateExpressions.Variable: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(try translation.value(of: key))
    }
}

extension PredicateExpressions.Value: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(NSExpression(forConstantValue: value))
    }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(NSExpression(forConstantValue: nil))
    }
}

extension PredicateExpressions.KeyPath: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let root = try translation.expression(self.root)
        let isText = Root.Output.self is any StringProtocol.Type
        switch kind {
        case .collectionCount?:
            return .expression(
                isText ? NSExpression(forFunction: "length:", arguments: [root]) : root.appending("@count"))
        case .collectionIsEmpty?:
            return .predicate(
                isText ? root.compared(.equalTo, "") : root.appending("@count").compared(.equalTo, 0))
        default:
            guard let name = KeyPathNames.name(of: keyPath) else {
                throw PredicateTranslationError(message: "no key is known for \(keyPath)")
            }
            return .expression(root.appending(name))
        }
    }
}

extension PredicateExpressions.Equal: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.compare(lhs, .equalTo, rhs)
    }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.compare(lhs, .notEqualTo, rhs)
    }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let operation: NSComparisonPredicate.Operator
        switch op {
        case .lessThan: operation = .lessThan
        case .lessThanOrEqual: operation = .lessThanOrEqualTo
        case .greaterThan: operation = .greaterThan
        case .greaterThanOrEqual: operation = .greaterThanOrEqualTo
        @unknown default: throw PredicateTranslationError(message: "the comparison \(op) has no counterpart")
        }
        return try translation.compare(lhs, operation, rhs)
    }
}

extension PredicateExpressions.Conjunction: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let parts = [try translation.predicate(lhs), try translation.predicate(rhs)]
        return .predicate(NSCompoundPredicate(andPredicateWithSubpredicates: parts))
    }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let parts = [try translation.predicate(lhs), try translation.predicate(rhs)]
        return .predicate(NSCompoundPredicate(orPredicateWithSubpredicates: parts))
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .predicate(NSCompoundPredicate(notPredicateWithSubpredicate: try translation.predicate(wrapped)))
    }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let function: String
        switch op {
        case .add: function = "add:to:"
        case .subtract: function = "from:subtract:"
        case .multiply: function = "multiply:by:"
        @unknown default: throw PredicateTranslationError(message: "the operation \(op) has no counterpart")
        }
        let arguments = [try translation.expression(lhs), try translation.expression(rhs)]
        return .expression(NSExpression(forFunction: function, arguments: arguments))
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(NSExpression(forFunction: "from:subtract:", arguments: [0, try translation.expression(wrapped)]))
    }
}

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.part(inner)
    }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let value = try translation.expression(wrapped)
        translation.bind(variable.key, to: value)
        let result = try translation.part(transform)
        guard case .predicate(let condition) = result else { return result }
        return .optional(isPresent: value.compared(.notEqualTo, nil), condition)
    }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        if case .optional(let isPresent, let condition) = try translation.part(lhs) {
            let otherwise = try translation.predicate(rhs)
            let present = NSCompoundPredicate(andPredicateWithSubpredicates: [isPresent, condition])
            if otherwise == NSPredicate(value: false) { return .predicate(present) }
            let absent = NSCompoundPredicate(andPredicateWithSubpredicates: [
                NSCompoundPredicate(notPredicateWithSubpredicate: isPresent), otherwise,
            ])
            return .predicate(NSCompoundPredicate(orPredicateWithSubpredicates: [present, absent]))
        }
        let value = try translation.expression(lhs)
        return .expression(
            NSExpression(
                forConditional: value.compared(.notEqualTo, nil), trueExpression: value,
                falseExpression: try translation.expression(rhs)))
    }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(
            NSExpression(
                forConditional: try translation.predicate(test),
                trueExpression: try translation.expression(trueBranch),
                falseExpression: try translation.expression(falseBranch)))
    }
}

extension PredicateExpressions.SequenceContains: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        try translation.compare(element, .in, sequence)
    }
}

extension PredicateExpressions.CollectionContainsCollection: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard Base.Output.self is any StringProtocol.Type else {
            throw PredicateTranslationError(message: "only text can be searched for a part of several elements")
        }
        return try translation.compare(base, .contains, other)
    }
}

extension PredicateExpressions.SequenceStartsWith: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        guard Base.Output.self is any StringProtocol.Type else {
            throw PredicateTranslationError(message: "only text can be asked how it starts")
        }
        return try translation.compare(base, .beginsWith, prefix)
    }
}

extension PredicateExpressions.SequenceContainsWhere: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let matches = try translation.subquery(sequence, variable.key, test)
        return .predicate(matches.appending("@count").compared(.greaterThan, 0))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        let failures = try translation.subquery(sequence, variable.key, test, negated: true)
        return .predicate(failures.appending("@count").compared(.equalTo, 0))
    }
}

extension PredicateExpressions.Filter: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> PredicateTranslation.Part {
        .expression(try translation.subquery(sequence, variable.key, filter))
    }
}
