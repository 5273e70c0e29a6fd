import CoreData

/// `coredata edit insert`: adds an object to a store.
struct EditInsertCommand: Command {
    static let syntax = CommandSyntax(
        name: "edit insert", summary: "Adds an object to a store.",
        operands: [.storeFile, .entity, EditArguments.assignments(mayBeMissing: true)], options: EditArguments.options,
        notes: EditArguments.notes("coredata edit insert Store.sqlite Item name=Bolt price=0.25 maker=Maker/p1"))

    private let arguments: EditArguments

    init(_ given: CommandSyntax.Arguments) throws(UsageError) {
        let assignments = try EditArguments.assignments(given.operands.dropFirst(2))
        arguments = try EditArguments(.insert(entity: given.operands[1], assignments), given)
    }

    func run(_ console: Console) throws -> ExitStatus { try arguments.run(console) }
}

/// `coredata edit set`: changes values of an object.
struct EditSetCommand: Command {
    static let syntax = CommandSyntax(
        name: "edit set", summary: "Changes values of an object.",
        operands: [.storeFile, EditArguments.object, EditArguments.assignments(mayBeMissing: false)],
        options: EditArguments.options,
        notes: EditArguments.notes("coredata edit set Store.sqlite Item/p12 price=0.3 tags+=Tag/p2 note=nil"))

    private let arguments: EditArguments

    init(_ given: CommandSyntax.Arguments) throws(UsageError) {
        let assignments = try EditArguments.assignments(given.operands.dropFirst(2))
        arguments = try EditArguments(.set(object: given.operands[1], assignments), given)
    }

    func run(_ console: Console) throws -> ExitStatus { try arguments.run(console) }
}

/// `coredata edit delete`: deletes objects by the delete rules of their relationships.
struct EditDeleteCommand: Command {
    static let syntax = CommandSyntax(
        name: "edit delete", summary: "Deletes objects, and others by the delete rules of the model.",
        operands: [.storeFile, .init(name: "URI", help: EditArguments.object.help, repeats: true)],
        options: EditArguments.options,
        notes: """
            Shows all objects that are deleted or changed with these, and asks. A copy of the store is kept
            beside it until the next edit: 'coredata edit undo STORE' restores it.

              coredata edit delete Store.sqlite Item/p12 Item/p13
            """)

    private let arguments: EditArguments

    init(_ given: CommandSyntax.Arguments) throws(UsageError) {
        arguments = try EditArguments(.delete(objects: Array(given.operands.dropFirst())), given)
    }

    func run(_ console: Console) throws -> ExitStatus { try arguments.run(console) }
}

/// `coredata edit undo`: restores a store as it was before its last edit.
struct EditUndoCommand: Command {
    static let syntax = CommandSyntax(
        name: "edit undo", summary: "Restores a store as it was before its last edit.", operands: [.storeFile],
        options: [.yes],
        notes: """
            If another program has changed the store since the edit, that is taken back, too, but only with
            --yes. Undoing again brings back what was undone.

              coredata edit undo Store.sqlite
            """)

    private let path: String
    private let isConfirmed: Bool

    init(_ arguments: CommandSyntax.Arguments) {
        path = arguments.operands[0]
        isConfirmed = arguments.flags.contains("yes")
    }

    func run(_ console: Console) throws -> ExitStatus {
        // Reports a file that is missing or no store.
        let url = try StoreFile(path: path).originalURL
        try EditSession.requireUnused(url)
        let backup = StoreBackup(of: url)
        guard let manifest = try backup.last() else {
            throw ToolError("There is no copy of '\(path)' from before an edit: nothing can be undone.")
        }
        let isChanged = manifest.after != StoreBackup.FileState(of: url)
        if isChanged, !isConfirmed {
            throw ToolError(
                "'\(path)' was changed after the edit. Use --yes to restore it nevertheless; "
                    + "'coredata edit undo' brings the changes back.")
        }
        let date = DateText.text(of: manifest.made)
        guard try isConfirmed || console.confirm("Restore '\(path)' as it was before the edit of \(date)?") else {
            try console.warn("Nothing was changed.")
            return .failure
        }
        try backup.restore(journalMode: EditSession.journalMode(of: url))
        try console.output.write(line: "Restored the store as it was before the edit of \(date).")
        return .success
    }
}

/// The common part of the commands that change objects.
struct EditArguments {
    static let object = CommandSyntax.Operand(
        name: "URI", help: "The object: Item/p12, as the command shows it, or x-coredata://…/Item/p12.")
    static let options: [CommandSyntax.Option] = [
        .init(name: "dry-run", value: nil, help: "Show what would change, and change nothing."), .yes,
        .format("text", "json"), .model,
    ]

    static func assignments(mayBeMissing: Bool) -> CommandSyntax.Operand {
        .init(
            name: "KEY=VALUE", help: "A value to set; KEY+=… and KEY-=… for members of to-many relationships.",
            mayBeMissing: mayBeMissing, repeats: true)
    }

    static func notes(_ example: String) -> String {
        """
        A VALUE is written as the command shows it: texts as they are, numbers, true or false, dates as
        2026-01-31 or 2026-01-31T12:00:00Z, UUIDs, bytes as base64 or from a file as @FILE, objects as
        Item/p12, several as [Item/p12,Item/p13]. nil is no value; KEY= is the empty text. Elements of
        composite attributes are set by their path: size.width=3.

        Shows what changes, and asks. A copy of the store is kept beside it until the next edit:
        'coredata edit undo STORE' restores it. A store that another program has open is not edited.

          \(example)
        """
    }

    static func assignments(_ texts: ArraySlice<String>) throws(UsageError) -> [Assignment] {
        var assignments: [Assignment] = []
        for text in texts { assignments.append(try Assignment(text)) }
        return assignments
    }

    private let operation: EditOperation
    private let path: String
    private let modelPath: String?
    private let isConfirmed: Bool
    private let isDryRun: Bool
    private let isJSON: Bool

    init(_ operation: EditOperation, _ arguments: CommandSyntax.Arguments) throws(UsageError) {
        self.operation = operation
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        isConfirmed = arguments.flags.contains("yes")
        isDryRun = arguments.flags.contains("dry-run")
        isJSON = arguments.isJSON
        if isJSON, !isConfirmed, !isDryRun {
            throw UsageError(message: "--format json asks nothing: it needs --yes or --dry-run.")
        }
    }

    func run(_ console: Console) throws -> ExitStatus {
        let session = try EditSession(operation, path: path, modelPath: modelPath)
        for problem in session.problems { try console.warn(problem) }
        let report = EditReport(changes: session.changes)
        if !isJSON { try console.output.write(report.text(style: console.style)) }
        if isDryRun || session.changes.isEmpty {
            if isJSON { try console.write(json: report.json(done: nil)) }
            return .success
        }
        guard try isConfirmed || console.confirm("Change '\(path)'?") else {
            try console.warn("Nothing was changed.")
            return .failure
        }
        let inserted = try session.perform()
        if isJSON {
            try console.write(json: report.json(done: (inserted, StoreBackup(of: session.url))))
        } else {
            for name in inserted { try console.output.write(line: "Inserted \(name.text).") }
            try console.output.write(line: "Changed. 'coredata edit undo \(path)' takes it back.")
        }
        return .success
    }
}
