/// The functions and selectors that archived predicates may name.
enum PredicateArchiveNames {
    /// Built-in functions by selector.
    static let functions: Set<String> = [
        "average:", "sum:", "count:", "min:", "max:", "median:", "mode:", "stddev:", "add:to:", "from:subtract:",
        "multiply:by:", "divide:by:", "modulus:by:", "sqrt:", "log:", "ln:", "raise:toPower:", "exp:", "ceiling:",
        "abs:",
        "floor:", "trunc:", "random", "randomn:", "now", "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:",
        "leftshift:by:", "rightshift:by:", "onesComplement:", "uppercase:", "lowercase:", "canonical:", "noindex:",
        "length:", "castObject:toType:", "objectFrom:withIndex:", "first:", "last:",
    ]

    /// Comparisons of sort descriptors.
    static let sortSelectors: Set<String> = [
        "compare:", "caseInsensitiveCompare:", "localizedCompare:", "localizedCaseInsensitiveCompare:",
        "localizedStandardCompare:",
    ]
}
