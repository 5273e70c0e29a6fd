/// Lets an object of another module answer `FUNCTION(object, "selector:", ...)` and custom comparisons, which
/// Objective-C dispatches by selector.
///
/// ```swift
/// final class Shape: PredicateFunctionTarget {            // FUNCTION(shape, "overlaps:", other)
///     func performPredicateFunction(_ selector: Selector, arguments: [Any?]) -> Any? {
///         selector.name == "overlaps:" ? overlaps(arguments[0]) : nil
///     }
///     func overlaps(_ other: Any?) -> Bool { other is Shape }
/// }
/// ```
public protocol PredicateFunctionTarget {
    /// Runs the method that the selector names; `nil` for its result or when there is no such method.
    func performPredicateFunction(_ selector: Selector, arguments: [Any?]) -> Any?
}
