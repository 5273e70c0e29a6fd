import Predicates

/// A column of dictionary results, or an element of an index, that an expression computes.
///
/// (developer.apple.com/documentation/coredata/nsexpressiondescription)
///
/// ```swift
/// let total = NSExpressionDescription()
/// total.name = "total"
/// total.expression = NSExpression(
///     forFunction: "sum:", arguments: [NSExpression(forKeyPath: "stockCount")])
/// total.expressionResultType = .integer64AttributeType
/// request.propertiesToFetch = ["supplier.name", total]
/// ```
open class NSExpressionDescription: NSPropertyDescription, @unchecked Sendable {
    /// The expression that computes the value.
    open var expression: NSExpression? { willSet { requireEditable() } }

    /// The kind of the value. The same value as `resultType`.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { requireEditable() } }

    /// The kind of the value.
    open var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSExpressionDescription else { return }
        expression = other.expression
        expressionResultType = other.expressionResultType
    }

    override var kindName: String { "expression" }
}
