import Foundation

// `#Predicate` accepts these two operations on every platform. Foundation contains the types that
// they expand to on Apple's platforms only.
#if !canImport(Darwin)
    extension PredicateExpressions {
        /// `text.localizedStandardContains(other)`: whether a text contains another one.
        ///
        /// The comparison ignores case and diacritics.
        public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
            PredicateExpression
        where Root.Output: StringProtocol, Other.Output: StringProtocol {
            public typealias Output = Bool

            public let root: Root
            public let other: Other

            public init(root: Root, other: Other) {
                self.root = root
                self.other = other
            }

            public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
                let part = String(try other.evaluate(bindings))
                let text = String(try root.evaluate(bindings))
                return text.range(of: part, options: [.caseInsensitive, .diacriticInsensitive]) != nil
            }
        }

        /// The call that `#Predicate` makes for `text.localizedStandardContains(other)`.
        public static func build_localizedStandardContains<Root, Other>(
            _ root: Root, _ other: Other
        ) -> StringLocalizedStandardContains<Root, Other> {
            StringLocalizedStandardContains(root: root, other: other)
        }

        /// `text.caseInsensitiveCompare(other)`: the order of two texts, ignoring case.
        public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
            PredicateExpression
        where Root.Output: StringProtocol, Other.Output: StringProtocol {
            public typealias Output = ComparisonResult

            public let root: Root
            public let other: Other

            public init(root: Root, other: Other) {
                self.root = root
                self.other = other
            }

            public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
                String(try root.evaluate(bindings)).caseInsensitiveCompare(String(try other.evaluate(bindings)))
            }
        }

        /// The call that `#Predicate` makes for `text.caseInsensitiveCompare(other)`.
        public static func build_caseInsensitiveCompare<Root, Other>(
            _ root: Root, _ other: Other
        ) -> StringCaseInsensitiveCompare<Root, Other> {
            StringCaseInsensitiveCompare(root: root, other: other)
        }
    }

    extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
    extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
    extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
    where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
    extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}
    extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}
    extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
    where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif

extension PredicateExpressions.StringLocalizedStandardContains: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        let contains = try translation.compare(
            root, .contains, other, options: [.caseInsensitive, .diacriticInsensitive])
        guard case .predicate(let found) = contains else { return contains }
        // For this operation no text contains the empty text; for `contains(_:)` every text does.
        if let constant = translation.constant(other) {
            return (constant.value as? any StringProtocol)?.isEmpty == true
                ? .predicate(NSPredicate(value: false)) : contains
        }
        let isText = try translation.expression(other).compared(.notEqualTo, "")
        return .predicate(NSCompoundPredicate(andPredicateWithSubpredicates: [isText, found]))
    }

    func text(with text: inout ExpressionText) -> String {
        "\(text.operand(root)).localizedStandardContains(\(text.of(other)))"
    }
}

extension PredicateExpressions.StringCaseInsensitiveCompare: TranslatableExpression, TextComparisonExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        throw translation.untranslatable(self, "the order of two texts can only be compared with a constant")
    }

    func text(with text: inout ExpressionText) -> String {
        "\(text.operand(root)).caseInsensitiveCompare(\(text.of(other)))"
    }
}
