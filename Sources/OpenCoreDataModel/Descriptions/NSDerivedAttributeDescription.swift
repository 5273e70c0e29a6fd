import Predicates

/// An attribute whose value the store computes from other properties at each save.
///
/// (developer.apple.com/documentation/coredata/nsderivedattributedescription)
///
/// ```swift
/// itemCount.attributeType = .integer64AttributeType
/// itemCount.derivationExpression = NSExpression(forKeyPath: "items.@count")
/// ```
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
    /// The expression that computes the value.
    ///
    /// It may use key paths through to-one relationships, `canonical:`, `uppercase:` and
    /// `lowercase:` of such a path, `@count` and `@sum` of a to-many relationship, and `now()`. The
    /// attribute's version hash depends on this expression alone.
    ///
    /// ```swift
    /// changed.derivationExpression = NSExpression(format: "now()")
    /// search.derivationExpression = NSExpression(format: "canonical:(name)")
    /// ```
    open var derivationExpression: NSExpression? { willSet { requireEditable() } }

    /// Sets the expression from its text, in the form that it has in models read from files.
    package func derive(from text: String) {
        derivationExpression = DerivationExpression.compiled(NSExpression(format: text))
    }

    /// The text for `derive(from:)` that gives this expression again; nil when there is none.
    package var derivationText: String? {
        derivationExpression.flatMap(DerivationExpression.editableText)
    }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSDerivedAttributeDescription else { return }
        derivationExpression = other.derivationExpression
    }

    override var kindName: String { "derived attribute" }
}
