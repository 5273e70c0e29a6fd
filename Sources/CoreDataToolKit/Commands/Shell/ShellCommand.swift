import CoreData

/// `coredata shell`: a prompt for all commands on one store.
struct ShellCommand: Command {
    static let syntax = CommandSyntax(
        name: "shell", summary: "Opens a prompt for all commands on one store, with history and completion.",
        operands: [.init(name: "STORE", help: CommandSyntax.Operand.store.help, server: .url)], options: [.model],
        notes: """
            Type commands without 'coredata' and without the store: query Item --where 'stock < 5'. The tab
            key completes commands, options, entities, keys and operators; the arrow keys go through the
            history, which is kept in ~/.coredata_history (COREDATA_HISTORY names another file, or none).
            'exit' or Control-D ends the shell. Without a terminal, commands are read from the input, and the
            exit status is that of the last one that failed.

              coredata shell Store.sqlite
              echo 'info' | coredata shell Store.sqlite
            """)

    private let path: String
    private let modelPath: String?
    /// A store on a server is copied once, and shown as it was then.
    private let servers = ServerStores()

    init(_ arguments: CommandSyntax.Arguments) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
    }

    func run(_ console: Console) throws -> ExitStatus {
        let file = try servers.path(of: path, .rows, modelPath: modelPath)
        let store = try ReadableStore(path: file, modelPath: modelPath, isSampled: true)
        let completion = ShellCompletion(store.model, commands: Self.commands)
        store.file.close()
        guard console.isInteractive else {
            var status = ExitStatus.success
            while let line = console.readLine() {
                guard let result = try execute(line, console) else { break }
                if result != .success { status = result }
            }
            return status
        }
        let history = ShellHistory(environment: ProcessInfo.processInfo.environment)
        let editor = LineEditor(
            input: 0, output: console.output, history: history.read(),
            columns: { TerminalWidth.columns(environment: [:], output: 1) }, complete: completion.candidates)
        let name = DisplayWidth.truncated(DisplayWidth.printable(store.file.originalURL.lastPathComponent), to: 30)
        while let line = try editor.readLine(prompt: "\(name)> ") {
            guard try execute(line, console) != nil else { break }
        }
        history.write(editor.history)
        return .success
    }

    /// The commands that make sense on one store.
    private static var commands: [CommandSyntax] {
        CommandLineTool.commands.map(\.syntax).filter { $0.name != syntax.name }
    }

    /// - Returns: nil for a line that ends the shell.
    private func execute(_ line: String, _ console: Console) throws -> ExitStatus? {
        let split = ShellWords(line)
        var words = split.texts
        guard let first = words.first, !first.hasPrefix("#") else { return .success }
        if ["exit", "quit", ".exit", ".quit"].contains(first) { return nil }
        if let quote = split.openQuote {
            try console.warn("The quote \(quote) has no end.")
            return .usage
        }
        if first == "coredata" { words.removeFirst() }
        return CommandLineTool(console, servers: servers).run(arguments(words))
    }

    /// Returns the arguments of a command with the store in its place.
    private func arguments(_ words: [String]) -> [String] {
        guard let (command, rest) = CommandLineTool.command(in: words), !rest.contains("--help"), !rest.contains("-h"),
            let place = command.syntax.operands.firstIndex(where: { Self.takesStore($0.name) }), place == 0
        else { return words }
        let name = words.prefix(words.count - rest.count)
        var model: [String] = []
        if let modelPath, command.syntax.options.contains(where: { $0.name == "model" }), !rest.contains("--model") {
            model = ["--model", modelPath]
        }
        return Array(name) + [path] + rest + model
    }

    private static func takesStore(_ operand: String) -> Bool {
        ["STORE", "STORE|MODEL", "MODEL", "OLD"].contains(operand)
    }
}
