import CoreData

/// `coredata export`: writes the objects of a store in a format of other programs.
struct ExportCommand: Command {
    static let syntax = CommandSyntax(
        name: "export", summary: "Writes all objects with their relationships: NDJSON, JSON, CSV or SQL.",
        operands: [.store],
        options: [
            .init(name: "entity", value: "NAME,…", help: "Only objects of these entities and their subentities."),
            .init(
                name: "output", value: "PATH",
                help: "The file to write, or the folder of CSV files; without it the output."),
            .format("ndjson", "json", "csv", "sql"),
            .init(
                name: "blobs", value: "FOLDER",
                help: "Write binary values to files in this folder, and name these files."
            ),
            .init(
                name: "safe-csv", value: nil, help: "Mark cells that a spreadsheet would take for formulas as text."),
            .model,
        ],
        notes: """
            Each object has its identity (objectID), its attributes and its relationships as identities of
            other objects: "maker": "Maker/p3", "tags": ["Tag/p1", "Tag/p2"]. Dates are ISO 8601 in UTC with
            all their digits, binary data is base64, and transformable values have their archive beside them,
            so that 'coredata import' makes the same objects of it. CSV has a file for each entity; lists are
            JSON in a cell. SQL makes natural tables in any database that takes SQLite's SQL.

              coredata export Store.sqlite > store.ndjson
              coredata export Store.sqlite --entity Item --format csv --output items.csv
              coredata export Store.sqlite --format csv --output tables/ --blobs pictures/
              coredata export Store.sqlite --format sql | sqlite3 natural.sqlite
            """)

    private let path: String
    private let modelPath: String?
    private let entities: [String]?
    private let output: String?
    private let format: String
    private let blobs: String?
    private let isSafe: Bool

    init(_ arguments: CommandSyntax.Arguments) throws(UsageError) {
        path = arguments.operands[0]
        modelPath = arguments.values["model"]
        entities = try arguments.names("entity", of: "entity")
        output = arguments.values["output"]
        format = arguments.format
        blobs = arguments.values["blobs"]
        isSafe = arguments.flags.contains("safe-csv")
        if isSafe, format != "csv" { throw UsageError(message: "--safe-csv is for --format csv.") }
    }

    func run(_ console: Console) throws -> ExitStatus {
        let store = try ReadableStore(path: path, modelPath: modelPath)
        defer { store.file.close() }
        for problem in store.problems { try console.warn(problem) }
        let export = try GraphExport(store, entities: entities, blobs: try blobs.map { try BlobFolder($0) })
        if format == "csv", output?.hasSuffix(".csv") != true {
            try writeFolder(export, console)
        } else if let output {
            let count = try OutputFile.write(output) { try write(export, to: $0, console) }
            try report(count, export, [output], console)
        } else {
            _ = try write(export, to: console.output, console)
        }
        return .success
    }

    private func write(_ export: GraphExport, to writer: OutputWriter, _ console: Console) throws -> Int64 {
        switch format {
        case "csv":
            guard export.entities.count == 1 else { throw severalTables(export) }
            var format = SingleCSVExport(output: writer, isSafe: isSafe)
            return try export.write(&format, console)
        case "sql":
            var format = try SQLExport(writer)
            let count = try export.write(&format, console)
            try format.finish()
            return count
        default:
            var format = JSONExport(writer, isArray: self.format == "json")
            let count = try export.write(&format, console)
            try format.finish()
            return count
        }
    }

    private func writeFolder(_ export: GraphExport, _ console: Console) throws {
        guard let output else {
            _ = try write(export, to: console.output, console)
            return
        }
        let folder = URL(fileURLWithPath: output)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw ToolError("The folder '\(output)' cannot be created: \(ErrorText.line(error))")
        }
        var format = CSVExport(folder: folder, isSafe: isSafe)
        let count = try export.write(&format, console)
        try report(count, export, format.paths, console)
    }

    private func severalTables(_ export: GraphExport) -> ToolError {
        let names = export.entities.prefix(12).compactMap(\.name).joined(separator: ", ")
        return ToolError(
            "CSV has one entity in a file, and these are \(export.entities.count) (\(names)). Name a folder with "
                + "--output, or one with --entity.")
    }

    private func report(_ count: Int64, _ export: GraphExport, _ files: [String], _ console: Console) throws {
        for file in files { try console.output.write(line: "written \(file)") }
        let objects = count == 1 ? "1 object" : "\(count) objects"
        let entities = export.entities.count == 1 ? "1 entity" : "\(export.entities.count) entities"
        try console.output.write("\(objects) of \(entities)\n")
    }
}
