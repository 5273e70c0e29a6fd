import Predicates

/// A limit of an attribute's values: the predicate that a value satisfies, and the error code of one that does not.
package struct AttributeLimit {
    package let predicate: NSPredicate
    package let code: Int

    /// Numbers from `least` to `greatest`, either of which may be missing.
    package static func numbers(from least: NSNumber?, to greatest: NSNumber?) -> [AttributeLimit] {
        range(
            .expressionForEvaluatedObject(), least, greatest, below: ValidationCode.numberTooSmall,
            above: ValidationCode.numberTooLarge)
    }

    /// Dates from `least` to `greatest`, either of which may be missing.
    package static func dates(from least: Date?, to greatest: Date?) -> [AttributeLimit] {
        range(
            .expressionForEvaluatedObject(), least, greatest, below: ValidationCode.dateTooSoon,
            above: ValidationCode.dateTooLate)
    }

    /// Texts of `least` to `greatest` characters, either of which may be missing.
    package static func lengths(from least: NSNumber?, to greatest: NSNumber?) -> [AttributeLimit] {
        range(
            NSExpression(forKeyPath: "length"), least, greatest, below: ValidationCode.stringTooShort,
            above: ValidationCode.stringTooLong)
    }

    /// Texts that a regular expression matches.
    package static func pattern(_ pattern: String) -> AttributeLimit {
        let predicate = NSComparisonPredicate(
            leftExpression: .expressionForEvaluatedObject(), rightExpression: NSExpression(forConstantValue: pattern),
            modifier: .direct, type: .matches)
        return AttributeLimit(predicate: predicate, code: ValidationCode.patternMatching)
    }

    private static func range(
        _ subject: NSExpression, _ least: Any?, _ greatest: Any?, below: Int, above: Int
    ) -> [AttributeLimit] {
        var limits: [AttributeLimit] = []
        if let least {
            limits.append(AttributeLimit(predicate: compare(subject, .greaterThanOrEqualTo, least), code: below))
        }
        if let greatest {
            limits.append(AttributeLimit(predicate: compare(subject, .lessThanOrEqualTo, greatest), code: above))
        }
        return limits
    }

    private static func compare(
        _ subject: NSExpression, _ type: NSComparisonPredicate.Operator, _ limit: Any
    ) -> NSPredicate {
        NSComparisonPredicate(
            leftExpression: subject, rightExpression: NSExpression(forConstantValue: limit), modifier: .direct, type: type)
    }
}
