import Foundation

/// A constant collection of expressions, such as the bounds of BETWEEN in Apple's guide.
struct BoundExpressions {
    let expressions: [NSExpression]

    func values(in scope: EvaluationScope) -> [Any] {
        expressions.map { $0.value(in: scope) ?? NSNull() }
    }
}

struct EvaluationScope {
    let object: Any?
    /// Cast once per evaluation, not once per key path.
    let keyValueObject: (any KeyValueCoding)?
    private(set) var variables: [String: Any]
    let context: NSMutableDictionary?
    /// nil where a mistake has to stop the program.
    let run: PredicateRun?

    init(object: Any?, variables: [String: Any], context: NSMutableDictionary?, run: PredicateRun? = nil) {
        self.object = object
        self.run = run
        keyValueObject = object as? any KeyValueCoding
        self.variables = variables
        self.context = context
    }

    /// Returns the value of `$name`. A variable without a value is a failure and gives nil.
    func value(of name: String) -> Any? {
        if let value = variables[name] { return KeyValue.unwrapped(value) }
        if let value = context?.object(forKey: name as NSString) { return KeyValue.unwrapped(value) }
        fail(.unboundVariable(name))
        return nil
    }

    /// Reports a mistake that makes every result meaningless. Stops the program if there is no
    /// `run`.
    func fail(_ error: PredicateEvaluationError) {
        guard let run else { preconditionFailure("\(error)") }
        run.fail(error)
    }

    func binding(_ name: String, to value: Any) -> EvaluationScope {
        var scope = self
        scope.variables[name] = value
        return scope
    }
}
