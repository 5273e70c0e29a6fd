import Predicates

/// A limit of an attribute's values: the predicate that a valid value satisfies, and the error code
/// for other values.
package struct AttributeLimit {
    package let predicate: NSPredicate
    package let code: Int

    /// Numbers from `least` to `greatest`, either of which may be missing.
    package static func numbers(from least: NSNumber?, to greatest: NSNumber?) -> [AttributeLimit] {
        range(subject, least, greatest, below: ValidationCode.numberTooSmall, above: ValidationCode.numberTooLarge)
    }

    /// Dates from `least` to `greatest`, either of which may be missing. Their seconds are
    /// compared, as in the models that Xcode compiles.
    package static func dates(from least: Date?, to greatest: Date?) -> [AttributeLimit] {
        func seconds(_ date: Date?) -> NSNumber? { date.map { NSNumber(value: $0.timeIntervalSinceReferenceDate) } }
        return range(
            NSExpression(forKeyPath: secondsOfDate), seconds(least), seconds(greatest),
            below: ValidationCode.dateTooSoon,
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
        AttributeLimit(predicate: subject.compared(.matches, pattern), code: ValidationCode.patternMatching)
    }

    private static var subject: NSExpression { .expressionForEvaluatedObject() }

    private static func range(
        _ subject: NSExpression, _ least: Any?, _ greatest: Any?, below: Int, above: Int
    ) -> [AttributeLimit] {
        let low = least.map { AttributeLimit(predicate: subject.compared(.greaterThanOrEqualTo, $0), code: below) }
        let high = greatest.map { AttributeLimit(predicate: subject.compared(.lessThanOrEqualTo, $0), code: above) }
        return [low, high].compactMap(\.self)
    }
}

extension NSComparisonPredicate {
    /// The date of a date limit, which compares the date itself or its seconds; nil for any other
    /// comparison.
    package var limitingDate: Date? {
        guard comparisonPredicateModifier == .direct, options.isEmpty, rightExpression.expressionType == .constantValue
        else {
            return nil
        }
        if leftExpression.keyPathFromEvaluatedObject == AttributeLimit.secondsOfDate {
            return (rightExpression.constantValue as? NSNumber).map {
                Date(timeIntervalSinceReferenceDate: $0.doubleValue)
            }
        }
        return leftExpression.expressionType == .evaluatedObject ? rightExpression.constantValue as? Date : nil
    }

    /// A date limit as a comparison of the date itself; nil for any other predicate. This form
    /// needs no look-up by name and reads well in messages.
    package var comparingDates: NSComparisonPredicate? {
        let orders: [Operator] = [.lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo]
        guard orders.contains(predicateOperatorType), let date = limitingDate else { return nil }
        return NSExpression.expressionForEvaluatedObject().compared(predicateOperatorType, date)
    }
}

/// The limits of an attribute's values, recovered from its validation predicates.
package struct AttributeLimits {
    /// The least and greatest number (`NSNumber`) or date (`Date`).
    package private(set) var least: Any?
    package private(set) var greatest: Any?
    package private(set) var shortest: Int?
    package private(set) var longest: Int?
    package private(set) var pattern: String?
    /// The validation predicates that are not such limits, as text.
    package private(set) var others: [String] = []

    package init(of attribute: NSAttributeDescription) {
        for (predicate, warning) in zip(attribute.validationPredicates, attribute.validationWarnings)
        where !take(predicate, code: (warning as? NSNumber)?.intValue ?? 0, type: attribute.attributeType) {
            others.append(predicate.predicateFormat)
        }
    }

    private mutating func take(_ predicate: NSPredicate, code: Int, type: NSAttributeType) -> Bool {
        guard let comparison = predicate as? NSComparisonPredicate,
            comparison.rightExpression.expressionType == .constantValue,
            let value = comparison.rightExpression.constantValue
        else { return false }
        let number = value as? NSNumber
        let length = number.flatMap { $0.intValue >= 0 ? $0.intValue : nil }
        let date = comparison.limitingDate
        let text = value as? String ?? ""
        func isLimit(_ limits: [AttributeLimit]) -> Bool {
            limits.first?.predicate.predicateFormat == predicate.predicateFormat
        }
        func isDateLimit(_ type: NSComparisonPredicate.Operator) -> Bool {
            date != nil && comparison.predicateOperatorType == type
        }
        switch (code, type) {
        case (ValidationCode.numberTooSmall, _)
        where type.isNumeric && least == nil && isLimit(AttributeLimit.numbers(from: number, to: nil)):
            least = number
        case (ValidationCode.numberTooLarge, _)
        where type.isNumeric && greatest == nil && isLimit(AttributeLimit.numbers(from: nil, to: number)):
            greatest = number
        case (ValidationCode.dateTooSoon, .dateAttributeType)
        where least == nil && isDateLimit(.greaterThanOrEqualTo):
            least = date
        case (ValidationCode.dateTooLate, .dateAttributeType)
        where greatest == nil && isDateLimit(.lessThanOrEqualTo):
            greatest = date
        case (ValidationCode.stringTooShort, .stringAttributeType)
        where shortest == nil && length != nil && isLimit(AttributeLimit.lengths(from: number, to: nil)):
            shortest = length
        case (ValidationCode.stringTooLong, .stringAttributeType)
        where longest == nil && length != nil && isLimit(AttributeLimit.lengths(from: nil, to: number)):
            longest = length
        case (ValidationCode.patternMatching, .stringAttributeType)
        where pattern == nil && !text.isEmpty && isLimit([AttributeLimit.pattern(text)]):
            pattern = text
        default: return false
        }
        return true
    }
}

extension NSAttributeType {
    package var isNumeric: Bool {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType:
            true
        default: false
        }
    }
}

/// The codes of errors, in `NSCocoaErrorDomain`, for values beyond the limits of a model.
enum ValidationCode {
    static let numberTooLarge = 1610
    static let numberTooSmall = 1620
    static let dateTooLate = 1630
    static let dateTooSoon = 1640
    static let stringTooLong = 1660
    static let stringTooShort = 1670
    static let patternMatching = 1680
}
