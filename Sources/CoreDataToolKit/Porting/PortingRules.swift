/// Applies the rules of Documentation/Porting.md to one source: makes the mechanical changes and
/// reports the rest.
///
/// Each rule is a method in an extension. Rules examine tokens only, so that texts and comments
/// stay as they are.
struct PortingRules {
    let source: SwiftSource
    let classes: ManagedClasses
    private(set) var edits: [PortingEdit] = []
    private(set) var remainders: [PortingRemainder] = []
    private var next = 0

    init(source: SwiftSource, classes: ManagedClasses) {
        self.source = source
        self.classes = classes
    }

    mutating func run() {
        portImports()
        for (index, token) in source.tokens.enumerated() where index >= next && !source.isInactive[index] {
            switch (token.kind, token.text) {
            case (.symbol, "@"): portAttribute(index)
            case (.directive, "#keyPath"): portKeyPath(index)
            case (.directive, "#selector"): portSelector(index)
            case (.literal, _): portLiteral(index)
            case (.word, let word): portWord(word, index)
            default: break
            }
        }
    }

    private mutating func portWord(_ word: String, _ index: Int) {
        switch word {
        case "NSStringFromSelector": portSelectorName(index)
        case "dynamic": portDynamic(index)
        case "override": portOverride(index)
        case "init":
            portContextInitializer(index)
            lookAtInitializerCall(index)
        case "class": lookAtClass(index)
        case "classForCoder": portClassForCoder(index)
        case "mergeType": portMergeType(index)
        case "XCTNSPredicateExpectation", "expectation": portExpectation(index)
        case _ where classes.setProperties.contains(word): portSetLiteral(index)
        case _ where classes.names.contains(word): lookAtManagedClass(word, index)
        case "NSStringFromClass": portClassName(index)
        case "setValue": portSetterName(index)
        case "NSBatchDeleteRequest": portBatchDeletion(index)
        case "Set": lookAtSet(index)
        case "NSURL", "allBundles", "keyPathsForValuesAffectingValue": lookAtFoundationName(word, index)
        case "process": portModelResource(index)
        case _ where word.hasPrefix("addTo") || word.hasPrefix("removeFrom"): portSetArgument(index)
        case "getVaList": portArgumentList(index)
        case "_kvcKeyPathString": portKeyPathString(index)
        case "Foundation": portQualifiedName(index)
        case "description": portClassDescription(index)
        default: lookAtWord(word, index)
        }
    }

    // MARK: Results

    mutating func replace(_ range: Range<Int>, by text: String) {
        let bytes =
            source.tokens[range.lowerBound].range.lowerBound..<source.tokens[range.upperBound - 1].range.upperBound
        add(bytes, text, shown: source.text(bytes))
        skip(to: range.upperBound)
    }

    mutating func replace(bytes: Range<Int>, by text: String) {
        add(bytes, text, shown: source.text(bytes))
    }

    /// Removes tokens with the white space after them, or the whole line if nothing else is on it.
    mutating func remove(_ range: Range<Int>) {
        let start = source.tokens[range.lowerBound].range.lowerBound
        let end = source.tokens[range.upperBound - 1].range.upperBound
        var (lineStart, lineEnd) = (start, end)
        while lineStart > 0, Self.isBlank(source.bytes[lineStart - 1]) { lineStart -= 1 }
        while lineEnd < source.bytes.count, Self.isBlank(source.bytes[lineEnd]) { lineEnd += 1 }
        let newline = UInt8(ascii: "\n")
        let isWholeLine =
            (lineStart == 0 || source.bytes[lineStart - 1] == newline)
            && (lineEnd == source.bytes.count || source.bytes[lineEnd] == newline
                || source.bytes[lineEnd] == UInt8(ascii: "\r"))
        let shown = source.text(start..<end)
        if isWholeLine {
            if lineEnd < source.bytes.count, source.bytes[lineEnd] == UInt8(ascii: "\r") { lineEnd += 1 }
            if lineEnd < source.bytes.count, source.bytes[lineEnd] == newline { lineEnd += 1 }
            add(lineStart..<lineEnd, "", shown: shown, at: start)
        } else {
            add(start..<lineEnd, "", shown: shown)
        }
        skip(to: range.upperBound)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Removes only one token, without the white space around it.
    mutating func removeAlone(_ index: Int) {
        let bytes = source.tokens[index].range
        add(bytes, "", shown: source.text(bytes))
    }

    mutating func insert(_ text: String, at place: Int) {
        add(place..<place, text, shown: "")
    }

    private mutating func add(_ range: Range<Int>, _ text: String, shown: String, at place: Int? = nil) {
        func flat(_ text: String) -> String { text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
        let (old, new) = (flat(shown), flat(text))
        let summary = old.isEmpty ? "added '\(new)'" : (new.isEmpty ? "removed '\(old)'" : "'\(old)' -> '\(new)'")
        edits.append(
            PortingEdit(
                range: range, replacement: text, line: source.line(of: place ?? range.lowerBound), summary: summary))
    }

    mutating func leave(_ index: Int, _ rule: String) {
        remainders.append(PortingRemainder(line: source.line(ofToken: index), rule: rule))
    }

    mutating func skip(to index: Int) { next = max(next, index) }

    // MARK: Places

    func startsLine(_ index: Int) -> Bool {
        index <= 0 || index >= source.tokens.count || source.line(ofToken: index - 1) < source.line(ofToken: index)
    }

    func isInManagedClass(_ index: Int) -> Bool { classes.contain(source.scope(around: index)) }
}
