import Foundation

extension PortingRules {
    // MARK: Names of properties

    /// Returns the names of a key path without the types before it; nil if there are none.
    private func propertyNames(_ range: Range<Int>) -> [String]? { propertyNames(range.map { source.word($0) }) }

    func propertyNames(_ words: [String]) -> [String]? {
        guard !words.isEmpty,
            words.enumerated().allSatisfy({ $0.offset % 2 == 0 ? $0.element != "." : $0.element == "." })
        else {
            return nil
        }
        let names = words.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        let properties = Array(names.drop { $0.first?.isUppercase == true })
        guard !properties.isEmpty, !properties.contains("self"),
            properties.allSatisfy({ $0.first.map { $0.isLetter || $0 == "_" } ?? false })
        else { return nil }
        return properties
    }

    mutating func portKeyPath(_ index: Int) {
        guard source.word(index + 1) == "(", let close = source.closing(index + 1) else { return }
        guard let names = propertyNames((index + 2)..<close) else {
            leave(index, "#keyPath does not exist here: write the key path as a text.")
            return skip(to: close + 1)
        }
        replace(index..<(close + 1), by: "\"\(names.joined(separator: "."))\"")
    }

    /// Changes `NSStringFromSelector(#selector(getter: X.y))`.
    mutating func portSelectorName(_ index: Int) {
        guard source.matches("(", "#selector", "(", at: index + 1), let inner = source.closing(index + 3),
            source.word(inner + 1) == ")", source.matches("getter", ":", at: index + 4),
            let names = propertyNames((index + 6)..<inner), let last = names.last
        else {
            return leave(index, "There are no selectors here: write the name as a text.")
        }
        replace(index..<(inner + 2), by: "\"\(last)\"")
    }

    private static let comparisons: Set<String> = [
        "compare", "caseInsensitiveCompare", "localizedCompare", "localizedCaseInsensitiveCompare",
        "localizedStandardCompare",
    ]

    mutating func portSelector(_ index: Int) {
        guard source.word(index + 1) == "(", let close = source.closing(index + 1) else { return }
        let words = ((index + 2)..<close).map { source.word($0) }
        // Changes `#selector(getter: Person.name).description`.
        if words.starts(with: ["getter", ":"]), source.matches(".", "description", at: close + 1),
            source.word(close + 3) != "(",
            let name = propertyNames(Array(words.dropFirst(2)))?.last
        {
            return replace(index..<(close + 3), by: "\"\(name)\"")
        }
        let names = words.split(separator: ".").map { $0.joined() }
        let name = names.last?.replacingOccurrences(of: "(_:)", with: "") ?? ""
        if names.count == 2, Self.comparisons.contains(name) {
            replace(index..<(close + 1), by: "Selector(\"\(name):\")")
            return
        }
        leave(
            index,
            "There are no selectors here: hand over a closure (for notifications "
                + "addObserver(forName:object:queue:using:))."
        )
        skip(to: close + 1)
    }

    mutating func portKeyPathString(_ index: Int) {
        // Changes `keyPath._kvcKeyPathString` of a plain name.
        guard source.word(index - 1) == ".", index >= 2, source.tokens[index - 2].kind == .word,
            source.word(index - 3) != "."
        else {
            return leave(index, "Write KeyPathNames.name(of:), which gives nil for an unknown key path.")
        }
        replace((index - 2)..<(index + 1), by: "KeyPathNames.name(of: \(source.word(index - 2)))")
    }

    // MARK: Calls

    /// Changes `NSPredicate(format: f, arguments: getVaList(args))`.
    mutating func portArgumentList(_ index: Int) {
        guard source.matches("arguments", ":", at: index - 2), source.word(index + 1) == "(",
            let close = source.closing(index + 1),
            close > index + 2
        else {
            return leave(index, "There are no C argument lists here: hand over the array (argumentArray:).")
        }
        replace((index - 2)..<(index + 2), by: "argumentArray: ")
        removeAlone(close)
    }

    /// Names that this package declares; Foundation on Linux declares another class with the name,
    /// or none.
    private static let ownNames: Set<String> = [
        "NSPredicate", "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "NSSortDescriptor",
        "ValueTransformer",
        "NSSecureUnarchiveFromDataTransformer", "NSValueTransformerName",
    ]

    /// Changes qualified names such as `Foundation.ValueTransformer`.
    mutating func portQualifiedName(_ index: Int) {
        guard source.word(index + 1) == ".", Self.ownNames.contains(source.word(index + 2)),
            source.word(index - 1) != ".",
            source.word(index - 1) != "import", !isExpectedPredicate(index),
            !SwiftSource.declarationWords.contains(source.word(index - 1))
        else { return }
        replace(index..<(index + 1), by: "CoreData")
    }

    /// Changes `Person.self.description()` and `type(of: self).description()`.
    mutating func portClassDescription(_ index: Int) {
        guard source.matches("(", ")", at: index + 1), source.word(index - 1) == "." else { return }
        if source.word(index - 2) == ")", let open = source.opening(index - 2),
            source.matches("type", "(", "of", ":", at: open - 1),
            source.word(open - 2) != "."
        {
            return replace(
                (open - 1)..<(index + 3), by: "NSStringFromClass(\(source.text(ofTokens: (open - 1)..<(index - 1))))")
        }
        guard source.word(index - 2) == "self", source.word(index - 3) == "." else { return }
        var start = index - 4
        while start >= 2, source.word(start - 1) == ".", source.tokens[start - 2].kind == .word { start -= 2 }
        guard start >= 0, source.tokens[start].kind == .word, source.word(start).first?.isUppercase == true else {
            return
        }
        replace(start..<(index + 3), by: "NSStringFromClass(\(source.text(ofTokens: start..<(index - 1))))")
    }
}
