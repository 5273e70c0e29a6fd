import Predicates
import Testing

/// The comparisons that a store's own functions use (behaviours 197, 198).
struct StringComparisonTests {
    @Test("without options case, diacritics and composition count (behaviour 198)")
    func withoutOptionsEverythingCounts() {
        #expect(StringComparison.equal("é", "é"))
        #expect(!StringComparison.equal("é", "e\u{301}"))
        #expect(!StringComparison.equal("a", "A"))
        #expect(StringComparison.equal("é", "E\u{301}", options: .caseInsensitive))
        #expect(StringComparison.equal("é", "e", options: .diacriticInsensitive))
        #expect(!StringComparison.equal("a", "A", options: [.caseInsensitive, .normalized]))
    }

    @Test func partsAreFound() {
        #expect(StringComparison.contains("haystack", "st"))
        #expect(!StringComparison.contains("haystack", "ST"))
        #expect(StringComparison.contains("haystack", "ST", options: .caseInsensitive))
        #expect(
            StringComparison.contains("Crème Brûlée", "brulee", options: [.caseInsensitive, .diacriticInsensitive]))
        #expect(!StringComparison.contains("a", "aa"))
        #expect(StringComparison.beginsWith("Élan", "el", options: [.caseInsensitive, .diacriticInsensitive]))
        #expect(StringComparison.endsWith("Café", "FE", options: [.caseInsensitive, .diacriticInsensitive]))
        #expect(StringComparison.endsWith("x", ""))
        #expect(StringComparison.contains("", ""))
    }

    @Test(arguments: [
        ("", "", true), ("", "*", true), ("a", "", false), ("abc", "a*c", true), ("abc", "a**c", true),
        ("abcbc", "a*bc", true), ("abc", "a?c", true), ("ac", "a?c", false), ("a*c", "a\\*c", true),
        ("abc", "a\\*c", false),
        ("🙂", "?", true), ("a.c", "a.c", true), ("abc", "a.c", false), ("a\nb", "a*b", true), ("a\\", "a\\", true),
    ])
    func wildcardsMatchTheWholeText(_ text: String, _ pattern: String, _ expected: Bool) {
        #expect(StringComparison.like(text, pattern) == expected)
    }

    @Test func aPatternOfManyStarsIsNotExponential() {
        let text = String(repeating: "a", count: 2000)
        #expect(!StringComparison.like(text, String(repeating: "a*", count: 50) + "b"))
    }

    @Test func aRegularExpressionMatchesTheWholeText() {
        #expect(StringComparison.matches("abc", "[a-c]+"))
        #expect(!StringComparison.matches("abcd", "[a-c]+"))
        #expect(!StringComparison.matches("abc\n", "[a-c]+"))
        #expect(StringComparison.matches("ab", "a|ab"))
        #expect(StringComparison.matches("ÄB", "äb", options: .caseInsensitive))
        #expect(!StringComparison.matches("a", "("))
        #expect(!StringComparison.isValidPattern("a)|(b"))
    }

    @Test func stringsOrderByCodePoint() {
        #expect(StringComparison.compare("a", "B", options: []) == .orderedDescending)
        #expect(StringComparison.compare("a", "B", options: .caseInsensitive) == .orderedAscending)
        #expect(StringComparison.compare("e", "É", options: [.caseInsensitive, .diacriticInsensitive]) == .orderedSame)
        #expect(StringComparison.compare("a2", "a10", selectorName: "localizedStandardCompare:") == .orderedAscending)
        #expect(StringComparison.compare("\u{FF5E}", "\u{1F600}", options: []) == .orderedAscending)
    }
}
