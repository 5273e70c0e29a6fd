import Foundation

/// The texts of validation errors for the user of a form: a property's name in words, and the
/// condition that its value must satisfy. The description of an error, for a log, also names
/// entity, object and predicate.
enum ValidationText {
    /// The name of a property in words: `unitPrice` is `Unit price`.
    static func name(_ property: String) -> String {
        var words: [String] = []
        var word = ""
        func end() {
            if !word.isEmpty { words.append(word) }
            word = ""
        }
        let characters = Array(property)
        for (index, character) in characters.enumerated() {
            if character == "_" || character == "." || character == " " {
                end()
                continue
            }
            let next = index + 1 < characters.count ? characters[index + 1] : nil
            let isBeginning = word.last.map { !$0.isUppercase || next?.isLowercase == true } ?? false
            if character.isUppercase, isBeginning { end() }
            word.append(character)
        }
        end()
        // Abbreviations are not changed.
        let texts = words.map { $0.count > 1 && $0.allSatisfy { !$0.isLowercase } ? $0 : $0.lowercased() }.joined(
            separator: " ")
        return texts.prefix(1).uppercased() + texts.dropFirst()
    }

    static func missing(_ property: String) -> String { "\(name(property)) must have a value" }

    static func wrongKind(_ property: String) -> String { "\(name(property)) has a value of the wrong kind" }

    static func tooFew(_ property: String, least: Int) -> String {
        "\(name(property)) must have at least \(least) \(least == 1 ? "entry" : "entries")"
    }

    static func tooMany(_ property: String, most: Int) -> String {
        "\(name(property)) may have at most \(most) \(most == 1 ? "entry" : "entries")"
    }

    static func denied(_ relationship: String) -> String {
        "This cannot be deleted while \(name(relationship)) is not empty"
    }

    static func gone(_ relationship: String) -> String { "\(name(relationship)) is deleted" }

    /// The text for a violated rule: the model's own text if it has one.
    static func violated(_ rule: ValidationRule, _ property: String) -> String {
        rule.message ?? "\(name(property)) \(requirement(rule.checked) ?? "is not valid")"
    }

    private static func requirement(_ predicate: NSPredicate) -> String? {
        guard let comparison = predicate as? NSComparisonPredicate, comparison.comparisonPredicateModifier == .direct,
            comparison.rightExpression.expressionType == .constantValue,
            let limit = comparison.rightExpression.constantValue
        else { return nil }
        let left = comparison.leftExpression
        if left.expressionType == .keyPath, left.keyPath == "length" {
            return length(comparison.predicateOperatorType, limit)
        }
        guard left.expressionType == .evaluatedObject else { return nil }
        if let date = limit as? Date { return moment(comparison.predicateOperatorType, date) }
        switch comparison.predicateOperatorType {
        case .lessThan: return "must be less than \(limit)"
        case .lessThanOrEqualTo: return "must be at most \(limit)"
        case .greaterThan: return "must be greater than \(limit)"
        case .greaterThanOrEqualTo: return "must be at least \(limit)"
        case .equalTo: return "must be \(limit)"
        case .notEqualTo: return "must not be \(limit)"
        case .matches, .like: return "does not have the right form"
        default: return nil
        }
    }

    private static func length(_ operation: NSComparisonPredicate.Operator, _ limit: Any) -> String? {
        let characters = (limit as? NSNumber) == 1 ? "1 character" : "\(limit) characters"
        return switch operation {
        case .lessThan: "must have fewer than \(characters)"
        case .lessThanOrEqualTo: "must have at most \(characters)"
        case .greaterThan: "must have more than \(characters)"
        case .greaterThanOrEqualTo: "must have at least \(characters)"
        case .equalTo: "must have \(characters)"
        default: nil
        }
    }

    private static func moment(_ operation: NSComparisonPredicate.Operator, _ date: Date) -> String? {
        let text = DateFormatter.localizedString(from: date, dateStyle: .medium, timeStyle: .short)
        return switch operation {
        case .lessThan: "must be before \(text)"
        case .lessThanOrEqualTo: "must not be after \(text)"
        case .greaterThan: "must be after \(text)"
        case .greaterThanOrEqualTo: "must not be before \(text)"
        default: nil
        }
    }
}
