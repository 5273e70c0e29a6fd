import Foundation

/// A comparison of two expressions: `price < 10`, `ANY tags.name ==[c] "new"`.
///
/// ```swift
/// let predicate = NSComparisonPredicate(
///     leftExpression: NSExpression(forKeyPath: "name"),
///     rightExpression: NSExpression(forConstantValue: "bolt"),
///     modifier: .direct, type: .beginsWith, options: .caseInsensitive)
/// ```
//
// Unchecked Sendable: see NSPredicate; every stored property is a `let`.
open class NSComparisonPredicate: NSPredicate, @unchecked Sendable {
    /// The left side.
    public let leftExpression: NSExpression
    /// The right side.
    public let rightExpression: NSExpression
    /// Whether the left side is one value, or a collection whose elements are compared.
    public let comparisonPredicateModifier: Modifier
    /// The comparison.
    public let predicateOperatorType: Operator
    /// How strings are compared.
    public let options: Options
    /// The selector of the method that makes a custom comparison.
    public let customSelector: Selector?

    private let comparison: ValueComparison
    private let constantRight: ComparableValue?
    private let levels: Int

    /// Compares two expressions.
    ///
    /// ```swift
    /// let isCheap = NSComparisonPredicate(
    ///     leftExpression: NSExpression(forKeyPath: "price"),
    ///     rightExpression: NSExpression(forConstantValue: 10), modifier: .direct,
    ///     type: .lessThan)
    /// ```
    ///
    /// - Parameters: - leftExpression: The expression that is compared. - rightExpression: The
    ///   expression that it is compared with. - modifier: Whether a left value that is a collection
    ///   is compared as a whole, or by all or any of its elements. - type: The comparison. -
    ///   options: The options of string comparisons; other values ignore them.
    public init(
        leftExpression: NSExpression, rightExpression: NSExpression, modifier: Modifier, type: Operator,
        options: Options = []
    ) {
        let below = max(leftExpression.height, rightExpression.height)
        let (leftExpression, rightExpression) = Self.kept(leftExpression, rightExpression, below)
        self.leftExpression = leftExpression
        self.rightExpression = rightExpression
        comparisonPredicateModifier = modifier
        predicateOperatorType = type
        self.options = options
        customSelector = nil
        comparison = ValueComparison(
            operation: type, options: StringComparison.Options(options),
            constantRight: rightExpression.body.constant ?? nil)
        constantRight = rightExpression.constantComparableValue
        levels = PredicateDepth.above(below)
        super.init(body: .subclass)
    }

    /// Compares two expressions by a method of the left value that takes the right value.
    ///
    /// Methods are not dispatched by selector: the left value's class decides through
    /// ``PredicateFunctionTarget``. A SQL store rejects such a predicate.
    public init(leftExpression: NSExpression, rightExpression: NSExpression, customSelector selector: Selector) {
        let below = max(leftExpression.height, rightExpression.height)
        let (leftExpression, rightExpression) = Self.kept(leftExpression, rightExpression, below)
        self.leftExpression = leftExpression
        self.rightExpression = rightExpression
        comparisonPredicateModifier = .direct
        predicateOperatorType = .customSelector
        options = []
        customSelector = selector
        comparison = ValueComparison(operation: .customSelector, options: [], selector: selector)
        constantRight = rightExpression.constantComparableValue
        levels = PredicateDepth.above(below)
        super.init(body: .subclass)
    }

    public required init?(coder: NSCoder) {
        guard let decoded = NSPredicate.decode(from: coder) as? NSComparisonPredicate else { return nil }
        leftExpression = decoded.leftExpression
        rightExpression = decoded.rightExpression
        comparisonPredicateModifier = decoded.comparisonPredicateModifier
        predicateOperatorType = decoded.predicateOperatorType
        options = decoded.options
        customSelector = decoded.customSelector
        comparison = decoded.comparison
        constantRight = decoded.constantRight
        levels = decoded.levels
        super.init(body: .subclass)
    }

    /// Returns nil constants for sides that are too tall, because freeing them recurses too.
    private static func kept(_ left: NSExpression, _ right: NSExpression, _ height: Int) -> (NSExpression, NSExpression)
    {
        if height <= PredicateDepth.limit { return (left, right) }
        return (NSExpression(forConstantValue: nil), NSExpression(forConstantValue: nil))
    }

    package override var height: Int { levels }

    open override var predicateFormat: String {
        if isTooDeep { return PredicateEvaluationError.tooDeep.description }
        var text = ""
        switch comparisonPredicateModifier {
        case .direct: break
        case .all: text = "ALL "
        case .any: text = "ANY "
        }
        let symbol = customSelector?.name ?? predicateOperatorType.symbol
        text += "\(leftExpression.text) \(symbol)\(options.suffix) \(rightExpression.text)"
        return text
    }

    override func evaluate(in scope: EvaluationScope) -> Bool {
        let right = constantRight ?? rightExpression.comparableValue(in: scope)
        switch comparisonPredicateModifier {
        case .direct:
            let left = leftExpression.comparableValue(in: scope)
            if case .collection(let collection) = left,
                let elements = comparedElements(of: collection, with: right, in: scope)
            {
                return elements.contains { holds(ComparableValue($0), right, in: scope) }
            }
            return holds(left, right, in: scope)
        case .any:
            return elements(in: scope).contains { holds(ComparableValue($0), right, in: scope) }
        case .all:
            return elements(in: scope).allSatisfy { holds(ComparableValue($0), right, in: scope) }
        }
    }

    /// Compares one value with the right value, or with any element of a key path to a collection.
    private func holds(_ left: ComparableValue, _ right: ComparableValue, in scope: EvaluationScope) -> Bool {
        guard case .collection(let collection) = right, !left.isCollection, case .keyPath = rightExpression.body else {
            return comparison.holds(left, right, in: scope)
        }
        switch predicateOperatorType {
        case .in, .between, .customSelector: return comparison.holds(left, right, in: scope)
        default:
            return CollectionElements.flattened(collection).contains {
                comparison.holds(left, ComparableValue($0), in: scope)
            }
        }
    }

    /// Returns the elements to compare for a key path to a collection, as a store does. `tags.name
    /// == "x"` is true if it is true for any tag. nil where the collection is compared as a whole.
    private func comparedElements(of collection: Any, with right: ComparableValue, in scope: EvaluationScope) -> [Any]?
    {
        guard case .keyPath(let operand, let path) = leftExpression.body else { return nil }
        switch predicateOperatorType {
        case .contains:
            // `tags` is searched for a tag; `tags.name` stands for the name of each tag.
            guard path.steps.count > 1, case .key(let last)? = path.steps.last,
                let owners = KeyValue.value(
                    at: path.steps.dropLast(), of: operand.map { $0.value(in: scope) } ?? scope.object),
                CollectionElements.isCollection(owners), !CollectionElements.isDictionary(owners)
            else { return nil }
            let values = CollectionElements.flattened(owners).compactMap {
                KeyValue.comparedValue(forKey: last, of: $0)
            }
            // A path that ends in objects refers to the elements themselves.
            return values.contains { $0 is any KeyValueCoding } ? nil : values
        // A composite value is looked up in the list as a whole.
        case .in where CollectionElements.isDictionary(collection): return nil
        case .in, .between: break
        default: if right.isCollection { return nil }
        }
        return CollectionElements.flattened(collection)
    }

    /// Returns the elements that `ANY` and `ALL` range over, those of nested collections included.
    private func elements(in scope: EvaluationScope) -> [Any] {
        guard let value = KeyValue.unwrapped(leftExpression.comparedValue(in: scope)) else { return [] }
        return CollectionElements.flattened(value)
    }

    override func substituting(_ variables: [String: Any]) -> NSPredicate {
        let left = leftExpression.substituting(variables)
        let right = rightExpression.substituting(variables)
        if let customSelector {
            return NSComparisonPredicate(leftExpression: left, rightExpression: right, customSelector: customSelector)
        }
        return NSComparisonPredicate(
            leftExpression: left, rightExpression: right, modifier: comparisonPredicateModifier,
            type: predicateOperatorType, options: options)
    }

    override func hasSameStructure(as other: NSPredicate) -> Bool {
        guard let other = other as? NSComparisonPredicate else { return false }
        return predicateOperatorType == other.predicateOperatorType
            && comparisonPredicateModifier == other.comparisonPredicateModifier && options == other.options
            && customSelector == other.customSelector && leftExpression == other.leftExpression
            && rightExpression == other.rightExpression
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(predicateOperatorType)
        hasher.combine(leftExpression.hash)
        hasher.combine(rightExpression.hash)
        return hasher.finalize()
    }
}

extension NSExpression {
    package func compared(_ operation: NSComparisonPredicate.Operator, _ constant: Any?) -> NSComparisonPredicate {
        compared(operation, to: NSExpression(forConstantValue: constant))
    }

    func compared(
        _ operation: NSComparisonPredicate.Operator, to other: NSExpression, options: NSComparisonPredicate.Options = []
    ) -> NSComparisonPredicate {
        NSComparisonPredicate(
            leftExpression: self, rightExpression: other, modifier: .direct, type: operation, options: options)
    }
}
