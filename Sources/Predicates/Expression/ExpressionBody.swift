import Foundation

enum ExpressionBody {
    case constant(Any?, ComparableValue)
    case evaluatedObject
    case variable(String)
    /// The operand is `nil` for the evaluated object.
    case keyPath(operand: NSExpression?, ParsedKeyPath)
    case function(FunctionCall)
    case set(SetOperation, NSExpression, NSExpression)
    case subquery(NSExpression, variable: String, NSPredicate)
    case aggregate([NSExpression])
    case anyKey
    case block((Any?, [Any], NSMutableDictionary?) -> Any, [NSExpression])
    case conditional(NSPredicate, NSExpression, NSExpression)
    /// An operation that another module adds, which does not depend on the evaluated object.
    case operation(([Any]) -> Any?, [NSExpression])

    enum SetOperation: String {
        case union = "UNION"
        case intersect = "INTERSECT"
        case minus = "MINUS"
    }

    var height: Int {
        switch self {
        case .constant, .evaluatedObject, .variable, .anyKey: 0
        case .keyPath(let operand, _): operand?.height ?? 0
        case .function(let call):
            max(call.target?.height ?? 0, call.arguments.map(\.height).max() ?? 0)
        case .set(_, let left, let right): max(left.height, right.height)
        case .subquery(let collection, _, let predicate): max(collection.height, predicate.height)
        case .aggregate(let elements), .block(_, let elements), .operation(_, let elements):
            elements.map(\.height).max() ?? 0
        case .conditional(let predicate, let first, let second): max(predicate.height, first.height, second.height)
        }
    }

    /// The value, when the expression is a constant or an aggregate of nothing but constants.
    var constant: Any?? {
        switch self {
        case .constant(_, .null): return .some(nil)
        case .constant(let value, _): return .some(value)
        case .aggregate(let elements):
            var values: [Any] = []
            for element in elements {
                guard let value = element.body.constant else { return .none }
                values.append(value ?? NSNull())
            }
            return .some(values)
        default: return .none
        }
    }

    func isEqual(to other: ExpressionBody) -> Bool {
        switch (self, other) {
        case (
            .constant(_, .object(let mine as BoundExpressions)), .constant(_, .object(let theirs as BoundExpressions))
        ):
            return mine.expressions == theirs.expressions
        case (.constant(_, .object(let bound as BoundExpressions)), .aggregate(let elements)),
            (.aggregate(let elements), .constant(_, .object(let bound as BoundExpressions))):
            return bound.expressions == elements
        case (.constant, .constant), (.constant, .aggregate), (.aggregate, .constant):
            guard let mine = constant, let theirs = other.constant else { return false }
            return ConstantEquality.equal(mine, theirs)
        case (.evaluatedObject, .evaluatedObject), (.anyKey, .anyKey):
            return true
        case (.variable(let mine), .variable(let theirs)):
            return mine == theirs
        case (.keyPath(let operand, let path), .keyPath(let otherOperand, let otherPath)):
            return path == otherPath && operand == otherOperand
        case (.function(let mine), .function(let theirs)):
            return mine.name == theirs.name && mine.target == theirs.target && mine.arguments == theirs.arguments
        case (.set(let operation, let left, let right), .set(let otherOperation, let otherLeft, let otherRight)):
            return operation == otherOperation && left == otherLeft && right == otherRight
        case (.subquery(let items, let name, let predicate), .subquery(let others, let otherName, let otherPredicate)):
            return name == otherName && items == others && predicate == otherPredicate
        case (.aggregate(let mine), .aggregate(let theirs)):
            return mine == theirs
        case (.conditional(let test, let yes, let no), .conditional(let otherTest, let otherYes, let otherNo)):
            return test == otherTest && yes == otherYes && no == otherNo
        default:
            return false
        }
    }

    /// Ignores constants: equal numbers and collections of different types would need equal hashes.
    var hash: Int {
        switch self {
        case .constant, .aggregate, .block, .operation: 1
        case .evaluatedObject: 2
        case .anyKey: 3
        case .variable(let name): name.hashValue
        case .keyPath(_, let path): path.hashValue
        case .function(let call): call.name.hashValue
        case .set(let operation, _, _): operation.hashValue
        case .subquery(_, let variable, let predicate): variable.hashValue &+ predicate.hash
        case .conditional(let predicate, _, _): predicate.hash &+ 5
        }
    }
}

struct FunctionCall {
    let name: String
    /// `nil` when the name is a selector of the target.
    let builtIn: BuiltInFunction?
    let target: NSExpression?
    let arguments: [NSExpression]

    /// The operator, where the function is written with one.
    var infix: InfixSign? { arguments.count == 2 ? builtIn?.infix : nil }
    /// Whether the function is written `~x`.
    var isComplement: Bool { builtIn == .onesComplement && arguments.count == 1 }

    init(_ function: BuiltInFunction, _ arguments: [NSExpression]) {
        name = function.rawValue
        builtIn = function
        target = nil
        self.arguments = arguments
    }

    init(target: NSExpression, selectorName: String, arguments: [NSExpression]) {
        name = selectorName
        builtIn = nil
        self.target = target
        self.arguments = arguments
    }
}
