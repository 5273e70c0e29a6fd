import CoreData

/// `coredata report`: writes a page of HTML that shows a store.
struct ReportCommand: Command {
    static let syntax = CommandSyntax(
        name: "report", summary: "Writes a page about a store: diagram, counts, dates, a searchable sample.",
        operands: [.store],
        options: [
            .init(name: "output", value: "FILE", help: "The file to write (also -o); without it the standard output."),
            .init(name: "limit", value: "N", help: "Show at most N objects of each entity; 100 by default."),
            .model,
        ],
        notes: """
            The page is one file that needs no network: a browser shows it anywhere, in light or dark. It has
            the entities as a diagram, objects by entity and by date, what is wrong with the store, and the
            first objects of each entity with links between them and with their pictures.

              coredata report Store.sqlite -o report.html
            """)

    private let path: String
    private let output: String?
    private let limit: Int
    private let modelPath: String?

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        output = arguments.values["output"]
        limit = try arguments.count("limit") ?? 100
        modelPath = arguments.values["model"]
    }

    func run(_ console: Console) throws -> ExitStatus {
        let store = try ReadableStore(path: path, modelPath: modelPath, isSampled: true)
        defer { store.file.close() }
        let check = try StoreCheck(path: path, modelPath: modelPath, on: console)
        let contents = try ReportContents(store, limit: limit, findings: check.findings.map(\.sentence))
        guard let output else {
            try write(contents, to: console.output, console)
            return .success
        }
        try OutputFile.write(output) { try write(contents, to: $0, console) }
        try console.output.write(line: "written \(output)")
        return .success
    }

    private func write(_ contents: ReportContents, to writer: OutputWriter, _ console: Console) throws {
        var progress = ProgressBar("reporting", total: Int64(contents.samples.count), on: console)
        try ReportPage(contents).write(to: writer) { try progress.advance() }
        try progress.finish()
    }
}
