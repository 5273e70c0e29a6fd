/// A subcommand of `coredata`: its arguments, and what it does with them.
protocol Command: SendableMetatype {
    static var syntax: CommandSyntax { get }

    /// - Throws: `UsageError` for values that are invalid whatever the files contain.
    init(_ arguments: CommandSyntax.Arguments) throws(UsageError)

    func run(_ console: Console) throws -> ExitStatus
}

/// An entry in the list of subcommands.
struct Subcommand: Sendable {
    let syntax: CommandSyntax
    /// Makes the command of its arguments and runs it.
    let run: @Sendable (CommandSyntax.Arguments, Console) throws -> ExitStatus

    /// - Parameter name: a second name of the command; nil for its own.
    init<Body: Command>(_ command: Body.Type, named name: String? = nil) {
        syntax = name.map(command.syntax.named) ?? command.syntax
        run = { arguments, console in try Body(arguments).run(console) }
    }
}

/// The exit statuses of the command, which scripts can tell apart.
public enum ExitStatus: Int32, Sendable {
    /// The command did what it was asked to do.
    case success = 0
    /// The command could not do it; the standard error says why.
    case failure = 1
    /// The command did it, and found something: a difference, or damage.
    case findings = 3
    /// The arguments make no command; the number is that of sysexits.
    case usage = 64
}
