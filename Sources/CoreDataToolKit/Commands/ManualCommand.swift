import Foundation

/// `coredata manual`: the manual page, made of the commands' syntax.
struct ManualCommand: Command {
    static let syntax = CommandSyntax(
        name: "manual", summary: "Writes the manual page, for man.", operands: [], options: [],
        notes: """
              coredata manual > /usr/local/share/man/man1/coredata.1
              coredata manual | man -l -
            """)

    init(_ arguments: CommandSyntax.Arguments) {}

    func run(_ console: Console) throws -> ExitStatus {
        try console.output.write(Self.page(of: CommandLineTool.commands.map { $0.syntax }))
        return .success
    }

    /// Returns the page in the macros of man(7).
    static func page(of commands: [CommandSyntax]) -> String {
        var text = """
            .TH COREDATA 1 "" "coredata \(CommandLineTool.version)" "User Commands"
            .SH NAME
            coredata \\- look into, take out, compare, check and mend Core Data stores
            .SH SYNOPSIS
            .B coredata
            .I COMMAND
            \\&...
            .SH DESCRIPTION
            Reads any SQLite store of Core Data, with the model in the store, with one that \\-\\-model names, or
            with one inferred from the tables. Only the commands that say so change a store.
            .SH COMMANDS

            """
        for command in commands {
            text +=
                ".SS \"coredata \(command.name)\"\n\(escaped(command.summary))\n"
                + ".PP\n.nf\n.B \(escaped(command.usage))\n.fi\n"
            for (term, help) in command.terms { text += ".TP\n.B \(escaped(term))\n\(escaped(help))\n" }
            if !command.notes.isEmpty { text += ".PP\n.nf\n\(escaped(command.notes))\n.fi\n" }
        }
        return text + """
            .SH EXIT STATUS
            0 done, 1 failed, 3 done and something was found (a difference, or damage), 64 wrong arguments.
            .SH ENVIRONMENT
            .TP
            .B COLUMNS
            The width of tables, if the output is no terminal.
            .TP
            .B NO_COLOR
            Without colours also on a terminal.
            .TP
            .B TMPDIR
            Where a store with a journal is copied to be read.

            """
    }

    private static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var line = line.replacingOccurrences(of: "\\", with: "\\e").replacingOccurrences(of: "-", with: "\\-")
            // A line that begins with a dot or an apostrophe would be a request.
            if line.hasPrefix(".") || line.hasPrefix("'") { line = "\\&" + line }
            return line
        }.joined(separator: "\n")
    }
}
