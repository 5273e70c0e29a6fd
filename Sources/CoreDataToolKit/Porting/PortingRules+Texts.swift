/// Texts: names in their interpolations, and those that stand for files.
extension PortingRules {
    /// A text with nothing but `\(#keyPath(…))` in an interpolation gets the name itself; other code in a text is not changed.
    mutating func portLiteral(_ index: Int) {
        let token = source.tokens[index]
        for part in token.interpolations {
            let words = part.tokens.map(\.text)
            if words.starts(with: ["#keyPath", "("]), words.last == ")", let names = propertyNames(Array(words.dropFirst(2).dropLast())) {
                replace(bytes: part.range, by: names.joined(separator: "."))
            } else if namesObjectiveC(part) {
                leave(index, "A text has #keyPath or #selector in it: write the name.")
            } else if namesClassForCoder(part) {
                leave(index, Self.noClassForCoder)
            }
        }
        if ["\"momd\"", "\"mom\""].contains(source.text(token.range)) {
            leave(
                index,
                "Models are copied as they are: ask for \"xcdatamodeld\" (\"xcdatamodel\") where no compiled one is.")
        }
    }

    private func namesObjectiveC(_ part: SwiftInterpolation) -> Bool {
        part.tokens.contains { token in
            token.text == "#keyPath" || token.text == "#selector" || token.interpolations.contains(where: namesObjectiveC)
        }
    }

    /// Whether a text asks a class for its `classForCoder()`: objects have it without parentheses.
    private func namesClassForCoder(_ part: SwiftInterpolation) -> Bool {
        zip(part.tokens, part.tokens.dropFirst()).contains { $0.text == "classForCoder" && $1.text == "(" }
            || part.tokens.contains { $0.interpolations.contains(where: namesClassForCoder) }
    }
}
