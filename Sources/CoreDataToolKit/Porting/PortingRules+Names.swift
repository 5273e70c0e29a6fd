/// Rules for names of classes and properties at run time, and for casts of requests.
extension PortingRules {
    /// Changes `NSStringFromClass(Outer.Inner.self)`: Foundation on Linux ends the program for all
    /// but top-level classes.
    mutating func portClassName(_ index: Int) {
        guard source.word(index + 1) == "(", let close = source.closing(index + 1),
            source.matches(".", "self", ")", at: close - 2),
            close > index + 4,
            ((index + 2)..<(close - 2)).allSatisfy({ source.tokens[$0].kind == .word || source.word($0) == "." })
        else { return }
        let name = source.word(close - 3)
        let type = source.text(ofTokens: (index + 2)..<close)
        if classes.hiddenNames.contains(name) {
            // Its full name differs in each run; models find it by the plain one.
            replace(index..<(close + 1), by: "String(describing: \(type))")
        } else if classes.nestedNames.contains(name) {
            replace(index..<(close + 1), by: "String(reflecting: \(type))")
        }
    }

    /// Changes `setValue(date, forKey: "Date")`, which finds `setDate:` on a Mac.
    mutating func portSetterName(_ index: Int) {
        guard source.word(index + 1) == "(", let close = source.closing(index + 1),
            let label = ((index + 2)..<close).last(where: { source.matches("forKey", ":", at: $0) }),
            label + 2 == close - 1,
            source.tokens[label + 2].kind == .literal, source.tokens[label + 2].interpolations.isEmpty
        else { return }
        let literal = source.text(source.tokens[label + 2].range)
        guard literal.count > 2, literal.hasPrefix("\""), !literal.hasPrefix("\"\"") else { return }
        let key = String(literal.dropFirst().dropLast())
        let name = key.prefix(1).lowercased() + key.dropFirst()
        guard name != key, !classes.properties.contains(key), classes.properties.contains(name) else { return }
        replace(bytes: source.tokens[label + 2].range, by: "\"\(name)\"")
    }

    /// Changes
    /// `NSBatchDeleteRequest(fetchRequest: request as! NSFetchRequest<NSFetchRequestResult>)`,
    /// which here accepts a request with any result.
    mutating func portBatchDeletion(_ index: Int) {
        guard let close = source.closing(index + 1), isCastInBatchDeletion(close - 4), close - 6 > index + 4 else {
            return
        }
        replace(bytes: source.tokens[close - 7].range.upperBound..<source.tokens[close - 1].range.upperBound, by: "")
    }

    /// Whether a token is the type of a cast that a batch deletion does not need here.
    func isCastInBatchDeletion(_ index: Int) -> Bool {
        guard source.matches("as", "!", "NSFetchRequest", "<", at: index - 2), source.matches(">", ")", at: index + 3),
            let open = source.opening(index + 4)
        else { return false }
        return source.matches("NSBatchDeleteRequest", "(", "fetchRequest", ":", at: open - 1)
    }

    /// Changes `person.addToCars([car])` if `cars` is a set of Foundation.
    mutating func portSetArgument(_ index: Int) {
        guard source.matches("(", "[", at: index + 1), source.word(index - 1) != "func",
            let close = source.closing(index + 2),
            source.word(close + 1) == ")",
            let verb = ["addTo", "removeFrom"].first(where: { source.word(index).hasPrefix($0) })
        else { return }
        let name = source.word(index).dropFirst(verb.count)
        guard let type = classes.setClasses[name.prefix(1).lowercased() + name.dropFirst()] else { return }
        insert("\(type)(array: ", at: source.tokens[index + 2].range.lowerBound)
        insert(")", at: source.tokens[close].range.upperBound)
    }

    /// Reports `Set<Car>(person.cars!)` of a set of Foundation.
    mutating func lookAtSet(_ index: Int) {
        guard source.matches("<", at: index + 1), source.word(index + 3) == ">" else { return }
        let rule = "A set of Foundation becomes one of Swift by a cast: set as? Set<\(source.word(index + 2))>."
        if source.matches(".", "init", ")", at: index + 4) { return leave(index, rule) }
        guard source.word(index + 4) == "(", let close = source.closing(index + 4) else { return }
        let last = ["!", "?"].contains(source.word(close - 1)) ? close - 2 : close - 1
        if classes.setProperties.contains(source.word(last)), source.word(last - 1) == "." { leave(index, rule) }
    }

    /// Checks Foundation's names that differ from those on a Mac.
    mutating func lookAtFoundationName(_ word: String, _ index: Int) {
        switch word {
        case "NSURL" where source.matches("(", ")", at: index + 1):
            leave(index, "NSURL() does not exist here: write NSURL(fileURLWithPath: …).")
        case "NSURL" where ["!", "?"].contains(source.word(index - 1)) && source.word(index - 2) == "as":
            leave(index, "What key-value coding gives is a URL, and no NSURL: cast to URL.")
        case "allBundles" where source.matches("Bundle", ".", at: index - 2):
            leave(index, "Bundle.allBundles is empty here: name the bundles, as in [Bundle.module].")
        case "keyPathsForValuesAffectingValue":
            leave(index, "There is no key-value observing: remove keyPathsForValuesAffectingValue(forKey:).")
        default: break
        }
    }
}
