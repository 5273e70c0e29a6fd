import Foundation

/// The arguments of a subcommand, from which its parsing, help, completion and manual are derived.
struct CommandSyntax: Sendable {
    struct Operand: Sendable {
        let name: String
        let help: String
        var mayBeMissing = false
        /// Whether the last operand takes all further arguments; at least one unless it may be
        /// missing.
        var repeats = false
        /// The only values that the operand takes; empty if it takes any.
        var choices: [String] = []
        /// The part that is read of a store on a server; nil if the operand must be a file.
        var server: ServerStores.Part?

        static let store = Operand(
            name: "STORE", help: "A Core Data store: a SQLite file, or a postgresql:// URL.", server: .rows)
        static let storeFile = Operand(name: "STORE", help: "A Core Data store, a SQLite file.")
        static let entity = Operand(name: "ENTITY", help: "The name of an entity; 'coredata info STORE' lists them.")
        static let model = Operand(
            name: "MODEL", help: "A model (.xcdatamodeld, .xcdatamodel, .momd, .mom), or a store that carries one.",
            server: .model)
        static let storeOrModel = Operand(
            name: "STORE|MODEL", help: "A store, or a model (.xcdatamodeld, .xcdatamodel, .momd, .mom).",
            server: .model)

        fileprivate var placeholder: String {
            let text = repeats ? name + "…" : name
            return mayBeMissing ? "[\(text)]" : text
        }
    }

    /// An argument that begins with `--`.
    struct Option: Sendable {
        let name: String
        /// The placeholder for the value in the help; nil for an option without a value.
        let value: String?
        let help: String
        /// The only values that the option takes, the default first; empty if it takes any.
        var choices: [String] = []

        static let model = Option(
            name: "model", value: "FILE", help: "Read it with this model (.momd, .mom, .xcdatamodeld).")
        static let version = Option(
            name: "version", value: "NAME", help: "The version of a model with several; the current one by default.")
        static let entities = Option(name: "entity", value: "NAME,…", help: "Only these entities.")
        static let yes = Option(name: "yes", value: nil, help: "Do it without asking.")

        /// The format of the output. `--json` is short for `--format json`.
        static func format(_ choices: String...) -> Option {
            let rest = choices.dropFirst()
            let others = rest.dropLast().joined(separator: ", ")
            let list = rest.count > 1 ? "\(others) or \(rest.last ?? "")" : rest.joined()
            return Option(
                name: "format", value: "FORMAT",
                help: "\(choices[0]) (the default), \(list)"
                    + (choices.contains("json") ? "; --json is short for json." : "."),
                choices: choices)
        }

        fileprivate var term: String { "--\(name)" + (value.map { " " + $0 } ?? "") }
    }

    /// One word, or two for a subcommand of a group: `model export`.
    let name: String
    /// A sentence of at most 80 characters.
    let summary: String
    let operands: [Operand]
    let options: [Option]
    /// Paragraphs and examples at the end of the help.
    let notes: String

    struct Arguments {
        /// The operands in the order of the syntax.
        var operands: [String] = []
        var values: [String: String] = [:]
        var flags: Set<String> = []
        var wantsHelp = false
        fileprivate(set) var format = ""

        var isJSON: Bool { format == "json" }

        /// Returns the names in the value of an option; nil without the option.
        func names(_ option: String, of kind: String) throws(UsageError) -> [String]? {
            guard let text = values[option] else { return nil }
            let words = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let names = words.filter { !$0.isEmpty }
            if names.isEmpty { throw UsageError(message: "--\(option) names no \(kind).") }
            return names
        }

        /// Returns the number from 0 on in the value of an option; nil without the option.
        func count(_ option: String) throws(UsageError) -> Int? {
            guard let text = values[option] else { return nil }
            guard let count = Int(text), count >= 0 else {
                throw UsageError(message: "--\(option) takes a number from 0 on, not '\(text)'.")
            }
            return count
        }
    }

    /// Returns the syntax of the same command under a second name.
    func named(_ other: String) -> CommandSyntax {
        CommandSyntax(
            name: other, summary: summary, operands: operands, options: options,
            notes: notes.replacingOccurrences(of: "coredata \(name) ", with: "coredata \(other) "))
    }

    // MARK: Parsing

    /// An option's value follows it or an equals sign. `--` ends the options, `-o` is `--output`.
    func parse(_ arguments: [String]) throws(UsageError) -> Arguments {
        var result = Arguments()
        var rest = arguments[...]
        var optionsEnded = false
        while let argument = rest.popFirst() {
            guard !optionsEnded, argument.hasPrefix("-"), argument != "-" else {
                result.operands.append(argument)
                continue
            }
            if argument == "--" {
                optionsEnded = true
            } else if argument == "--help" || argument == "-h" {
                result.wantsHelp = true
            } else {
                try take(argument == "-o" ? "--output" : argument, &rest, into: &result)
            }
        }
        if result.wantsHelp { return result }
        try checkOperands(result.operands)
        for option in options where option.name == "format" {
            result.format = result.values["format"] ?? option.choices.first ?? ""
        }
        return result
    }

    /// The operand that an argument at a place among the operands is for.
    func operand(at index: Int) -> Operand? {
        operands.indices.contains(index) ? operands[index] : operands.last { $0.repeats }
    }

    private func checkOperands(_ given: [String]) throws(UsageError) {
        if given.count > operands.count, operands.last?.repeats != true {
            throw UsageError(message: "'\(given[operands.count])' is one argument too many.")
        }
        if let missing = operands.dropFirst(given.count).first(where: { !$0.mayBeMissing }) {
            throw UsageError(message: "\(missing.name) is missing.")
        }
        for (operand, value) in zip(operands, given) {
            try Self.check(value, among: operand.choices, of: operand.name.lowercased())
        }
    }

    private static func check(_ value: String, among choices: [String], of kind: String) throws(UsageError) {
        if choices.isEmpty || choices.contains(value) { return }
        throw UsageError(message: "There is no \(kind) '\(value)'. There is \(choices.joined(separator: ", ")).")
    }

    private func take(
        _ argument: String, _ rest: inout ArraySlice<String>, into result: inout Arguments
    ) throws(UsageError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        var name = String(parts[0].drop { $0 == "-" })
        var given = parts.count > 1 ? String(parts[1]) : nil
        if name == "json", given == nil, options.contains(where: { $0.choices.contains("json") }) {
            (name, given) = ("format", "json")
        }
        guard argument.hasPrefix("--"), let option = options.first(where: { $0.name == name }) else {
            let near = NearNames.suggestions(for: name, among: options.map(\.name) + ["help"]).first
            throw UsageError(
                message: "There is no option '\(parts[0])'." + (near.map { " Did you mean --\($0)?" } ?? ""))
        }
        guard option.value != nil else {
            if given != nil { throw UsageError(message: "--\(name) takes no value.") }
            result.flags.insert(name)
            return
        }
        guard let value = given ?? rest.popFirst() else {
            throw UsageError(message: "--\(name) needs a value: --\(name) \(option.value ?? "VALUE").")
        }
        try Self.check(value, among: option.choices, of: name)
        if result.values.updateValue(value, forKey: name) != nil {
            throw UsageError(message: "--\(name) is given twice.")
        }
    }

    // MARK: Help

    var usage: String {
        let operands = operands.map { " " + $0.placeholder }.joined()
        let options = options.map { " [\($0.term)]" }.joined()
        return "coredata \(name)\(operands)\(options)"
    }

    /// The operands and options with their help.
    var terms: [(term: String, help: String)] {
        operands.map { ($0.placeholder, $0.help) } + options.map { ($0.term, $0.help) }
            + [("--help", "Show this help.")]
    }

    var help: String {
        var lines = ["Usage: \(usage)", "", summary, ""]
        let width = (terms.map(\.term.count).max() ?? 0) + 2
        for (term, text) in terms {
            lines.append("  " + term + String(repeating: " ", count: width - term.count) + text)
        }
        if !notes.isEmpty { lines += ["", notes] }
        return lines.joined(separator: "\n") + "\n"
    }
}
