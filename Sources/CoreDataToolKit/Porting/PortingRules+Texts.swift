/// Rules for texts: names in their interpolations, and texts that are names of files.
extension PortingRules {
    /// Replaces `\(#keyPath(…))` in a text by the name itself if the interpolation has no other
    /// code; other code in texts is not changed.
    mutating func portLiteral(_ index: Int) {
        let token = source.tokens[index]
        for part in token.interpolations {
            let words = part.tokens.map(\.text)
            if words.starts(with: ["#keyPath", "("]), words.last == ")",
                let names = propertyNames(Array(words.dropFirst(2).dropLast()))
            {
                replace(bytes: part.range, by: names.joined(separator: "."))
            } else if namesObjectiveC(part) {
                leave(index, "A text has #keyPath or #selector in it: write the name.")
            } else if namesClassForCoder(part) {
                leave(index, Self.noClassForCoder)
            }
        }
        if ["\"VersionInfo\"", "\"VersionInfo.plist\""].contains(source.text(token.range)) {
            leave(
                index,
                "A model that is copied has no VersionInfo.plist: 'coredata model compile' makes the compiled folder "
                    + "with it."
            )
        }
        if ["\"momd\"", "\"mom\""].contains(source.text(token.range)) {
            leave(
                index,
                "Models are copied as they are: ask for \"xcdatamodeld\" (\"xcdatamodel\") where no compiled one is.")
        }
    }

    /// Changes `.process("Shop.xcdatamodeld")` in a package's manifest.
    mutating func portModelResource(_ index: Int) {
        guard source.word(index - 1) == ".", source.word(index + 1) == "(", source.tokens.indices.contains(index + 2),
            source.tokens[index + 2].kind == .literal
        else { return }
        let path = source.text(source.tokens[index + 2].range)
        if path.hasSuffix(".xcdatamodeld\"") || path.hasSuffix(".xcdatamodel\"") {
            replace(index..<(index + 1), by: "copy")
        }
    }

    private func namesObjectiveC(_ part: SwiftInterpolation) -> Bool {
        part.tokens.contains { token in
            token.text == "#keyPath" || token.text == "#selector"
                || token.interpolations.contains(where: namesObjectiveC)
        }
    }

    /// Whether a text calls a class's `classForCoder()`; objects have it without parentheses.
    private func namesClassForCoder(_ part: SwiftInterpolation) -> Bool {
        zip(part.tokens, part.tokens.dropFirst()).contains { $0.text == "classForCoder" && $1.text == "(" }
            || part.tokens.contains { $0.interpolations.contains(where: namesClassForCoder) }
    }
}
