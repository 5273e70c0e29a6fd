/// How deep predicates and expressions may nest. Evaluating, printing, translating and freeing them recurse as deep.
package enum PredicateDepth {
    /// The tallest tree that can be used. A taller one can be made, as initializers do not throw: it forgets its parts, and
    /// whatever is asked of it is an error.
    package static let limit = 512

    /// From this height on, AND in AND and OR in OR become one list, so that predicates may be joined one by one in a loop.
    static let flattening = 64

    /// The height of a tree whose parts have some heights.
    static func above(_ height: Int) -> Int { min(height, limit + 1) + 1 }
}
