import Foundation

/// A value that a statement binds, and where it comes from.
package struct SQLArgument {
    /// What the value is of. It tells whether and how a statement of the same shape gets another value.
    package enum Role {
        /// The same value in every statement of this shape.
        case fixed
        /// Good for this statement only.
        case once
        /// A constant of the request's predicate.
        case constant(SQLConstant, SQLConstant.Form)
        case limit
        case offset
        /// The keys that a request leaves out.
        case excludedKeys
    }

    package let value: StoredValue
    /// The values of a list, where a database takes one as a single argument.
    package var elements: [StoredValue]?
    /// What the value is bound as; nil where its own case tells.
    package var kind: ValueKind?
    package var role = Role.fixed

    package init(_ value: StoredValue, kind: ValueKind? = nil, role: Role = .fixed) {
        self.value = value
        self.kind = kind
        self.role = role
    }

    /// What several mentions of one value have in common.
    enum Mention: Hashable {
        case constant(ObjectIdentifier, SQLConstant.Form, ValueKind?)
        case text(LiteralText)
    }

    /// What the argument mentions, where a statement may do so several times.
    var mention: Mention? {
        switch role {
        case .constant(let constant, let form): return .constant(ObjectIdentifier(constant.expression), form, kind)
        case .fixed:
            if case .string(let text) = value, kind == .string { return .text(LiteralText(text)) }
            return nil
        case .once, .limit, .offset, .excludedKeys: return nil
        }
    }

    /// A list that is one argument.
    package init(elements: [StoredValue], kind: ValueKind?, role: Role = .fixed) {
        value = .null
        self.elements = elements
        self.kind = kind
        self.role = role
    }
}

/// A constant in a predicate, as a statement compares it.
package final class SQLConstant {
    /// How one argument is made of the constant.
    package enum Form {
        case value
        /// The value, which must be a text that is not empty: others need other SQL.
        case part
        /// The value, which must be a text that has a least text behind all that begin with it.
        case prefix
        /// The least text behind all that begin with the constant.
        case endOfPrefix
        /// Minus the number of bytes of a text that is not empty.
        case suffixLength
        /// What all texts begin with, decomposed and folded, that begin with the constant when they are composed.
        case stem
    }

    let expression: NSExpression
    /// What it is compared with, which says how it is bound.
    let other: SQLTerm?
    /// What it is bound as: a constant of another kind needs other SQL.
    let kind: ValueKind?

    init(_ expression: NSExpression, like other: SQLTerm?, kind: ValueKind?) {
        self.expression = expression
        self.other = other
        self.kind = kind
    }

    /// The argument of another constant in this one's place; nil when that one needs other SQL.
    static func argument(_ value: StoredValue, _ form: Form) -> StoredValue? {
        switch (form, value) {
        case (_, .null): nil
        case (.value, _): value
        case (.part, .string(let text)): text.isEmpty ? nil : value
        case (.prefix, .string(let text)): SQLGenerator.upperBound(ofPrefix: text) == nil ? nil : value
        case (.endOfPrefix, .string(let text)): SQLGenerator.upperBound(ofPrefix: text).map(StoredValue.string)
        case (.suffixLength, .string(let text)): text.isEmpty ? nil : .integer(-Int64(text.utf8.count))
        case (.stem, .string(let text)): stem(of: text).map(StoredValue.string)
        default: nil
        }
    }

    /// A text without the marks at its end, which may stand elsewhere in a longer one; nil where nothing is left, or what has no least
    /// text behind it.
    private static func stem(of text: String) -> String? {
        var scalars = text.decomposedStringWithCanonicalMapping.unicodeScalars
        while let last = scalars.last, last.properties.canonicalCombiningClass != .notReordered { scalars.removeLast() }
        guard let last = scalars.last, last.value != 0x10ffff else { return nil }
        return String(scalars)
    }
}
