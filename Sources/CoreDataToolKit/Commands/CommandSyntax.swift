import Foundation

/// The arguments of a subcommand, from which both its parsing and its help are derived.
struct CommandSyntax {
    struct Operand {
        let name: String
        let help: String
    }

    /// An argument that begins with `--`.
    struct Option {
        let name: String
        /// The placeholder for the value in the help; nil for an option without a value.
        let value: String?
        let help: String
    }

    let name: String
    let summary: String
    let operands: [Operand]
    let options: [Option]
    /// Paragraphs and examples at the end of the help.
    let notes: String

    struct Arguments {
        /// The operands in the order of the syntax, exactly as many as it has.
        var operands: [String] = []
        var values: [String: String] = [:]
        var flags: Set<String> = []
        var wantsHelp = false

        /// Returns the names in the value of an option; nil without the option.
        func names(_ option: String, of kind: String) throws(UsageError) -> [String]? {
            guard let text = values[option] else { return nil }
            let words = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            let names = words.filter { !$0.isEmpty }
            if names.isEmpty { throw UsageError(message: "--\(option) names no \(kind).") }
            return names
        }
    }

    /// An option's value follows it or an equals sign. `--` ends the options.
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
                try take(argument, &rest, into: &result)
            }
        }
        if result.wantsHelp { return result }
        if result.operands.count > operands.count {
            throw UsageError(message: "'\(result.operands[operands.count])' is one argument too many.")
        }
        if result.operands.count < operands.count {
            throw UsageError(message: "\(operands[result.operands.count].name) is missing.")
        }
        return result
    }

    private func take(
        _ argument: String, _ rest: inout ArraySlice<String>, into result: inout Arguments
    ) throws(UsageError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0].drop { $0 == "-" })
        guard argument.hasPrefix("--"), let option = options.first(where: { $0.name == name }) else {
            let near = NearNames.suggestions(for: name, among: options.map(\.name) + ["help"]).first
            throw UsageError(
                message: "There is no option '\(parts[0])'." + (near.map { " Did you mean --\($0)?" } ?? ""))
        }
        guard option.value != nil else {
            if parts.count > 1 { throw UsageError(message: "--\(name) takes no value.") }
            result.flags.insert(name)
            return
        }
        guard let value = parts.count > 1 ? String(parts[1]) : rest.popFirst() else {
            throw UsageError(message: "--\(name) needs a value: --\(name) \(option.value ?? "VALUE").")
        }
        if result.values.updateValue(value, forKey: name) != nil {
            throw UsageError(message: "--\(name) is given twice.")
        }
    }

    // MARK: Help

    var usage: String {
        let operands = operands.map { " " + $0.name }.joined()
        let options = options.map { " [--\($0.name)\($0.value.map { " " + $0 } ?? "")]" }.joined()
        return "coredata \(name)\(operands)\(options)"
    }

    var help: String {
        var lines = ["Usage: \(usage)", "", summary, ""]
        var entries = operands.map { ($0.name, $0.help) }
        entries += options.map { ("--\($0.name)\($0.value.map { " " + $0 } ?? "")", $0.help) }
        entries.append(("--help", "Show this help."))
        let width = (entries.map(\.0.count).max() ?? 0) + 2
        for (term, text) in entries {
            lines.append("  " + term + String(repeating: " ", count: width - term.count) + text)
        }
        if !notes.isEmpty { lines += ["", notes] }
        return lines.joined(separator: "\n") + "\n"
    }
}
