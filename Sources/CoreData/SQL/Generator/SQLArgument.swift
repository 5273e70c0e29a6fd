import Foundation

/// A value that a statement binds, with its origin.
package struct SQLArgument {
    /// The origin of the value. It decides whether and how a statement of the same shape gets
    /// another value.
    package enum Role {
        /// The same value in every statement of this shape.
        case fixed
        /// Valid for this statement only.
        case once
        /// A constant of the request's predicate.
        case constant(SQLConstant, SQLConstant.Form)
        case limit
        case offset
        /// The keys that a request excludes.
        case excludedKeys
    }

    package let value: StoredValue
    /// The values of a list, where a database binds the whole list as a single argument.
    package var elements: [StoredValue]?
    /// The kind that the value is bound as; nil where the case of `value` decides it.
    package var kind: ValueKind?
    package var role = Role.fixed

    package init(_ value: StoredValue, kind: ValueKind? = nil, role: Role = .fixed) {
        self.value = value
        self.kind = kind
        self.role = role
    }

    /// The identity of a value that a statement mentions several times.
    enum Mention: Hashable {
        case constant(ObjectIdentifier, SQLConstant.Form, ValueKind?)
        case text(LiteralText)
    }

    /// The identity of the value; nil for a value that is bound again at each mention.
    var mention: Mention? {
        switch role {
        case .constant(let constant, let form): return .constant(ObjectIdentifier(constant.expression), form, kind)
        case .fixed:
            if case .string(let text) = value, kind == .string { return .text(LiteralText(text)) }
            return nil
        case .once, .limit, .offset, .excludedKeys: return nil
        }
    }

    /// Creates one argument that is a list.
    package init(elements: [StoredValue], kind: ValueKind?, role: Role = .fixed) {
        value = .null
        self.elements = elements
        self.kind = kind
        self.role = role
    }
}

/// A constant in a predicate, in the form in which a statement compares it.
package final class SQLConstant {
    /// The way to make one argument from the constant.
    package enum Form {
        case value
        /// The value, which must be a non-empty text: other values need different SQL.
        case part
        /// The value, which must be a text with an upper bound: a least text that sorts after all
        /// texts with this prefix.
        case prefix
        /// The least text that sorts after all texts that begin with the constant.
        case endOfPrefix
        /// Minus the number of bytes of a non-empty text.
        case suffixLength
        /// The beginning that texts have in decomposed and folded form if they begin with the
        /// constant in composed form.
        case stem
        /// The least cell of a decimal column that is read as the constant.
        case leastCell
        /// The greatest such cell.
        case greatestCell
    }

    let expression: NSExpression
    /// The term that the constant is compared with. It decides how the constant is bound.
    let other: SQLTerm?
    /// The kind that the constant is bound as. A constant of another kind needs different SQL.
    let kind: ValueKind?

    init(_ expression: NSExpression, like other: SQLTerm?, kind: ValueKind?) {
        self.expression = expression
        self.other = other
        self.kind = kind
    }

    /// Returns the argument for another constant in place of this one; nil when it needs different
    /// SQL.
    static func argument(_ value: StoredValue, _ form: Form) -> StoredValue? {
        switch (form, value) {
        case (_, .null): nil
        case (.value, _): value
        case (.part, .string(let text)): text.isEmpty ? nil : value
        case (.prefix, .string(let text)): SQLGenerator.upperBound(ofPrefix: text) == nil ? nil : value
        case (.endOfPrefix, .string(let text)): SQLGenerator.upperBound(ofPrefix: text).map(StoredValue.string)
        case (.suffixLength, .string(let text)): text.isEmpty ? nil : .integer(-Int64(text.utf8.count))
        case (.stem, .string(let text)): stem(of: text).map(StoredValue.string)
        case (.leastCell, _): DecimalText.leastCell(of: value).map(StoredValue.double) ?? value
        case (.greatestCell, _): DecimalText.greatestCell(of: value).map(StoredValue.double) ?? value
        default: nil
        }
    }

    /// Returns a text without the combining marks at its end, which a longer text may have
    /// elsewhere.
    ///
    /// - Returns: nil where nothing is left, or where no least text sorts after the rest.
    private static func stem(of text: String) -> String? {
        var scalars = text.decomposedStringWithCanonicalMapping.unicodeScalars
        while let last = scalars.last, last.properties.canonicalCombiningClass != .notReordered { scalars.removeLast() }
        guard let last = scalars.last, last.value != 0x10ffff else { return nil }
        return String(scalars)
    }
}
