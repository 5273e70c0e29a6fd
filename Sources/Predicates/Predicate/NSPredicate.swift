import Foundation

/// A condition that is true or false for an object.
///
/// A predicate is made from a format string, or from expressions, and is then immutable:
///
///     let cheap = NSPredicate(format: "price < %@ AND name BEGINSWITH[cd] %@", 10, "bolt")
///     cheap.evaluate(with: item)
///
/// `NSPredicate(format:)` returns the concrete class that the text describes:
/// ``NSComparisonPredicate`` for a comparison, ``NSCompoundPredicate`` for `AND`, `OR` and `NOT`,
/// and a plain `NSPredicate` for `TRUEPREDICATE` and `FALSEPREDICATE`. Cast it with `as?` to read
/// its parts.
///
/// Source: Apple's Predicate Programming Guide and the reference of NSPredicate.
///
/// ```swift
/// let predicate = NSPredicate(format: "name BEGINSWITH[c] %@ AND stockCount > %d", "bo", 3)
/// let matches = predicate.evaluate(with: item)
/// ```
//
// Unchecked Sendable: every stored property of the class and its subclasses in this module is a
// `let`, set before the initializer returns. The caller must keep values bound as constants, and
// blocks, unchanged, as with Apple's class.
open class NSPredicate: NSObject, NSCopying, NSSecureCoding, PredicateFormatInitializable, @unchecked Sendable {
    /// The kind of a predicate that is neither a comparison nor a compound.
    enum Body {
        case constant(Bool)
        case block((Any?, [String: Any]?) -> Bool)
        case subclass
    }

    let body: Body

    /// A predicate that always has the given value: `TRUEPREDICATE` or `FALSEPREDICATE`.
    ///
    /// ```swift
    /// request.predicate = NSPredicate(value: false)           // finds nothing
    /// ```
    public init(value: Bool) {
        body = .constant(value)
    }

    /// A predicate that calls a closure.
    ///
    /// It can be evaluated in memory only: it has no text and no SQL.
    ///
    /// ```swift
    /// let isOld = NSPredicate { object, _ in
    ///     (object as? Item).map { $0.created < limit } ?? false
    /// }
    /// let old = (items as NSArray).filtered(using: isOld)     // in memory; a fetch throws
    /// ```
    ///
    /// - Parameter block: Called with the object and the substitution variables of each evaluation.
    public init(block: @escaping (Any?, [String: Any]?) -> Bool) {
        body = .block(block)
    }

    /// A placeholder without a condition. It is equal to itself only, and must not be evaluated.
    public override init() {
        body = .subclass
    }

    /// Creates a predicate of a subclass of this module, which defines the meaning.
    init(body: Body) {
        self.body = body
    }

    // MARK: Text

    /// The predicate as text in a canonical form.
    ///
    /// Parsing the text gives an equal predicate, with these exceptions: a constant without a
    /// literal (a `UUID`, a `Float`, `NSNull`, an object of a class of yours), a block, a custom
    /// selector, a compound with one part, whose text it has, and a compound without parts.
    ///
    /// ```swift
    /// // "price < 10 AND stock > 0"
    /// let text = NSPredicate(format: "price < %@ && stock > 0", 10).predicateFormat
    /// ```
    open var predicateFormat: String {
        switch body {
        case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .block, .subclass: return "BLOCKPREDICATE(\(UInt(bitPattern: ObjectIdentifier(self).hashValue)))"
        }
    }

    /// The text that parses to an equal predicate, where there is one.
    package final var parsableFormat: String { LiteralPrinter.$isForParser.withValue(true) { predicateFormat } }

    open override var description: String { predicateFormat }

    /// The number of levels of nested predicates and expressions, this one included.
    package var height: Int { 1 }

    /// Whether the predicate has more levels than can be used. Such a predicate keeps no parts.
    package var isTooDeep: Bool { height > PredicateDepth.limit }

    // MARK: Evaluation

    /// Whether the object meets the condition.
    ///
    /// Cost: O(size of the predicate), and of the collections that it looks through.
    ///
    /// ```swift
    /// let cheap = items.filter { isCheap.evaluate(with: $0) }
    /// ```
    ///
    /// - Parameter object: The object that `SELF` and the key paths refer to.
    open func evaluate(with object: Any?) -> Bool {
        evaluate(with: object, substitutionVariables: nil)
    }

    /// Whether the object meets the condition, with values for the predicate's `$VARIABLES`.
    ///
    /// A variable without a value is a programmer's mistake and ends the program, as does a
    /// predicate of more than 512 levels. A regular expression that takes too long counts as no
    /// match. ``result(for:substitutionVariables:)`` throws errors instead.
    ///
    /// ```swift
    /// let template = NSPredicate(format: "stockCount < $limit")
    /// let isFew = template.evaluate(with: item, substitutionVariables: ["limit": 5])
    /// ```
    open func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        let scope = EvaluationScope(object: object, variables: bindings ?? [:], context: nil)
        if isTooDeep { scope.fail(.tooDeep) }
        return self is NSComparisonPredicate || self is NSCompoundPredicate
            ? evaluate(in: scope) : evaluateBody(in: scope)
    }

    /// Whether the object meets the condition, with values for the predicate's `$VARIABLES`.
    ///
    /// ```swift
    /// do {
    ///     isMatch = try predicate.result(for: item)           // a predicate that a user wrote
    /// } catch {
    ///     print(error.description)
    /// }
    /// ```
    ///
    /// - Throws: ``PredicateEvaluationError`` for a variable without a value, a regular expression
    ///   that takes too long, and nesting deeper than 512 levels.
    public func result(for object: Any?, substitutionVariables bindings: [String: Any]? = nil)
        throws(PredicateEvaluationError) -> Bool
    {
        try evaluate(with: object, substitutionVariables: bindings ?? [:], run: PredicateRun())
    }

    /// - Throws: ``PredicateEvaluationError``, as ``result(for:substitutionVariables:)`` does.
    package func evaluate(
        with object: Any?, substitutionVariables variables: [String: Any] = [:], run: PredicateRun
    ) throws(PredicateEvaluationError) -> Bool {
        if isTooDeep { throw .tooDeep }
        guard isOfThisModule else { return evaluateAsSubclass(with: object, variables) }
        let result = evaluate(in: EvaluationScope(object: object, variables: variables, context: nil, run: run))
        if let failure = run.failure { throw failure }
        return result
    }

    private var isOfThisModule: Bool {
        let type = type(of: self)
        return type == NSComparisonPredicate.self || type == NSCompoundPredicate.self || type == NSPredicate.self
    }

    /// Evaluates the predicate as a part of a compound, a subquery or a conditional.
    func evaluate(in scope: EvaluationScope) -> Bool {
        if isOfThisModule { return evaluateBody(in: scope) }
        return evaluateAsSubclass(with: scope.object, scope.variables)
    }

    /// Evaluates a subclass of another module by its public methods, either of which it may
    /// override.
    private func evaluateAsSubclass(with object: Any?, _ variables: [String: Any]) -> Bool {
        variables.isEmpty ? evaluate(with: object) : evaluate(with: object, substitutionVariables: variables)
    }

    private func evaluateBody(in scope: EvaluationScope) -> Bool {
        switch body {
        case .constant(let value): return value
        case .block(let block): return block(scope.object, scope.variables.isEmpty ? nil : scope.variables)
        case .subclass: preconditionFailure("\(type(of: self)) does not say how it is evaluated.")
        }
    }

    /// Does nothing. Apple's method marks a decoded predicate as trusted.
    ///
    /// Predicates of this module never call arbitrary code.
    open func allowEvaluation() {}

    // MARK: Variables

    /// Returns the predicate with the given `$VARIABLES` replaced by constants.
    ///
    /// Other variables stay variables. A block receives the given values together with those of
    /// each evaluation.
    ///
    /// ```swift
    /// request.predicate = template.withSubstitutionVariables(["limit": 5])
    /// ```
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        substituting(variables) as! Self
    }

    func substituting(_ variables: [String: Any]) -> NSPredicate {
        guard case .block(let block) = body, !variables.isEmpty else { return self }
        return NSPredicate { object, bindings in block(object, variables.merging(bindings ?? [:]) { _, new in new }) }
    }

    // MARK: Equality, copying

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || hasSameStructure(as: other)
    }

    func hasSameStructure(as other: NSPredicate) -> Bool {
        guard case .constant(let mine) = body, case .constant(let theirs) = other.body else { return false }
        return mine == theirs
    }

    open override var hash: Int {
        guard case .constant(let value) = body else { return ObjectIdentifier(self).hashValue }
        return value ? 1 : 0
    }

    /// The predicate itself: it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: Coding

    public class var supportsSecureCoding: Bool { true }

    /// Reads a predicate that was archived as its text.
    ///
    /// It is `nil`, and the coder fails, when the text cannot be parsed.
    public required init?(coder: NSCoder) {
        guard let decoded = NSPredicate.decode(from: coder) else { return nil }
        body = decoded.body
    }

    /// Archives the predicate as its text.
    ///
    /// A predicate without parseable text (a block, a custom selector, a constant of a class
    /// without a literal) fails the coder with `CocoaError.coderInvalidValue`.
    open func encode(with coder: NSCoder) {
        let text = parsableFormat
        guard let copy = try? NSPredicate.parse(text), copy == self else {
            coder.failWithError(CocoaError(.coderInvalidValue))
            return
        }
        coder.encode(text as NSString, forKey: NSPredicate.codingKey)
    }

    static let codingKey = "predicateFormat"

    static func decode(from coder: NSCoder) -> NSPredicate? {
        guard let text = coder.decodeObject(of: NSString.self, forKey: codingKey) else { return nil }
        do {
            return try NSPredicate.parse(String(describing: text))
        } catch {
            coder.failWithError(CocoaError(.coderReadCorrupt, userInfo: [NSDebugDescriptionErrorKey: "\(error)"]))
            return nil
        }
    }
}
