import Foundation

// Optionals, and choices between two values.

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        try translation.part(inner)
    }

    func text(with text: inout ExpressionText) -> String { text.operand(inner) + "!" }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        let cast = wrapped as? any CastExpression
        // A cast gives the object itself if it is of the class, and nil otherwise.
        let value = try translation.expression(cast?.input ?? wrapped)
        translation.bind(variable.key, to: value)
        let isPresent = try cast?.typeCheck(with: &translation) ?? value.compared(.notEqualTo, nil)
        switch try translation.part(transform) {
        case .predicate(let condition): return .optional(isPresent: isPresent, condition)
        case .optional(let isInnerPresent, let condition): return .optional(isPresent: isInnerPresent, condition)
        case .expression(let result):
            // A path from nil is nil by itself; a count or a constant is not.
            return .expression(result.isPlainPath && cast == nil ? result : result.where(isPresent))
        }
    }

    func text(with text: inout ExpressionText) -> String {
        let value = text.operand(wrapped)
        text.name(variable.key, as: value + "?")
        return text.of(transform)
    }
}

extension PredicateExpressions.NilCoalesce: InfixOperation {
    var symbol: String { "??" }

    func translate(with translation: inout PredicateTranslation) throws -> Part {
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
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        let condition = try translation.predicate(test)
        if case .predicate(let first) = try translation.part(trueBranch),
            case .predicate(let second) = try translation.part(falseBranch)
        {
            let not = NSCompoundPredicate(notPredicateWithSubpredicate: condition)
            return .predicate(
                NSCompoundPredicate(orPredicateWithSubpredicates: [
                    NSCompoundPredicate(andPredicateWithSubpredicates: [condition, first]),
                    NSCompoundPredicate(andPredicateWithSubpredicates: [not, second]),
                ]))
        }
        return .expression(
            NSExpression(
                forConditional: condition, trueExpression: try translation.expression(trueBranch),
                falseExpression: try translation.expression(falseBranch)))
    }

    func text(with text: inout ExpressionText) -> String {
        "(\(text.operand(test)) ? \(text.operand(trueBranch)) : \(text.operand(falseBranch)))"
    }
}
