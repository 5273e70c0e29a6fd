import Foundation

/// The `coredata` command: looks into Core Data stores, takes out and changes what is in them, and
/// works with models and sources.
public struct CommandLineTool {
    /// The version of the package that the command belongs to.
    public static let version = ToolVersion.number

    private let console: Console
    private let servers: ServerStores

    /// Creates a command that writes to the standard output and the standard error.
    public init() {
        let environment = ProcessInfo.processInfo.environment
        self.init(
            Console(
                output: OutputWriter(descriptor: 1), errors: OutputWriter(descriptor: 2),
                columns: TerminalWidth.columns(environment: environment, output: 1),
                style: .of(terminal: 1, environment: environment), showsProgress: isatty(2) == 1,
                isInteractive: isatty(0) == 1 && isatty(1) == 1,
                readLine: { readLine() }))
    }

    /// - Parameter servers: the copies of stores on servers that several runs share.
    init(_ console: Console, servers: ServerStores = ServerStores()) {
        self.console = console
        self.servers = servers
    }

    /// Runs the command with the program's arguments and ends the program.
    public static func main() -> Never {
        // A reader that goes away (`coredata query … | head`) is noticed by the failing write, not by
        // a signal.
        signal(SIGPIPE, SIG_IGN)
        let status = CommandLineTool().run(Array(CommandLine.arguments.dropFirst()))
        exit(status.rawValue)
    }

    /// The subcommands in the order of the help: the one list from which dispatch, help, completion
    /// and manual come.
    static let commands: [Subcommand] = [
        Subcommand(InfoCommand.self),
        Subcommand(SchemaCommand.self),
        Subcommand(QueryCommand.self),
        Subcommand(GetCommand.self),
        Subcommand(ExportCommand.self),
        Subcommand(ImportCommand.self),
        Subcommand(DiffCommand.self),
        Subcommand(HistoryCommand.self),
        Subcommand(CheckCommand.self),
        Subcommand(RepairCommand.self),
        Subcommand(RecoverCommand.self),
        Subcommand(MigrateCommand.self),
        Subcommand(EditInsertCommand.self),
        Subcommand(EditSetCommand.self),
        Subcommand(EditDeleteCommand.self),
        Subcommand(EditUndoCommand.self),
        Subcommand(ReportCommand.self),
        Subcommand(DiagramCommand.self),
        Subcommand(ShellCommand.self),
        Subcommand(SchemaCommand.self, named: "model show"),
        Subcommand(DiagramCommand.self, named: "model diagram"),
        Subcommand(ModelDiffCommand.self),
        Subcommand(ModelValidateCommand.self),
        Subcommand(ModelHashCommand.self),
        Subcommand(ModelConvertCommand.self),
        Subcommand(ModelExportCommand.self),
        Subcommand(ModelCompileCommand.self),
        Subcommand(GenerateCommand.self),
        Subcommand(PortCommand.self),
        Subcommand(CompletionCommand.self),
        Subcommand(ManualCommand.self),
    ]

    private static func help(of commands: [Subcommand], _ usage: String) -> String {
        let width = (commands.map(\.syntax.name.count).max() ?? 0) + 2
        return usage
            + commands.map(\.syntax).map { syntax in
                "  \(syntax.name)\(String(repeating: " ", count: width - syntax.name.count))\(syntax.summary)\n"
            }.joined()
    }

    private static var help: String {
        help(
            of: commands,
            """
            Usage: coredata COMMAND …

            Looks into Core Data stores (SQLite) without their models, takes out and changes what is in
            them, and works with models and sources of programs.


            """) + """

                'coredata COMMAND --help' says more about a command; 'coredata --version' shows the version.
                Exit status: 0 done, 1 failed, 3 done and something was found, 64 wrong arguments.

                """
    }

    /// Runs the command and returns its exit status.
    ///
    /// - Parameter arguments: the arguments after the program's name.
    public func run(_ arguments: [String]) -> ExitStatus {
        do {
            defer { try? console.errors.flush() }
            let status = try runReporting(arguments)
            try console.output.flush()
            return status
        } catch {
            // The reader closed the pipe, which is no error, or the output cannot be written.
            guard let failure = error as? OutputWriter.Failure, !failure.isBrokenPipe else { return .success }
            try? console.warn("the output cannot be written: \(failure.reason)")
            try? console.errors.flush()
            return .failure
        }
    }

    private func runReporting(_ arguments: [String]) throws -> ExitStatus {
        guard let name = arguments.first else {
            try console.errors.write(Self.help)
            return .usage
        }
        if ["--help", "-h", "help"].contains(name) {
            try console.output.write(Self.help(on: Array(arguments.dropFirst())) ?? Self.help)
            return .success
        }
        if name == "--version" {
            try console.output.write("coredata \(Self.version)\n")
            return .success
        }
        guard let (command, rest) = Self.command(in: arguments) else {
            if let help = Self.help(on: arguments), ["--help", "-h"].contains(arguments.dropFirst().first) {
                try console.output.write(help)
                return .success
            }
            return try reportUnknown(arguments)
        }
        return try run(command, rest)
    }

    private func run(_ command: Subcommand, _ arguments: [String]) throws -> ExitStatus {
        do {
            let given = try command.syntax.parse(arguments)
            if given.wantsHelp {
                try console.output.write(command.syntax.help)
                return .success
            }
            return try command.run(servers.read(given, of: command.syntax), console)
        } catch let error as UsageError {
            return try reportUsage(error.message, usage: "Usage: \(command.syntax.usage)")
        } catch let error as ToolError {
            try console.output.flush()
            try console.warn(error.message)
            if let details = error.details { try console.errors.write(details + "\n") }
            return .failure
        } catch let error as OutputWriter.Failure {
            throw error
        } catch {
            try console.output.flush()
            try console.warn(ErrorText.line(error))
            return .failure
        }
    }

    // MARK: Finding commands

    /// Returns the command that arguments name, and the arguments behind its name; nil if they name
    /// none.
    static func command(in arguments: [String]) -> (command: Subcommand, rest: [String])? {
        for count in [2, 1] where arguments.count >= count {
            let name = arguments.prefix(count).joined(separator: " ")
            if let command = commands.first(where: { $0.syntax.name == name }) {
                return (command, Array(arguments.dropFirst(count)))
            }
        }
        return nil
    }

    /// Returns the help on a command, or on a group of commands; nil if arguments name neither.
    private static func help(on arguments: [String]) -> String? {
        if let (command, _) = command(in: arguments) { return command.syntax.help }
        guard let group = arguments.first else { return nil }
        let members = members(of: group)
        return members.isEmpty ? nil : help(of: members, "Usage: coredata \(group) COMMAND …\n\n")
    }

    private static func members(of group: String) -> [Subcommand] {
        commands.filter { $0.syntax.name.hasPrefix(group + " ") }
    }

    private func reportUnknown(_ arguments: [String]) throws -> ExitStatus {
        let group = Self.members(of: arguments[0]).map { $0.syntax.name.dropFirst(arguments[0].count + 1) }.map(
            String.init)
        if group.isEmpty {
            let advice = NearNames.advice(for: arguments[0], among: Self.names, kind: "command")
            return try reportUsage(
                "There is no command '\(arguments[0])'. \(advice)", usage: "coredata --help shows all commands")
        }
        let advice = NearNames.advice(for: arguments.dropFirst().first ?? "", among: group, kind: "command")
        let problem =
            arguments.count > 1
            ? "There is no command '\(arguments[0]) \(arguments[1])'." : "'\(arguments[0])' needs a command."
        return try reportUsage("\(problem) \(advice)", usage: "coredata \(arguments[0]) --help shows all of them")
    }

    /// The first words of all commands.
    private static var names: [String] {
        var names: [String] = []
        for word in commands.compactMap({ $0.syntax.name.split(separator: " ").first.map(String.init) })
        where names.last != word { names.append(word) }
        return names
    }

    private func reportUsage(_ message: String, usage: String) throws -> ExitStatus {
        try console.warn(message)
        try console.errors.write(usage + "\n")
        return .usage
    }
}
