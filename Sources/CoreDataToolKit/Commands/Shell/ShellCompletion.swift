import CoreData

/// Finds what can be typed next in a command line of the shell.
struct ShellCompletion {
    /// The entities of the store with their keys.
    private let entities: [(name: String, keys: [String])]
    private let commands: [CommandSyntax]

    /// The words of the predicate language that stand between keys and values.
    private static let operators = [
        "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "CONTAINS", "ENDSWITH", "LIKE", "MATCHES", "ANY", "ALL",
        "NONE", "SUBQUERY", "nil", "YES", "NO", "SELF", "TRUEPREDICATE",
    ]

    init(_ model: StoreModel, commands: [CommandSyntax]) {
        self.commands = commands
        entities = model.entities.map { entity in
            (entity.name ?? "", entity.propertiesByName.keys.sorted())
        }.sorted { $0.0 < $1.0 }
    }

    /// A place in the line, and the texts that can stand there.
    struct Candidates: Equatable {
        /// The number of characters at the end of the line that a candidate replaces.
        let replaced: Int
        let texts: [String]
    }

    func candidates(for line: String) -> Candidates {
        let split = ShellWords(line)
        let current = split.endsWithSpace ? "" : split.words.last?.text ?? ""
        let before = split.endsWithSpace ? split.texts : split.texts.dropLast()
        let (command, rest) = command(in: before)
        guard let command else { return matching(current, commandWords(after: before)) }
        let taken = rest.filter { !$0.hasPrefix("--") }
        if let name = rest.last, name.hasPrefix("--"),
            let option = command.options.first(where: { "--\($0.name)" == name }), option.value != nil
        {
            if !option.choices.isEmpty { return matching(current, option.choices) }
            return partly(current, isPredicate: option.name == "where", entity: taken.first)
        }
        if current.hasPrefix("--") { return matching(current, command.options.map { "--\($0.name)" } + ["--help"]) }
        let place = command.operands.filter { $0.name != "STORE" }.dropFirst(taken.count).first
        if let choices = place?.choices, !choices.isEmpty { return matching(current, choices) }
        return matching(current, entities.map(\.name) + (current.isEmpty ? command.options.map { "--\($0.name)" } : []))
    }

    private func matching(_ current: String, _ texts: [String]) -> Candidates {
        let wanted = current.lowercased()
        return Candidates(replaced: current.count, texts: texts.filter { $0.lowercased().hasPrefix(wanted) })
    }

    /// Completes the last key or operator in the value of an option.
    private func partly(_ value: String, isPredicate: Bool, entity: String?) -> Candidates {
        let word = String(value.reversed().prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }.reversed())
        let known = entities.filter { entity == nil || $0.name.lowercased() == entity?.lowercased() }
        let keys = Set(known.flatMap(\.keys)).sorted()
        return matching(word, keys + (isPredicate ? Self.operators : []))
    }

    /// Returns the command that words begin with, and the words behind it.
    private func command(in words: some Collection<String>) -> (CommandSyntax?, [String]) {
        for count in [2, 1] where words.count >= count {
            let name = words.prefix(count).joined(separator: " ")
            if let command = commands.first(where: { $0.name == name }) {
                return (command, Array(words.dropFirst(count)))
            }
        }
        return (nil, Array(words))
    }

    private func commandWords(after words: some Collection<String>) -> [String] {
        let prefix = words.map { $0 + " " }.joined()
        var found: [String] = []
        for name in commands.map(\.name) + ["help", "exit"] where name.hasPrefix(prefix) {
            let word = name.dropFirst(prefix.count).prefix { $0 != " " }
            if !found.contains(String(word)) { found.append(String(word)) }
        }
        return found
    }
}
