import Foundation

extension NSExpression {
    /// The kinds of expression, with Apple's raw values.
    ///
    /// ```swift
    /// if expression.expressionType == .keyPath { print(expression.keyPath) }
    /// ```
    public enum ExpressionType: UInt, Sendable {
        /// Always the same value.
        case constantValue = 0
        /// `SELF`.
        case evaluatedObject = 1
        /// `$NAME`.
        case variable = 2
        /// A key path, of the evaluated object or of ``NSExpression/operand``.
        case keyPath = 3
        /// A function of arguments, of ``NSExpression/operand`` when it is a method.
        case function = 4
        /// `UNION`.
        case unionSet = 5
        /// `INTERSECT`.
        case intersectSet = 6
        /// `MINUS`.
        case minusSet = 7
        /// `SUBQUERY(collection, $variable, predicate)`.
        case subquery = 13
        /// `{a, b, c}`.
        case aggregate = 14
        /// `ANYKEY`.
        case anyKey = 15
        /// A closure.
        case block = 19
        /// `TERNARY(predicate, a, b)`.
        case conditional = 20
        /// The result of a fetch request, an expression that Core Data adds.
        case fetchRequest = 50
    }

    /// The kind of the expression.
    public var expressionType: ExpressionType {
        switch body {
        case .constant: .constantValue
        case .evaluatedObject: .evaluatedObject
        case .variable: .variable
        case .keyPath: .keyPath
        case .function: .function
        case .set(.union, _, _): .unionSet
        case .set(.intersect, _, _): .intersectSet
        case .set(.minus, _, _): .minusSet
        case .subquery: .subquery
        case .aggregate: .aggregate
        case .anyKey: .anyKey
        case .block: .block
        case .conditional: .conditional
        case .operation: .fetchRequest
        }
    }

    /// The value of a constant; a number of any type as `NSNumber`.
    public var constantValue: Any! {
        guard case .constant(let value, _) = body else { missing("constant value") }
        return NumberBoxing.boxed(value)
    }

    /// The key path of a key path expression, without its ``operand``.
    public var keyPath: String {
        guard case .keyPath(_, let path) = body else { missing("key path") }
        return path.text
    }

    /// The key path of a key path expression that starts from the evaluated object; `nil` for every
    /// other expression.
    public var keyPathFromEvaluatedObject: String? {
        guard case .keyPath(nil, let path) = body else { return nil }
        return path.text
    }

    /// The name of a function: `sum:`, `add:to:`; of a method, its selector.
    public var function: String {
        guard case .function(let call) = body else { missing("function") }
        return call.name
    }

    /// The name of a variable, without `$`; of a subquery, the name of its iterator.
    public var variable: String {
        switch body {
        case .variable(let name), .subquery(_, variable: let name, _): return name
        default: missing("variable")
        }
    }

    /// The start of a key path, or the target of a method.
    ///
    /// It is `SELF` for a key path unless written otherwise (as in `$x.price`), and for built-in
    /// functions.
    public var operand: NSExpression {
        switch body {
        case .keyPath(let operand, _): return operand ?? .expressionForEvaluatedObject()
        case .function(let call): return call.target ?? .expressionForEvaluatedObject()
        default: missing("operand")
        }
    }

    /// The target of a method; `nil` for built-in functions and other expressions.
    package var methodTarget: NSExpression? {
        guard case .function(let call) = body else { return nil }
        return call.target
    }

    /// The arguments of a function or a block.
    public var arguments: [NSExpression]? {
        switch body {
        case .function(let call): return call.arguments
        case .block(_, let arguments), .operation(_, let arguments): return arguments
        default: missing("arguments")
        }
    }

    /// The elements of an aggregate as `[NSExpression]`; of a subquery, the expression for its
    /// collection.
    public var collection: Any {
        switch body {
        case .aggregate(let elements): return elements
        case .subquery(let collection, _, _): return collection
        default: missing("collection")
        }
    }

    /// The predicate of a subquery or a conditional.
    public var predicate: NSPredicate {
        switch body {
        case .subquery(_, _, let predicate), .conditional(let predicate, _, _): return predicate
        default: missing("predicate")
        }
    }

    /// The left side of a set expression.
    public var left: NSExpression {
        guard case .set(_, let left, _) = body else { missing("left side") }
        return left
    }

    /// The right side of a set expression.
    public var right: NSExpression {
        guard case .set(_, _, let right) = body else { missing("right side") }
        return right
    }

    /// The expression that a conditional takes when its predicate is true.
    public var `true`: NSExpression {
        guard case .conditional(_, let value, _) = body else { missing("true expression") }
        return value
    }

    /// The expression that a conditional takes when its predicate is false.
    public var `false`: NSExpression {
        guard case .conditional(_, _, let value) = body else { missing("false expression") }
        return value
    }

    /// The closure of a block expression.
    public var expressionBlock: (Any?, [Any], NSMutableDictionary?) -> Any {
        guard case .block(let block, _) = body else { missing("block") }
        return block
    }

    /// The elements of an aggregate, typed; ``collection`` gives them as `Any`.
    ///
    /// `nil` for every other kind of expression.
    public var aggregateElements: [NSExpression]? {
        guard case .aggregate(let elements) = body else { return nil }
        return elements
    }

    /// Returns the value at a key path that starts from this expression.
    package func appending(_ path: String) -> NSExpression {
        switch body {
        case .evaluatedObject: NSExpression(forKeyPath: path)
        case .keyPath(let operand, let start):
            NSExpression(body: .keyPath(operand: operand, ParsedKeyPath(start.text + "." + path)))
        default: NSExpression(body: .keyPath(operand: self, ParsedKeyPath(path)))
        }
    }

    private func missing(_ part: String) -> Never {
        preconditionFailure("The expression \(self) has no \(part).")
    }
}
