/// Rules for XCTest's expectations, which take Foundation's predicates.
extension PortingRules {
    /// Whether a token begins the predicate of an expectation.
    func isExpectedPredicate(_ index: Int) -> Bool {
        if source.matches("XCTNSPredicateExpectation", "(", "predicate", ":", at: index - 4) { return true }
        return source.matches("expectation", "(", "for", ":", at: index - 4) && isPredicateExpectation(index - 4)
    }

    /// Whether a call of `expectation(for:…)` evaluates a predicate and is not for a notification.
    private func isPredicateExpectation(_ index: Int) -> Bool {
        guard let close = source.closing(index + 1) else { return false }
        return (index..<close).contains { source.matches(",", "evaluatedWith", ":", at: $0) }
    }

    /// Whether a token is an expectation's `NSPredicate(block: …)` or `NSPredicate(value: …)`,
    /// which Foundation has too.
    func isFoundationPredicate(_ index: Int) -> Bool {
        guard isExpectedPredicate(index), source.matches("NSPredicate", "(", at: index) else { return false }
        return source.matches("block", ":", at: index + 2) || source.matches("value", ":", at: index + 2)
    }

    mutating func portExpectation(_ index: Int) {
        let argument = index + 4
        guard isExpectedPredicate(argument), source.word(argument) != "Foundation" else { return }
        let start = source.tokens.indices.contains(argument) ? source.tokens[argument].range.lowerBound : 0
        if isFoundationPredicate(argument) { return insert("Foundation.", at: start) }
        // Only a literal text: other arguments might not be accessible within a block.
        guard source.matches("NSPredicate", "(", "format", ":", at: argument), let close = source.closing(argument + 1),
            close == argument + 5, source.tokens[argument + 4].kind == .literal,
            source.tokens[argument + 4].interpolations.isEmpty
        else {
            return leave(
                argument,
                "XCTest takes a predicate of Foundation: Foundation.NSPredicate(block: { object, _ in "
                    + "predicate.evaluate(with: object) })."
            )
        }
        insert("Foundation.NSPredicate(block: { object, _ in ", at: start)
        insert(".evaluate(with: object) })", at: source.tokens[close].range.upperBound)
    }
}
