import Foundation

// Objects of a store in a `#Predicate`: `$0.author == author`, `authors.contains($0.author)`.
//
// A predicate may move to another thread, where no object may follow. It therefore captures the
// identities of objects, taken when the predicate is made. They are compared with the identities of
// the objects that the predicate is evaluated for: objects of different contexts that stand for one
// row are equal.

/// A value that identifies an object of a store in a `#Predicate`: the object, its ID, or a view.
public protocol PredicateIdentifiable {
    /// The identity; nil where there is no object.
    var _predicateIdentity: (any Hashable & Sendable)? { get }
}

extension Optional: PredicateIdentifiable where Wrapped: PredicateIdentifiable {
    public var _predicateIdentity: (any Hashable & Sendable)? { flatMap(\._predicateIdentity) }
}

extension PredicateExpressions {
    /// `$0.author == author`, or `!=`: whether two parts of a predicate stand for the same object.
    public struct IdentityComparison: PredicateExpression {
        let left: IdentityPart
        let right: IdentityPart
        let isEqual: Bool

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            (try left.identity(bindings) == right.identity(bindings)) == isEqual
        }
    }

    /// `authors.contains($0.author)`: whether an object is among the elements of a sequence.
    public struct IdentityMembership: PredicateExpression {
        let sequence: IdentityPart
        let element: IdentityPart

        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try sequence.identities(bindings).contains(element.identity(bindings))
        }
    }

    // Foundation's own comparisons are preferred wherever they can be used. These overloads are for
    // captured values that cannot be encoded.

    /// The call that `#Predicate` makes for `==` between objects, their IDs and views of them.
    @_disfavoredOverload
    public static func build_Equal<Left: PredicateExpression, Right: PredicateExpression>(
        lhs: Left, rhs: Right
    ) -> IdentityComparison where Left.Output: PredicateIdentifiable, Right.Output: PredicateIdentifiable {
        IdentityComparison(left: IdentityPart(lhs), right: IdentityPart(rhs), isEqual: true)
    }

    /// The call that `#Predicate` makes for `!=` between objects, their IDs and views of them.
    @_disfavoredOverload
    public static func build_NotEqual<Left: PredicateExpression, Right: PredicateExpression>(
        lhs: Left, rhs: Right
    ) -> IdentityComparison where Left.Output: PredicateIdentifiable, Right.Output: PredicateIdentifiable {
        IdentityComparison(left: IdentityPart(lhs), right: IdentityPart(rhs), isEqual: false)
    }

    /// The call that `#Predicate` makes for `contains` with objects, or their IDs, on both sides.
    @_disfavoredOverload
    public static func build_contains<Members: PredicateExpression, Element: PredicateExpression>(
        _ members: Members, _ element: Element
    ) -> IdentityMembership
    where
        Members.Output: Sequence, Element.Output: PredicateIdentifiable & Equatable,
        Element.Output == Members.Output.Element
    {
        IdentityMembership(sequence: IdentityPart(sequence: members), element: IdentityPart(element))
    }

    /// The call that `#Predicate` makes for `contains` with other kinds on the two sides.
    ///
    /// These are an optional object among objects, or an object among views.
    @_disfavoredOverload
    public static func build_contains<Members: PredicateExpression, Element: PredicateExpression>(
        _ members: Members, _ element: Element
    ) -> IdentityMembership
    where Members.Output: Sequence, Members.Output.Element: PredicateIdentifiable, Element.Output: PredicateIdentifiable
    {
        IdentityMembership(sequence: IdentityPart(sequence: members), element: IdentityPart(element))
    }
}

extension PredicateExpressions.IdentityComparison: StandardPredicateExpression {
    /// - Throws: always: object IDs are not encoded in predicates.
    public init(from decoder: any Decoder) throws { throw IdentityPart.decodingError(decoder) }

    /// - Throws: always: object IDs are not encoded in predicates.
    public func encode(to encoder: any Encoder) throws { throw IdentityPart.encodingError(self, encoder) }
}

extension PredicateExpressions.IdentityMembership: StandardPredicateExpression {
    /// - Throws: always: object IDs are not encoded in predicates.
    public init(from decoder: any Decoder) throws { throw IdentityPart.decodingError(decoder) }

    /// - Throws: always: object IDs are not encoded in predicates.
    public func encode(to encoder: any Encoder) throws { throw IdentityPart.encodingError(self, encoder) }
}

extension Sequence where Element: PredicateIdentifiable & Equatable {
    /// Whether an object is among these; never true for nil.
    ///
    /// A `#Predicate` may use `authors.contains($0.author)` where the author is optional.
    @_disfavoredOverload
    public func contains(_ element: Element?) -> Bool { element.map { contains($0) } ?? false }
}

/// One side of a comparison of objects: captured identities, or an expression to evaluate.
enum IdentityPart: Sendable {
    case identity((any Hashable & Sendable)?)
    case identities([(any Hashable & Sendable)?])
    case expression(any StandardPredicateExpression)
    /// An expression that depends on the object, and has captured a value that must not move to
    /// another thread.
    case mixed(type: String)

    init<Expression: PredicateExpression>(_ expression: Expression) where Expression.Output: PredicateIdentifiable {
        self.init(expression) { .identity($0._predicateIdentity) }
    }

    init<Expression: PredicateExpression>(sequence: Expression)
    where Expression.Output: Sequence, Expression.Output.Element: PredicateIdentifiable {
        self.init(sequence) { .identities($0.map(\._predicateIdentity)) }
    }

    private init<Expression: PredicateExpression>(_ expression: Expression, known: (Expression.Output) -> IdentityPart)
    {
        if let standard = expression as? any StandardPredicateExpression {
            self = .expression(standard)
        } else if let output = try? expression.evaluate(PredicateBindings()) {
            self = known(output)
        } else {
            self = .mixed(type: "\(Expression.Output.self)")
        }
    }

    func identity(_ bindings: PredicateBindings) throws -> AnyHashable? {
        switch self {
        case .identity(let identity): identity.map { AnyHashable($0) }
        case .expression(let expression): Self.identity(of: try expression.evaluate(bindings))
        case .identities, .mixed: throw unusable
        }
    }

    func identities(_ bindings: PredicateBindings) throws -> [AnyHashable?] {
        switch self {
        case .identities(let identities): return identities.map { $0.map { AnyHashable($0) } }
        case .expression(let expression):
            guard let members = try expression.evaluate(bindings) as? any Sequence else { return [] }
            return members.map { Self.identity(of: $0) }
        case .identity, .mixed: throw unusable
        }
    }

    private static func identity(of value: Any) -> AnyHashable? {
        (KeyValue.unwrapped(value) as? any PredicateIdentifiable)?._predicateIdentity.map { AnyHashable($0) }
    }

    // MARK: Translation

    /// - Parameter whole: The expression that contains this part.
    func translate(with translation: inout PredicateTranslation, in whole: Any) throws -> NSExpression {
        switch self {
        case .identity(let identity): ConstantValue.expression(for: identity)
        case .identities(let identities): ConstantValue.expression(for: identities.map { $0 as Any? ?? NSNull() })
        case .expression(let expression): try translation.expression(expression)
        case .mixed: throw translation.untranslatable(whole, Self.mixedMessage)
        }
    }

    func text(with text: inout ExpressionText) -> String {
        switch self {
        case .identity(let identity): ExpressionText.literal(identity as Any)
        case .identities(let identities): ExpressionText.literal(identities.map { $0 as Any })
        case .expression(let expression): text.operand(expression)
        case .mixed(let type): "(\(type))"
        }
    }

    private static let mixedMessage =
        "a captured object or view stands in a part that depends on the object; compare each by itself, or capture "
        + "its ID"

    private var unusable: PredicateTranslationError {
        var text = ExpressionText(input: PredicateExpressions.Variable<Bool>().key)
        let part = self.text(with: &text)
        return PredicateTranslationError(message: Self.mixedMessage, expression: part, predicate: part)
    }

    // MARK: Coding

    static func encodingError(_ expression: Any, _ encoder: any Encoder) -> EncodingError {
        let problem = "A predicate that captures objects or their IDs cannot be encoded."
        return .invalidValue(expression, .init(codingPath: encoder.codingPath, debugDescription: problem))
    }

    static func decodingError(_ decoder: any Decoder) -> DecodingError {
        let problem = "A predicate that captures objects or their IDs cannot be decoded."
        return .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
    }
}

extension PredicateExpressions.IdentityComparison: TranslatableExpression, InfixExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        .predicate(
            try left.translate(with: &translation, in: self)
                .compared(isEqual ? .equalTo : .notEqualTo, to: try right.translate(with: &translation, in: self)))
    }

    func text(with text: inout ExpressionText) -> String {
        "\(left.text(with: &text)) \(isEqual ? "==" : "!=") \(right.text(with: &text))"
    }
}

extension PredicateExpressions.IdentityMembership: TranslatableExpression {
    func translate(with translation: inout PredicateTranslation) throws -> Part {
        let element = try element.translate(with: &translation, in: self)
        guard case .expression(let members) = sequence else {
            return .predicate(element.compared(.in, to: try sequence.translate(with: &translation, in: self)))
        }
        return .predicate(try translation.isMember(element, of: members))
    }

    func text(with text: inout ExpressionText) -> String {
        "\(sequence.text(with: &text)).contains(\(element.text(with: &text)))"
    }
}
