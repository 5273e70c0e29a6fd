import CoreData
import TestSupport

// Several rules at once: each with entities of its own in one model, or two on one entity.
extension InferenceRule {
    /// The rule turned round; nil where none says what comes of the way back.
    var reversed: InferenceRule? {
        backward.map { InferenceRule(name + ", backward", new, former, forward: $0, backward: forward) }
    }

    var isInferred: Bool {
        if case .notInferred = forward { return false }
        return true
    }

    var migrates: Bool {
        if case .gives = forward { return true }
        return false
    }

    /// One rule of several, whose entities get the number of their rule in front of their names.
    static func together(_ name: String, _ rules: [InferenceRule]) -> InferenceRule {
        let numbered = rules.enumerated().map { $1.numbered($0) }
        func version(_ part: @escaping @Sendable (InferenceRule) -> Version) -> Version {
            Version(parts: numbered.flatMap { part($0).parts }) { numbered.flatMap { part($0).entities() } }
        }
        return InferenceRule(
            name, version(\.former), version(\.new), forward: .joined(numbered.map(\.forward)), backward: nil)
    }

    private func numbered(_ number: Int) -> InferenceRule {
        let prefix = "R\(number)"
        func version(_ version: Version) -> Version {
            Version(parts: version.parts.map { $0.map { prefix + $0 } }) {
                let roots = version.entities()
                for root in roots { root.prefix(prefix) }
                return roots
            }
        }
        func outcome(_ outcome: Outcome) -> Outcome { outcome.mapped { prefix + $0 } }
        return InferenceRule(
            name, version(former), version(new), forward: outcome(forward), backward: backward.map(outcome))
    }

    /// The rule for an item with the attributes of two; nil where they have not the same objects.
    func merged(with other: InferenceRule) -> InferenceRule? {
        let (own, others) = (renamingProperties("p"), other.renamingProperties("q"))
        func keys(_ version: Version) -> [String] { version.lines.map(Self.key) }
        guard keys(own.former) == keys(others.former), keys(own.new) == keys(others.new) else { return nil }
        func version(_ part: @escaping @Sendable (InferenceRule) -> Version) -> Version {
            Version(Self.merge(part(own).lines, part(others).lines)) {
                let (item, second) = (part(own).entities()[0], part(others).entities()[0])
                let properties = second.properties.filter { $0.name != "name" }
                second.properties = []
                item.properties += properties
                return [item]
            }
        }
        func outcome(_ first: Outcome, _ second: Outcome) -> Outcome {
            if case .gives(let lines) = first, case .gives(let more) = second { return .gives(Self.merge(lines, more)) }
            return .joined([first, second])
        }
        let backward = own.backward.flatMap { first in others.backward.map { outcome(first, $0) } }
        return InferenceRule(
            "\(name); \(other.name)", version(\.former), version(\.new),
            forward: outcome(own.forward, others.forward), backward: backward)
    }

    private static func key(_ line: String) -> String { line.split(separator: " ").prefix(2).joined(separator: " ") }

    private static func merge(_ lines: [String], _ others: [String]) -> [String] {
        lines.map { line in
            let more = others.first { key($0) == key(line) }?.split(separator: " ").dropFirst(2) ?? []
            return ([line] + more.map(String.init)).joined(separator: " ")
        }
    }

    /// The rule with a letter in front of the names of the properties.
    private func renamingProperties(_ letter: String) -> InferenceRule {
        func line(_ line: String) -> String {
            let words = line.split(separator: " ").map(String.init)
            return (words.prefix(2) + words.dropFirst(2).map { letter + $0 }).joined(separator: " ")
        }
        func outcome(_ outcome: Outcome) -> Outcome {
            if case .gives(let lines) = outcome { return .gives(lines.map(line)) }
            return outcome.mapped { $0.replacingOccurrences(of: ".", with: "." + letter) }
        }
        func version(_ version: Version) -> Version {
            Version(version.lines.map(line)) {
                let item = version.entities()[0]
                for property in item.properties where property.name != "name" {
                    let former = property.renamingIdentifier
                    if former != property.name { property.renamingIdentifier = former.map { letter + $0 } }
                    property.name = letter + property.name
                }
                return [item]
            }
        }
        return InferenceRule(
            name, version(former), version(new), forward: outcome(forward), backward: backward.map(outcome))
    }
}

extension InferenceRule.Outcome {
    fileprivate func mapped(_ change: (String) -> String) -> Self {
        switch self {
        case .gives(let lines): .gives(lines.map(change))
        case .notInferred(let names): .notInferred(names.map(change))
        case .fails(let code, let names): .fails(code, names.map(change))
        }
    }

    /// What comes of all at once. What cannot be inferred is named before what objects lack.
    fileprivate static func joined(_ outcomes: [Self]) -> Self {
        var (lines, unknown, lacking): ([String], [String], [String]) = ([], [], [])
        var code = NSMigrationError
        for outcome in outcomes {
            switch outcome {
            case .gives(let more): lines += more
            case .notInferred(let names): unknown += names
            case .fails(let number, let names):
                code = number
                lacking += names
            }
        }
        if !unknown.isEmpty { return .notInferred(unknown) }
        return lacking.isEmpty ? .gives(lines) : .fails(code, lacking)
    }
}

extension NSEntityDescription {
    /// Puts a text in front of the names of the entity and its subentities.
    fileprivate func prefix(_ text: String) {
        let former = renamingIdentifier
        if former != name { renamingIdentifier = former.map { text + $0 } }
        name = name.map { text + $0 }
        for entity in subentities { entity.prefix(text) }
    }
}
