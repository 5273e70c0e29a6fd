/// The limits on the nesting of predicates and expressions. Evaluating, printing, translating and
/// freeing them recurse to the depth of the nesting.
enum PredicateDepth {
    /// The tallest tree that can be used. A taller one keeps no parts, and every use of it is an
    /// error.
    static let limit = 512

    /// The height from which AND within AND, and OR within OR, are flattened into one list.
    /// Flattening lets a program join predicates one by one in a loop.
    static let flattening = 64

    static func above(_ height: Int) -> Int { min(height, limit + 1) + 1 }
}
