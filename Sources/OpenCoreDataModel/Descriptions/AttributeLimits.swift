import Foundation
import Predicates

/// The limits of an attribute's values, recovered from its validation predicates.
package struct AttributeLimits {
    /// The least and greatest number (`NSNumber`) or date (`Date`).
    package private(set) var least: Any?
    package private(set) var greatest: Any?
    /// The least and greatest number of characters.
    package private(set) var shortest: Int?
    package private(set) var longest: Int?
    /// The regular expression that a text matches.
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
            comparison.rightExpression.expressionType == .constantValue, let value = comparison.rightExpression.constantValue
        else { return false }
        let number = value as? NSNumber
        let length = number.flatMap { $0.intValue >= 0 ? $0.intValue : nil }
        var limit: AttributeLimit?
        switch (code, type) {
        case (ValidationCode.numberTooSmall, _) where type.isNumeric && number != nil && least == nil:
            limit = AttributeLimit.numbers(from: number, to: nil).first
            if limit.matches(predicate) { least = number }
        case (ValidationCode.numberTooLarge, _) where type.isNumeric && number != nil && greatest == nil:
            limit = AttributeLimit.numbers(from: nil, to: number).first
            if limit.matches(predicate) { greatest = number }
        case (ValidationCode.dateTooSoon, .dateAttributeType) where least == nil:
            guard comparison.predicateOperatorType == .greaterThanOrEqualTo, let date = comparison.limitingDate else { return false }
            least = date
            return true
        case (ValidationCode.dateTooLate, .dateAttributeType) where greatest == nil:
            guard comparison.predicateOperatorType == .lessThanOrEqualTo, let date = comparison.limitingDate else { return false }
            greatest = date
            return true
        case (ValidationCode.stringTooShort, .stringAttributeType) where length != nil && shortest == nil:
            limit = AttributeLimit.lengths(from: number, to: nil).first
            if limit.matches(predicate) { shortest = length }
        case (ValidationCode.stringTooLong, .stringAttributeType) where length != nil && longest == nil:
            limit = AttributeLimit.lengths(from: nil, to: number).first
            if limit.matches(predicate) { longest = length }
        case (ValidationCode.patternMatching, .stringAttributeType) where pattern == nil:
            guard let text = value as? String, !text.isEmpty else { return false }
            limit = AttributeLimit.pattern(text)
            if limit.matches(predicate) { pattern = text }
        default: return false
        }
        return limit.matches(predicate)
    }
}

extension AttributeLimit? {
    /// Whether this is the limit that a predicate sets.
    fileprivate func matches(_ predicate: NSPredicate) -> Bool {
        self?.predicate.predicateFormat == predicate.predicateFormat
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
