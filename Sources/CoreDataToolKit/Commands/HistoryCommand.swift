import CoreData

/// `coredata history`: the transactions of a store's persistent history.
struct HistoryCommand: Command {
    static let syntax = CommandSyntax(
        name: "history", summary: "Shows the transactions of a store: when, by whom, what changed.",
        operands: [.storeFile],
        options: [
            .init(name: "changes", value: nil, help: "Show each change, with properties and preserved values."),
            .init(name: "entity", value: "NAME,…", help: "Only changes of these entities and their subentities."),
            .init(name: "object", value: "URI", help: "Everything that happened to one object: Item/p12."),
            .init(name: "since", value: "DATE", help: "Only transactions of this date (2026-01-31) or later."),
            .init(name: "limit", value: "N", help: "Only the last N transactions."),
            .init(
                name: "purge-before", value: "DATE",
                help: "Delete the transactions before this date, after a question."),
            .yes, .format("text", "json", "ndjson"), .model,
        ],
        notes: """
            A store has a history if its program asks for one (NSPersistentHistoryTrackingKey). Dates are in
            UTC. JSON has the changes with --changes or --object; NDJSON has a line for each transaction.
            Programs that have not read the transactions that are purged must read all objects again: their
            tokens are refused.

              coredata history Store.sqlite --since 2026-01-31 --changes
              coredata history Store.sqlite --object Item/p12
            """)

    private let path: String
    private let modelPath: String?
    private let showsChanges: Bool
    private let entities: [String]?
    private let object: String?
    private let since: Date?
    private let limit: Int?
    private let purgedBefore: Date?
    private let asksNothing: Bool
    private let format: String

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        object = arguments.values["object"]
        showsChanges = arguments.flags.contains("changes") || object != nil
        entities = try arguments.names("entity", of: "entity")
        since = try Self.date("since", arguments)
        limit = try arguments.count("limit")
        purgedBefore = try Self.date("purge-before", arguments)
        asksNothing = arguments.flags.contains("yes")
        format = arguments.format
        if purgedBefore != nil, showsChanges || entities != nil || since != nil || limit != nil {
            throw UsageError(message: "--purge-before deletes whole transactions: it takes no other condition.")
        }
    }

    private static func date(_ option: String, _ arguments: CommandSyntax.Arguments) throws(UsageError) -> Date? {
        guard let text = arguments.values[option] else { return nil }
        guard let date = DateText.date(from: text) else {
            throw UsageError(
                message: "--\(option) takes a date such as 2026-01-31 or 2026-01-31T12:00Z, not '\(text)'.")
        }
        return date
    }

    func run(_ console: Console) throws -> ExitStatus {
        if let purgedBefore { return try purge(before: purgedBefore, console) }
        let opened = try OpenedStore(path: path, modelPath: modelPath, isSampled: true)
        defer { opened.close() }
        for problem in opened.store.problems { try console.warn(problem) }
        var timeline = HistoryTimeline()
        timeline.since = since
        timeline.limit = limit
        timeline.object = try object.map { try ObjectIdentities(opened).identity(ofArgument: $0) }
        if let entities {
            let named = try entities.map { try opened.model.entity(named: $0, in: opened.store.file) }
            timeline.entities = opened.model.entities.filter { entity in
                named.contains { entity.isKindOf(entity: $0) }
            }
        }
        var writer = HistoryWriter(console, opened.model, format: format, showsChanges: showsChanges)
        try opened.context.performAndWait {
            try timeline.read(opened.context) { try writer.write($0, $1) }
        }
        let coordinator = opened.context.persistentStoreCoordinator
        try writer.finish(hasHistory: coordinator?.currentPersistentHistoryToken(fromStores: nil) != nil)
        return .success
    }

    private func purge(before date: Date, _ console: Console) throws -> ExitStatus {
        let store = try WritableStore(path: path, modelPath: modelPath)
        let context = store.context
        let text = DateText.text(of: date)
        let all = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        let older = NSPersistentHistoryTransaction.fetchRequest
        older?.predicate = NSPredicate(format: "timestamp < %@", date as NSDate)
        all.fetchRequest = older
        let count = try context.performAndWait { try Self.count(all, context) }
        let words = "\(count) \(count == 1 ? "transaction" : "transactions") before \(text)"
        guard count > 0, try asksNothing || console.confirm("Delete \(words) from the history of '\(path)'?") else {
            try console.output.write(
                line: count > 0 ? "Nothing was deleted." : "There is no transaction before \(text).")
            try store.close()
            return .success
        }
        let deletion = NSPersistentHistoryChangeRequest.deleteHistory(before: date)
        let deleted = try context.performAndWait { try Self.count(deletion, context) }
        try store.close()
        try console.output.write(line: "Deleted \(deleted) \(deleted == 1 ? "transaction" : "transactions").")
        return .success
    }

    private static func count(
        _ request: NSPersistentHistoryChangeRequest, _ context: NSManagedObjectContext
    ) throws -> Int {
        request.resultType = .count
        return (try context.execute(request) as? NSPersistentHistoryResult)?.result as? Int ?? 0
    }
}

/// Writes transactions as text or JSON.
private struct HistoryWriter {
    private let console: Console
    private let model: StoreModel
    private let format: String
    private let showsChanges: Bool
    private var count = 0

    init(_ console: Console, _ model: StoreModel, format: String, showsChanges: Bool) {
        self.console = console
        self.model = model
        self.format = format
        self.showsChanges = showsChanges
    }

    mutating func write(
        _ transaction: NSPersistentHistoryTransaction, _ changes: [NSPersistentHistoryChange]
    ) throws {
        count += 1
        switch format {
        case "json":
            let lines = json(transaction, changes).indented().split(separator: "\n").map { "  " + $0 }
            try console.output.write((count == 1 ? "[\n" : ",\n") + lines.joined(separator: "\n"))
        case "ndjson": try console.output.write(json(transaction, changes).compact + "\n")
        default:
            try console.output.write(line: line(transaction, changes))
            if showsChanges { for change in changes { try console.output.write(line: "    " + text(change)) } }
        }
    }

    func finish(hasHistory: Bool) throws {
        if format == "json" { try console.output.write(count == 0 ? "[]\n" : "\n]\n") }
        if format == "text", count == 0 {
            try console.output.write(line: hasHistory ? "There is no such transaction." : "The store has no history.")
        }
    }

    // MARK: Text

    private func line(_ transaction: NSPersistentHistoryTransaction, _ changes: [NSPersistentHistoryChange]) -> String {
        let counts = NSPersistentHistoryChangeType.inOrder.compactMap { type -> String? in
            let count = changes.count { $0.changeType == type }
            return count > 0 ? "\(count) \(type.word)" : nil
        }
        let names = [transaction.author, transaction.contextName, transaction.processID].compactMap { $0 }
            .filter { !$0.isEmpty }
        return [
            "\(transaction.transactionNumber)", DateText.text(of: transaction.timestamp),
            names.joined(separator: " · "), counts.isEmpty ? "no changes" : counts.joined(separator: ", "),
        ].filter { !$0.isEmpty }.joined(separator: "  ")
    }

    private func text(_ change: NSPersistentHistoryChange) -> String {
        var text = "\(change.changeType.word) \(ObjectName(change.changedObjectID).text)"
        let names = (change.updatedProperties ?? []).map(\.name).sorted()
        if !names.isEmpty { text += ": " + names.joined(separator: ", ") }
        let values = tombstone(change).map { "\($0.name) = \($0.value.tableText)" }
        if !values.isEmpty { text += ": " + values.joined(separator: ", ") }
        return text
    }

    private func tombstone(_ change: NSPersistentHistoryChange) -> [(name: String, value: CellValue)] {
        let attributes = change.changedObjectID.entity.attributesByName
        return (change.tombstone ?? [:]).compactMap { key, value in
            guard let name = key.base as? String, let attribute = attributes[name] else { return nil }
            if let composite = attribute as? NSCompositeAttributeDescription {
                return (name, CellValue(value, of: composite, model.transformables))
            }
            let isTransformable = model.transformables.contains(ObjectIdentifier(attribute))
            return (name, CellValue(value, type: attribute.attributeType, isTransformable: isTransformable))
        }.sorted { $0.name < $1.name }
    }

    // MARK: JSON

    private func json(
        _ transaction: NSPersistentHistoryTransaction, _ changes: [NSPersistentHistoryChange]
    ) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("transaction", .integer(transaction.transactionNumber)),
            .init("date", .string(DateText.text(of: transaction.timestamp))),
            .init("author", .optional(transaction.author)), .init("context", .optional(transaction.contextName)),
            .init("process", .string(transaction.processID)), .init("bundle", .string(transaction.bundleID)),
        ]
        for type in NSPersistentHistoryChangeType.inOrder {
            members.append(.init(type.word, .integer(changes.count { $0.changeType == type })))
        }
        if showsChanges { members.append(.init("changes", .array(changes.map(json)))) }
        return .object(members)
    }

    private func json(_ change: NSPersistentHistoryChange) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("object", .string(ObjectName(change.changedObjectID).text)),
            .init("kind", .string(change.changeType.word)),
        ]
        if let properties = change.updatedProperties {
            members.append(.init("properties", .array(properties.map(\.name).sorted().map { .string($0) })))
        }
        if change.tombstone != nil {
            members.append(
                .init("tombstone", .object(tombstone(change).map { JSONValue.Member($0.name, $0.value.json) })))
        }
        return .object(members)
    }
}

extension NSPersistentHistoryChangeType {
    fileprivate static let inOrder: [NSPersistentHistoryChangeType] = [.insert, .update, .delete]

    fileprivate var word: String {
        switch self {
        case .insert: "inserted"
        case .update: "updated"
        case .delete: "deleted"
        }
    }
}
