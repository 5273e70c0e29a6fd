import CoreData

/// `coredata import`: brings objects from files into a store.
struct ImportCommand: Command {
    static let syntax = CommandSyntax(
        name: "import", summary: "Brings objects from NDJSON, JSON or CSV into a store, new or not.",
        operands: [
            .storeFile, .init(name: "FILE", help: "A file as 'coredata export' writes it, or a folder of CSV files."),
        ],
        options: [
            .init(name: "entity", value: "NAME", help: "The entity of rows that have no objectID."),
            .init(
                name: "format", value: "FORMAT", help: "ndjson, json or csv; otherwise the file's ending says it.",
                choices: ["ndjson", "json", "csv"]),
            .init(
                name: "model", value: "MODEL", help: "The model of a new store: a model file, or a store with one."),
            .init(name: "blobs", value: "FOLDER", help: "The folder of files with binary values."),
            .init(
                name: "match", value: "KEY,…",
                help: "Update objects that have these values; objectID is the object itself."),
            .init(name: "batch", value: "N", help: "Save after each N rows; a stopped import goes on where it was."),
            .init(name: "restart", value: nil, help: "Forget the progress of an import that was stopped."),
            .init(name: "skip-refused", value: nil, help: "Write the other rows when some are refused."),
            .init(name: "dry-run", value: nil, help: "Only check the rows, and write nothing."),
            .init(
                name: "report", value: "FORMAT", help: "text (the default) or json.", choices: ["text", "json"]),
        ],
        notes: """
            Every row is checked first. If one is refused, nothing is written, and all of them are named with
            their lines. Without --batch everything is one transaction. Rows update an object that has the
            same values of a uniqueness constraint; the others are inserted. In a table that was empty they
            keep the keys that they have in the file. Properties that a row does not name get the model's
            defaults. Of a relationship one side is enough. Exit status 3: done, but without some rows.

              coredata import New.sqlite store.ndjson --model Shop.momd
              coredata import Store.sqlite items.csv --entity Item --match code
              coredata import Store.sqlite large.ndjson --batch 10000
            """)

    private let path: String
    private let file: String
    private let entity: String?
    private let format: ImportSource.Format?
    private let modelPath: String?
    private let blobs: String?
    private let isJSON: Bool
    private var options = StoreImport.Options()

    private static let shownProblems = 100

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        file = arguments.operands[1]
        entity = arguments.values["entity"]
        format = arguments.values["format"].flatMap { ImportSource.Format(rawValue: $0) }
        modelPath = arguments.values["model"]
        blobs = arguments.values["blobs"]
        isJSON = arguments.values["report"] == "json"
        options.matchKeys = try arguments.names("match", of: "property") ?? []
        options.batchSize = try arguments.count("batch")
        if options.batchSize == 0 { throw UsageError(message: "--batch takes a number from 1 on.") }
        options.restarts = arguments.flags.contains("restart")
        options.skipsRefused = arguments.flags.contains("skip-refused")
        options.isDryRun = arguments.flags.contains("dry-run")
    }

    func run(_ console: Console) throws -> ExitStatus {
        let target = try ImportTarget(path: path, modelPath: modelPath, isDryRun: options.isDryRun)
        let report: ImportReport
        do {
            report = try run(target, console)
        } catch {
            target.discard()
            throw error
        }
        if report.isStopped || options.isDryRun { target.discard() }
        try show(report, console)
        return report.isStopped ? .failure : report.problems.isEmpty ? .success : .findings
    }

    private func run(_ target: ImportTarget, _ console: Console) throws -> ImportReport {
        let store = try WritableStore(path: target.path, modelPath: modelPath)
        let schema = ImportSchema(store.model)
        let source = try ImportSource(path: file, format: format, entity: entity, schema: schema)
        let folder = blobs.map { URL(fileURLWithPath: $0) }
        let work = try StoreImport(
            into: store, from: source, schema: schema, blobs: folder, options: options, console: console)
        let report = try work.run()
        try store.close()
        return report
    }

    private func show(_ report: ImportReport, _ console: Console) throws {
        if isJSON { return try console.write(json: report.json) }
        try console.output.flush()
        for problem in report.problems.prefix(Self.shownProblems) { try console.errors.write(line: problem.sentence) }
        let more = report.problems.count - Self.shownProblems
        if more > 0 { try console.errors.write(line: "and \(more) more; --report json shows all") }
        if !report.isStopped { return try console.write(lines: report.lines) }
        let written = report.inserted + report.updated
        let rest = written == 0 ? "Nothing was written." : "\(written) objects were written before."
        let count = report.problems.count
        try console.warn("\(count == 1 ? "1 problem" : "\(count) problems") in \(file). \(rest)")
    }
}
