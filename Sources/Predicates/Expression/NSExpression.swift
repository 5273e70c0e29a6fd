import Foundation

/// A part of a predicate that has a value: a constant, a key path, a function of other expressions,
/// and so on.
///
///     NSExpression(forFunction: "max:", arguments: [NSExpression(forKeyPath: "price")])
///     NSExpression(format: "price * stock")
///
/// An accessor that does not apply to the kind of expression (the key path of a constant) ends the
/// program, as Apple's raises an exception. Check ``expressionType`` first.
///
/// Source: Apple's reference of NSExpression.
///
/// ```swift
/// let total = NSExpression(format: "price * stockCount")
/// let value = total.expressionValue(with: item, context: nil)
/// ```
//
// Unchecked Sendable: both stored properties are `let`, set before the initializer returns. The
// caller must keep constants and blocks unchanged, as with Apple's class.
open class NSExpression: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    let body: ExpressionBody

    /// The number of levels of nested expressions and predicates, this one included.
    let height: Int

    init(body: ExpressionBody) {
        let below = body.height
        // A tree that is too tall keeps no parts, because freeing it would recurse too.
        self.body = below > PredicateDepth.limit ? .constant(nil, .null) : body
        height = PredicateDepth.above(below)
    }

    /// Creates an expression for the result of a fetch, which the context carries out.
    package init(fetch: NSExpression, context: NSExpression, countOnly: Bool) {
        let body = ExpressionBody.operation(
            { values in (values[1] as? any FetchingContext)?.value(ofFetch: values[0], countOnly: countOnly) },
            [fetch, context])
        let below = body.height
        self.body = below > PredicateDepth.limit ? .constant(nil, .null) : body
        height = PredicateDepth.above(below)
    }

    // MARK: Making expressions

    /// An expression that is always the given value.
    ///
    /// `NSNull` is kept as ``constantValue`` and counts as `nil` in evaluation. The same holds for
    /// an optional without a value that a generic function passes.
    ///
    /// ```swift
    /// let limit = NSExpression(forConstantValue: 5)
    /// ```
    public init(forConstantValue obj: Any?) {
        let value = KeyValue.unwrapped(obj)
        let comparable = ComparableValue(value)
        if case .collection = comparable, let bound = value as? [NSExpression], !bound.isEmpty {
            body = .constant(value, .object(BoundExpressions(expressions: bound)))
        } else {
            // An optional without a value that arrives as `Any` is a null as well.
            body = .constant(value ?? obj.map { _ in NSNull() }, comparable)
        }
        height = 1
    }

    /// The value at a key path of the evaluated object: `price`, `supplier.name`, `items.@count`.
    ///
    /// ```swift
    /// let supplier = NSExpression(forKeyPath: "supplier.name")
    /// let number = NSExpression(forKeyPath: "items.@count")
    /// ```
    public convenience init(forKeyPath keyPath: String) {
        self.init(body: .keyPath(operand: nil, ParsedKeyPath(keyPath)))
    }

    /// The value at a Swift key path of the evaluated object.
    ///
    /// A path whose names cannot be found (see ``KeyPathNaming``) ends the program.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        guard let name = KeyPathNames.name(of: keyPath) else {
            preconditionFailure("No key is known for \(keyPath); use a string, or adopt KeyPathNaming in \(Root.self).")
        }
        self.init(forKeyPath: name)
    }

    /// A built-in function, by Apple's name: `sum:`, `count:`, `max:`, `now`, `uppercase:` ...
    ///
    /// ```swift
    /// let total = NSExpression(
    ///     forFunction: "sum:", arguments: [NSExpression(forKeyPath: "stockCount")])
    /// let upper = NSExpression(
    ///     forFunction: "uppercase:", arguments: [NSExpression(forKeyPath: "name")])
    /// ```
    ///
    /// - Parameters:
    ///   - name: The function's name, with its colons. An unknown name ends the program.
    ///   - parameters: Expressions; anything else becomes a constant.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        guard let function = BuiltInFunction(name: name) else {
            preconditionFailure("There is no built-in function \"\(name)\".")
        }
        self.init(body: .function(FunctionCall(function, parameters.map(NSExpression.wrapping))))
    }

    /// A method of the target's value, by selector: `FUNCTION(target, "selector:", ...)`.
    ///
    /// Methods are not dispatched by selector: `valueForKeyPath:` works for every value, methods
    /// without parameters are read as keys, and other methods are left to
    /// ``PredicateFunctionTarget``.
    public convenience init(forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?) {
        let arguments = (parameters ?? []).map(NSExpression.wrapping)
        self.init(body: .function(FunctionCall(target: target, selectorName: name, arguments: arguments)))
    }

    /// The value of the variable `$name` at evaluation.
    ///
    /// ```swift
    /// let half = NSExpression(format: "$total / 2")
    ///     .expressionValue(with: nil, context: ["total": 7.0])   // 3.5
    /// ```
    public convenience init(forVariable string: String) {
        self.init(body: .variable(string))
    }

    /// A collection whose elements are expressions; anything else in the array becomes a constant.
    ///
    /// ```swift
    /// // {"a", "b", code}
    /// let codes = NSExpression(forAggregate: ["a", "b", NSExpression(forKeyPath: "code")])
    /// ```
    public convenience init(forAggregate subexpressions: [Any]) {
        self.init(body: .aggregate(subexpressions.map(NSExpression.wrapping)))
    }

    /// The elements of a collection for which a predicate is true.
    ///
    /// ```swift
    /// let few = NSExpression(
    ///     forSubquery: NSExpression(forKeyPath: "items"), usingIteratorVariable: "item",
    ///     predicate: NSPredicate(format: "$item.stockCount < 5"))
    /// ```
    ///
    /// - Parameters:
    ///   - expression: The expression that gives the collection.
    ///   - variable: The name, without `$`, that stands for the element in the predicate.
    ///   - predicate: An ``NSPredicate``; anything else ends the program.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String, predicate: Any
    ) {
        guard let predicate = predicate as? NSPredicate else {
            preconditionFailure("A subquery takes an NSPredicate, not a \(type(of: predicate)).")
        }
        self.init(body: .subquery(expression, variable: variable, predicate))
    }

    /// The elements of either collection.
    ///
    /// ```swift
    /// let both = NSExpression(
    ///     forUnionSet: NSExpression(forKeyPath: "tags"), with: NSExpression(forKeyPath:
    ///     "supplier.tags"))
    /// ```
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(body: .set(.union, left, right))
    }

    /// The elements of both collections.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(body: .set(.intersect, left, right))
    }

    /// The elements of the left collection that are not in the right one.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(body: .set(.minus, left, right))
    }

    /// One of two expressions, chosen by a predicate.
    ///
    /// ```swift
    /// let price = NSExpression(
    ///     forConditional: NSPredicate(format: "isOnOffer == YES"),
    ///     trueExpression: NSExpression(format: "price * 0.9"),
    ///     falseExpression: NSExpression(forKeyPath: "price"))
    /// ```
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression, falseExpression: NSExpression
    ) {
        self.init(body: .conditional(predicate, trueExpression, falseExpression))
    }

    /// The result of a closure. It can be evaluated in memory only: it has no text and no SQL.
    ///
    /// - Parameters: - block: Takes the evaluated object, the arguments' values (`NSNull` for
    ///   `nil`) and the context. - arguments: The expressions that are evaluated first and passed
    ///   to the closure.
    public convenience init(block: @escaping (Any?, [Any], NSMutableDictionary?) -> Any, arguments: [NSExpression]?) {
        self.init(body: .block(block, arguments ?? []))
    }

    /// The evaluated object itself: `SELF`. The same instance each time.
    public class func expressionForEvaluatedObject() -> NSExpression { evaluatedObject }

    private static let evaluatedObject = NSExpression(body: .evaluatedObject)

    /// Any key of a Spotlight item: `ANYKEY`. It parses and prints; it cannot be evaluated.
    public class func expressionForAnyKey() -> NSExpression {
        NSExpression(body: .anyKey)
    }

    static func wrapping(_ value: Any) -> NSExpression {
        if ComparableValue.isPlain(type(of: value)) { return NSExpression(forConstantValue: value) }
        return value as? NSExpression ?? NSExpression(forConstantValue: value)
    }

    /// Does nothing. Apple's method marks a decoded expression as trusted.
    ///
    /// Expressions of this module never call arbitrary code.
    open func allowEvaluation() {}

    // MARK: Text, equality, copying

    /// The expression in the syntax of a predicate format.
    open override var description: String { text }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSExpression else { return false }
        return self === other || body.isEqual(to: other.body)
    }

    open override var hash: Int { body.hash }

    /// The expression itself: it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: Coding

    public class var supportsSecureCoding: Bool { true }

    /// Reads an expression that was archived as its text.
    public required init?(coder: NSCoder) {
        guard let text = coder.decodeObject(of: NSString.self, forKey: NSExpression.codingKey) else { return nil }
        do {
            let decoded = try NSExpression.parse(String(describing: text))
            body = decoded.body
            height = decoded.height
        } catch {
            coder.failWithError(CocoaError(.coderReadCorrupt, userInfo: [NSDebugDescriptionErrorKey: "\(error)"]))
            return nil
        }
    }

    /// Archives the expression as its text.
    ///
    /// An expression without parseable text (a block, a constant of a class without a literal)
    /// fails the coder with `CocoaError.coderInvalidValue`.
    open func encode(with coder: NSCoder) {
        let text = LiteralPrinter.$isForParser.withValue(true) { self.text }
        guard let copy = try? NSExpression.parse(text), copy == self else {
            coder.failWithError(CocoaError(.coderInvalidValue))
            return
        }
        coder.encode(text as NSString, forKey: NSExpression.codingKey)
    }

    private static let codingKey = "expressionFormat"
}
