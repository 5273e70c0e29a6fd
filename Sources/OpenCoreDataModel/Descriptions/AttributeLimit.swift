import Predicates

/// A limit of an attribute's values: the predicate that a valid value satisfies, and the error code
/// for other values.
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
    ///
    /// Their seconds are compared, as in the models that Xcode compiles.
    package static func dates(from least: Date?, to greatest: Date?) -> [AttributeLimit] {
        func seconds(_ date: Date?) -> NSNumber? { date.map { NSNumber(value: $0.timeIntervalSinceReferenceDate) } }
        return range(
            NSExpression(forKeyPath: secondsOfDate), seconds(least), seconds(greatest), below: ValidationCode.dateTooSoon,
            above: ValidationCode.dateTooLate)
    }

    /// The property of a date that its limits compare.
    fileprivate static let secondsOfDate = "timeIntervalSinceReferenceDate"

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

extension NSComparisonPredicate {
    /// The date of a date limit; nil for any other comparison.
    ///
    /// The limit compares a date's seconds, as in the models that Xcode compiles, or the date
    /// itself.
    package var limitingDate: Date? {
        guard comparisonPredicateModifier == .direct, options.isEmpty, rightExpression.expressionType == .constantValue else {
            return nil
        }
        if leftExpression.keyPathFromEvaluatedObject == AttributeLimit.secondsOfDate {
            return (rightExpression.constantValue as? NSNumber).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        }
        return leftExpression.expressionType == .evaluatedObject ? rightExpression.constantValue as? Date : nil
    }

    /// A date limit as a comparison of the date itself; nil for any other predicate.
    ///
    /// This form needs no look-up by name and reads well in messages.
    package var comparingDates: NSComparisonPredicate? {
        let orders: [Operator] = [.lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo]
        guard orders.contains(predicateOperatorType), let date = limitingDate else { return nil }
        return NSComparisonPredicate(
            leftExpression: .expressionForEvaluatedObject(), rightExpression: NSExpression(forConstantValue: date), modifier: .direct,
            type: predicateOperatorType)
    }
}
