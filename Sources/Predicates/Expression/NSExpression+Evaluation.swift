import Foundation

extension NSExpression {
    /// Returns the value of the expression for an object.
    ///
    /// ```swift
    /// let value = NSExpression(format: "price * $factor")
    ///     .expressionValue(with: item, context: ["factor": 1.2])
    /// ```
    ///
    /// - Parameters:
    ///   - object: The object that `SELF` and key paths refer to.
    ///   - context: Values for variables, by name; also passed to block expressions.
    /// - Returns: The value; a number is an `NSNumber`. `nil` also where there is no value, such as
    ///   for a division by zero or a sum of text and number.
    public func expressionValue(with object: Any?, context: NSMutableDictionary?) -> Any? {
        NumberBoxing.boxed(rootValue(in: EvaluationScope(object: object, variables: [:], context: context)))
    }

    /// Returns the value of the expression for an object, with values for its variables.
    ///
    /// - Throws: Where ``expressionValue(with:context:)`` stops the program: for a variable without
    ///   a value, and for nesting deeper than 512 levels.
    package func result(for object: Any?, variables: [String: Any]) throws(PredicateEvaluationError) -> Any? {
        let run = PredicateRun()
        let value = rootValue(in: EvaluationScope(object: object, variables: variables, context: nil, run: run))
        if let failure = run.failure { throw failure }
        return NumberBoxing.boxed(value)
    }

    /// - Parameter run: Receives the errors of the evaluation. After an error, the values mean
    ///   nothing.
    func expressionValue(with object: Any?, run: PredicateRun) -> Any? {
        NumberBoxing.boxed(rootValue(in: EvaluationScope(object: object, variables: [:], context: nil, run: run)))
    }

    private func rootValue(in scope: EvaluationScope) -> Any? {
        guard height <= PredicateDepth.limit else {
            scope.fail(.tooDeep)
            return nil
        }
        return value(in: scope)
    }

    /// Returns the value in comparable form. That of a constant was made with the expression.
    func comparableValue(in scope: EvaluationScope) -> ComparableValue {
        if case .constant(_, let value) = body {
            guard case .object(let bound as BoundExpressions) = value else { return value }
            return .collection(bound.values(in: scope))
        }
        return ComparableValue(comparedValue(in: scope))
    }

    /// A row with one column, the result of a fetch request, counts as the value of this column.
    func comparedValue(in scope: EvaluationScope) -> Any? {
        let value = value(in: scope)
        guard case .operation = body, let rows = value as? [NSDictionary] else { return value }
        return rows.map { $0.count == 1 ? $0.allValues[0] : $0 }
    }

    /// The value, if it is the same for every object: a constant, or an aggregate of constants.
    var constantComparableValue: ComparableValue? {
        if case .constant(_, let value) = body {
            if case .object(is BoundExpressions) = value { return nil }
            return value
        }
        return body.constant.map { ComparableValue($0) }
    }

    func value(in scope: EvaluationScope) -> Any? {
        switch body {
        case .constant(_, .object(let bound as BoundExpressions)):
            return bound.values(in: scope)
        case .constant(let value, let comparable):
            if case .null = comparable { return nil }
            return value
        case .evaluatedObject:
            return scope.object
        case .variable(let name):
            return scope.value(of: name)
        case .keyPath(let operand, let path):
            if let operand { return KeyValue.value(at: path.steps[...], of: operand.value(in: scope)) }
            if let object = scope.keyValueObject { return KeyValue.value(at: path.steps[...], of: object) }
            return KeyValue.value(at: path.steps[...], of: scope.object)
        case .function(let call):
            return FunctionEvaluation.value(of: call, in: scope)
        case .set(let operation, let left, let right):
            return NSExpression.combine(operation, left.value(in: scope), right.value(in: scope))
        case .subquery(let collection, let variable, let predicate):
            guard let items = KeyValue.unwrapped(collection.value(in: scope)) else { return [Any]() }
            return CollectionElements.flattened(items).filter {
                predicate.evaluate(in: scope.binding(variable, to: $0))
            }
        case .aggregate(let elements):
            return elements.map { $0.value(in: scope) ?? NSNull() }
        case .anyKey:
            scope.fail(.anyKey)
            return nil
        case .block(let block, let arguments):
            return block(scope.object, arguments.map { $0.value(in: scope) ?? NSNull() }, scope.context)
        case .operation(let operation, let arguments):
            return operation(arguments.map { $0.value(in: scope) ?? NSNull() })
        case .conditional(let predicate, let first, let second):
            return predicate.evaluate(in: scope) ? first.value(in: scope) : second.value(in: scope)
        }
    }

    private static func combine(_ operation: ExpressionBody.SetOperation, _ left: Any?, _ right: Any?) -> Any? {
        let left = KeyValue.unwrapped(left).flatMap { CollectionElements.of($0) } ?? []
        let right = KeyValue.unwrapped(right).flatMap { CollectionElements.of($0) } ?? []
        let rightValues = right.map { ComparableValue($0) }
        func isRight(_ value: Any) -> Bool {
            let value = ComparableValue(value)
            return rightValues.contains { $0.isEqual(to: value) }
        }
        switch operation {
        case .union: return Statistics.distinct(left + right)
        case .intersect: return Statistics.distinct(left.filter(isRight))
        case .minus: return Statistics.distinct(left.filter { !isRight($0) })
        }
    }

    // MARK: Variables

    /// The expression with the given variables replaced by constants.
    func substituting(_ variables: [String: Any]) -> NSExpression {
        switch body {
        case .constant, .evaluatedObject, .anyKey:
            return self
        case .variable(let name):
            return variables[name].map(NSExpression.wrapping) ?? self
        case .keyPath(let operand, let path):
            guard let operand else { return self }
            let start = operand.substituting(variables)
            // A path that starts at a constant becomes a constant: stores that translate predicates
            // cannot follow it.
            if start !== operand, start.expressionType == .constantValue {
                let path = NSExpression(body: .keyPath(operand: start, path))
                return NSExpression(forConstantValue: path.expressionValue(with: nil, context: nil))
            }
            return NSExpression(body: .keyPath(operand: start, path))
        case .function(let call):
            let arguments = call.arguments.map { $0.substituting(variables) }
            guard let target = call.target else {
                return call.builtIn.map { NSExpression(body: .function(FunctionCall($0, arguments))) } ?? self
            }
            return NSExpression(
                forFunction: target.substituting(variables), selectorName: call.name, arguments: arguments)
        case .set(let operation, let left, let right):
            return NSExpression(body: .set(operation, left.substituting(variables), right.substituting(variables)))
        case .subquery(let collection, let name, let predicate):
            // Within the subquery, the name refers to the element.
            let others = variables.filter { $0.key != name }
            return NSExpression(
                body: .subquery(collection.substituting(variables), variable: name, predicate.substituting(others)))
        case .aggregate(let elements):
            return NSExpression(body: .aggregate(elements.map { $0.substituting(variables) }))
        case .block(let block, let arguments):
            return NSExpression(body: .block(block, arguments.map { $0.substituting(variables) }))
        case .operation(let operation, let arguments):
            return NSExpression(body: .operation(operation, arguments.map { $0.substituting(variables) }))
        case .conditional(let predicate, let first, let second):
            return NSExpression(
                body: .conditional(
                    predicate.substituting(variables), first.substituting(variables), second.substituting(variables)))
        }
    }
}
