import Foundation

/// `coredata completion`: a script with which a shell completes commands, options and their values.
struct CompletionCommand: Command {
    static let syntax = CommandSyntax(
        name: "completion", summary: "Writes the completion of commands and options for a shell.",
        operands: [.init(name: "SHELL", help: "bash, zsh or fish.", choices: ["bash", "zsh", "fish"])],
        options: [],
        notes: """
            bash: add   source <(coredata completion bash)   to ~/.bashrc
            zsh:  write it to a file _coredata in a folder of $fpath
            fish: coredata completion fish > ~/.config/fish/completions/coredata.fish
            """)

    private let shell: String

    init(_ arguments: CommandSyntax.Arguments) { shell = arguments.operands[0] }

    func run(_ console: Console) throws -> ExitStatus {
        let scripts = CompletionScripts(CommandLineTool.commands.map { $0.syntax })
        switch shell {
        case "bash": try console.output.write(scripts.bash)
        case "zsh": try console.output.write(scripts.zsh)
        default: try console.output.write(scripts.fish)
        }
        return .success
    }
}

/// The completion scripts of the shells, made of the commands' syntax.
struct CompletionScripts {
    private let commands: [CommandSyntax]

    init(_ commands: [CommandSyntax]) { self.commands = commands }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    /// The first words, each with a summary, and the second words by first word.
    private var words: (first: [(String, String)], second: [(group: String, word: String, summary: String)]) {
        var first: [(String, String)] = []
        var second: [(group: String, word: String, summary: String)] = []
        for command in commands {
            let parts = command.name.split(separator: " ").map(String.init)
            if first.last?.0 != parts[0] {
                first.append((parts[0], parts.count == 1 ? command.summary : "Commands for '\(parts[0])'."))
            }
            if parts.count == 2 { second.append((parts[0], parts[1], command.summary)) }
        }
        return (first, second)
    }

    private func choices(of command: CommandSyntax) -> [String] { command.operands.flatMap(\.choices) }

    var bash: String {
        var cases = ""
        for command in commands {
            let options = command.options.map { "--\($0.name)" } + ["--help"] + choices(of: command)
            cases += "        \(Self.quoted(command.name))) words='\(options.joined(separator: " "))' ;;\n"
        }
        var values = ""
        for command in commands {
            for option in command.options where !option.choices.isEmpty {
                let key = Self.quoted("\(command.name) --\(option.name)")
                values += "        \(key)) values='\(option.choices.joined(separator: " "))' ;;\n"
            }
        }
        let (first, second) = words
        var groups = ""
        for group in Set(second.map(\.group)).sorted() {
            let members = second.filter { $0.group == group }.map(\.word).joined(separator: " ")
            groups += "        \(group)) words='\(members)' ;;\n"
        }
        return """
            # Completion of coredata for bash: source <(coredata completion bash)
            _coredata() {
                local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words= values=
                local command=${COMP_WORDS[1]} place=1
                case $command in
            \(groups.replacingOccurrences(of: "words=", with: "place=2 words="))    esac
                if [ "$COMP_CWORD" -eq 1 ]; then
                    words='\(first.map(\.0).joined(separator: " "))'
                elif [ "$place" -eq 1 ] || [ "$COMP_CWORD" -gt 2 ]; then
                    [ "$place" -eq 1 ] || command="$command ${COMP_WORDS[2]}"
                    case $command in
            \(cases)        esac
                    case "$command $previous" in
            \(values)        esac
                    [ -z "$values" ] || words=$values
                    [[ $current == -* || -n $values ]] || compopt -o default
                fi
                COMPREPLY=($(compgen -W "$words" -- "$current"))
            }
            complete -F _coredata coredata

            """
    }

    var zsh: String {
        func entry(_ word: String, _ summary: String) -> String {
            Self.quoted(word + ":" + summary.replacingOccurrences(of: ":", with: "\\:"))
        }
        let (first, second) = words
        var cases = ""
        for group in Set(second.map(\.group)).sorted() {
            let members = second.filter { $0.group == group }.map { entry($0.word, $0.summary) }
            cases += "        \(group)) place=2 members=(\(members.joined(separator: " "))) ;;\n"
        }
        var arguments = ""
        for command in commands {
            let options = command.options.map { option -> String in
                let help = option.help.replacingOccurrences(of: "[", with: "(").replacingOccurrences(of: "]", with: ")")
                let text = "--\(option.name)[\(help)]"
                guard let value = option.value else { return Self.quoted(text) }
                let action = option.choices.isEmpty ? "_files" : "(\(option.choices.joined(separator: " ")))"
                return Self.quoted("\(text):\(value):\(action)")
            }
            let choices = choices(of: command)
            let files = choices.isEmpty ? "_files" : "(\(choices.joined(separator: " ")))"
            arguments += "        \(Self.quoted(command.name))) _arguments \(options.joined(separator: " ")) "
            arguments +=
                "'--help[Show the help.]' \(Self.quoted("*::\(command.operands.last?.name ?? ""):\(files)")) ;;\n"
        }
        return """
            #compdef coredata
            # Completion of coredata for zsh: a file _coredata in a folder of $fpath.
            local -a members
            local place=1 command=${words[2]}
            case $command in
            \(cases)esac
            if (( CURRENT == 2 )); then
                members=(\(first.map { entry($0.0, $0.1) }.joined(separator: " ")))
                _describe command members
            elif (( place == 2 && CURRENT == 3 )); then
                _describe command members
            else
                (( place == 2 )) && command="$command ${words[3]}"
                shift $place words
                (( CURRENT -= place ))
                case $command in
            \(arguments)    esac
            fi

            """
    }

    var fish: String {
        let (first, second) = words
        var text = "# Completion of coredata for fish: ~/.config/fish/completions/coredata.fish\n"
        for (word, summary) in first {
            text += "complete -c coredata -n __fish_use_subcommand -a \(word) -d \(Self.quoted(summary))\n"
        }
        for (group, word, summary) in second {
            let members = second.filter { $0.group == group }.map(\.word).joined(separator: " ")
            text += "complete -c coredata -n '__fish_seen_subcommand_from \(group); and not "
            text += "__fish_seen_subcommand_from \(members)' -a \(word) -d \(Self.quoted(summary))\n"
        }
        for command in commands {
            let condition = command.name.split(separator: " ").map { "__fish_seen_subcommand_from \($0)" }.joined(
                separator: "; and ")
            let start = "complete -c coredata -n \(Self.quoted(condition))"
            for option in command.options {
                text += "\(start) -l \(option.name) -d \(Self.quoted(option.help))"
                if option.value != nil { text += option.choices.isEmpty ? " -r" : " -x" }
                if !option.choices.isEmpty { text += " -a \(Self.quoted(option.choices.joined(separator: " ")))" }
                text += "\n"
            }
            let choices = choices(of: command)
            if !choices.isEmpty { text += "\(start) -f -a \(Self.quoted(choices.joined(separator: " ")))\n" }
        }
        return text
    }
}
