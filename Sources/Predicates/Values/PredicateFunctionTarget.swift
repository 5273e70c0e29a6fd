/// An object of another module that runs the methods which predicates name by selector.
///
/// They are used in `FUNCTION(object, "selector:", ...)` and in custom comparisons, which
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
    /// Runs the method that the selector names.
    ///
    /// - Returns: The result, which may be `nil`. `nil` also when there is no such method.
    func performPredicateFunction(_ selector: Selector, arguments: [Any?]) -> Any?
}
