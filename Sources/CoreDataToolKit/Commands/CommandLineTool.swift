import Foundation

/// The `coredata` command: reads Core Data stores without changing them, generates classes and
/// files from models, and ports sources.
public struct CommandLineTool {
    /// The exit statuses of the command; the status for usage errors is that of sysexits.
    public enum Status {
        public static let success: Int32 = 0
        public static let failure: Int32 = 1
        public static let usage: Int32 = 64
    }

    /// The version of the package that the command belongs to.
    public static let version = "0.1.0"

    private let output: OutputWriter
    private let errors: OutputWriter
    private let columns: Int

    /// Creates a command that writes to the standard output and the standard error.
    public init() {
        self.init(
            output: OutputWriter(descriptor: 1), errors: OutputWriter(descriptor: 2),
            environment: ProcessInfo.processInfo.environment, terminal: 1)
    }

    /// - Parameter terminal: the descriptor of the output; -1 for none.
    init(output: OutputWriter, errors: OutputWriter, environment: [String: String], terminal: Int32 = -1) {
        self.output = output
        self.errors = errors
        columns = TerminalWidth.columns(environment: environment, output: terminal)
    }

    private static let subcommands = [
        InfoCommand.syntax, QueryCommand.syntax, GenerateCommand.syntax, ModelCommand.syntax, PortCommand.syntax,
    ]

    private static var help: String {
        var text = """
            Usage: coredata COMMAND …

            Looks into Core Data stores (SQLite), makes classes and files of models, and ports sources of a Mac. A \
            store is never
            changed, and needs no model file.


            """
        let width = (subcommands.map(\.name.count).max() ?? 0) + 2
        for syntax in subcommands {
            text += "  \(syntax.name)\(String(repeating: " ", count: width - syntax.name.count))\(syntax.summary)\n"
        }
        return text + "\n'coredata COMMAND --help' says more about a command; 'coredata --version' shows the version.\n"
    }

    /// Runs the command and returns its exit status.
    ///
    /// - Parameter arguments: the arguments after the program's name.
    public func run(_ arguments: [String]) -> Int32 {
        do {
            defer { try? errors.flush() }
            let status = try runReporting(arguments)
            try output.flush()
            return status
        } catch {
            // The reader closed the pipe, which is no error, or the output cannot be written.
            guard let failure = error as? OutputWriter.Failure, !failure.isBrokenPipe else { return Status.success }
            try? errors.write(line: "coredata: the output cannot be written: \(failure.reason)")
            try? errors.flush()
            return Status.failure
        }
    }

    private func runReporting(_ arguments: [String]) throws -> Int32 {
        guard let name = arguments.first else {
            try errors.write(Self.help)
            return Status.usage
        }
        if ["--help", "-h", "help"].contains(name) {
            let subject = arguments.dropFirst().first
            try output.write(Self.subcommands.first { $0.name == subject }?.help ?? Self.help)
            return Status.success
        }
        if name == "--version" {
            try output.write("coredata \(Self.version)\n")
            return Status.success
        }
        guard let syntax = Self.subcommands.first(where: { $0.name == name }) else {
            let advice = NearNames.advice(for: name, among: Self.subcommands.map(\.name), kind: "command")
            return try reportUsage(
                "There is no command '\(name)'. \(advice)", usage: "coredata --help shows all commands")
        }
        do {
            let given = try syntax.parse(Array(arguments.dropFirst()))
            if given.wantsHelp {
                try output.write(syntax.help)
                return Status.success
            }
            switch name {
            case InfoCommand.syntax.name: try InfoCommand(given).run(output)
            case GenerateCommand.syntax.name: try GenerateCommand(given).run(output, errors: errors)
            case PortCommand.syntax.name: try PortCommand(given).run(output, errors: errors)
            case ModelCommand.syntax.name: try ModelCommand(given).run(output, errors: errors)
            default: try QueryCommand(given).run(output, errors: errors, columns: columns)
            }
            return Status.success
        } catch let error as UsageError {
            return try reportUsage(error.message, usage: "Usage: \(syntax.usage)")
        } catch let error as ToolError {
            try output.flush()
            try errors.write(line: "coredata: \(error.message)")
            if let details = error.details { try errors.write(details + "\n") }
            return Status.failure
        } catch let error as OutputWriter.Failure {
            throw error
        } catch {
            try output.flush()
            try errors.write(line: "coredata: \(ErrorText.line(error))")
            return Status.failure
        }
    }

    private func reportUsage(_ message: String, usage: String) throws -> Int32 {
        try errors.write(line: "coredata: \(message)")
        try errors.write(usage + "\n")
        return Status.usage
    }
}
