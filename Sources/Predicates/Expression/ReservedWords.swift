enum ReservedWords {
    /// The words that are never keys unless written with `#`.
    static let all: Set<String> = [
        "AND", "OR", "NOT", "IN", "ANY", "ALL", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH",
        "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "ANYKEY", "TRUEPREDICATE", "FALSEPREDICATE",
    ]
}
