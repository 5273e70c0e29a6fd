import CoreData

/// The objects of a store, written one by one, in the order of their entities' names and of keys.
struct GraphExport {
    /// A writer of objects in one format.
    protocol Format {
        mutating func begin(_ reader: ObjectReader) throws
        mutating func write(_ values: [CellValue], key: Int64) throws
        mutating func end() throws
    }

    let store: ReadableStore
    /// The entities whose objects are written, without abstract ones.
    let entities: [NSEntityDescription]
    let blobs: BlobFolder?

    /// - Parameter names: the entities whose objects and those of whose subentities are written; nil
    ///   for all.
    /// - Throws: `ToolError` for an unknown entity.
    init(_ store: ReadableStore, entities names: [String]?, blobs: BlobFolder?) throws {
        self.store = store
        self.blobs = blobs
        let chosen = try names?.map { name throws(ToolError) in try store.entity(named: name) }
        entities = store.model.entities.filter { entity in
            !entity.isAbstract && (chosen?.contains { entity.isKindOf(entity: $0) } ?? true)
        }.sorted { $0.name ?? "" < $1.name ?? "" }
    }

    /// - Returns: the number of objects.
    func write(_ format: inout some Format, _ console: Console) throws -> Int64 {
        var count: Int64 = 0
        let total = store.survey.counts.values.reduce(0, &+)
        var progress = ProgressBar("exporting", total: total, on: console)
        do {
            for entity in entities {
                let reader = try ObjectReader(entity, in: store)
                try format.begin(reader)
                try reader.forEach { key, values in
                    try format.write(try blobs.map { try separated(values, key, reader, $0) } ?? values, key: key)
                    count += 1
                    try progress.advance()
                }
                try format.end()
            }
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, store.file)
        }
        try progress.finish()
        return count
    }

    /// Returns the values with the paths of files in the place of bytes.
    private func separated(
        _ values: [CellValue], _ key: Int64, _ reader: ObjectReader, _ blobs: BlobFolder
    ) throws -> [CellValue] {
        try zip(values, reader.columns).map { value, column in
            guard case .data(let data) = value else { return value }
            let path = try blobs.write(data, entity: reader.entity.name ?? "", key: key, attribute: column.name)
            return .structure(.object([.init("file", .string(path))]))
        }
    }
}

/// JSON: an object a line, in an array or without one.
struct JSONExport: GraphExport.Format {
    private let output: OutputWriter
    private let isArray: Bool
    private var names: [String] = []
    private var isFirst = true

    init(_ output: OutputWriter, isArray: Bool) {
        self.output = output
        self.isArray = isArray
    }

    mutating func begin(_ reader: ObjectReader) { names = reader.columns.map(\.name) }

    mutating func write(_ values: [CellValue], key: Int64) throws {
        if isArray { try output.write(isFirst ? "[\n" : ",\n") }
        isFirst = false
        let members = zip(names, values).map { JSONValue.Member($0, $1.json) }
        try output.write(json: .object(members), end: isArray ? "" : "\n")
    }

    func end() {}

    /// Ends the array.
    func finish() throws {
        if isArray { try output.write(isFirst ? "[]\n" : "\n]\n") }
    }
}

/// Comma-separated values of one entity.
struct SingleCSVExport: GraphExport.Format {
    private let output: OutputWriter
    private let isSafe: Bool
    private var format: CSVFormat?
    private var count = 0

    init(_ output: OutputWriter, isSafe: Bool) {
        self.output = output
        self.isSafe = isSafe
    }

    mutating func begin(_ reader: ObjectReader) { format = CSVFormat(reader.columns, isSafe: isSafe) }

    mutating func write(_ values: [CellValue], key: Int64) throws {
        count += 1
        try format?.write(values, to: output)
    }

    mutating func end() throws { try format?.finish(rowCount: count, to: output) }
}

/// A file of comma-separated values for each entity, in a folder.
struct CSVExport: GraphExport.Format {
    private let folder: URL
    private let isSafe: Bool
    private var file: OutputFile?
    private var format: SingleCSVExport?
    private(set) var names: [String] = []

    init(folder: URL, isSafe: Bool) {
        self.folder = folder
        self.isSafe = isSafe
    }

    mutating func begin(_ reader: ObjectReader) throws {
        let name = BlobFolder.fileName(reader.entity.name ?? "") + ".csv"
        names.append(name)
        let file = try OutputFile(folder.appendingPathComponent(name).path)
        self.file = file
        format = SingleCSVExport(file.writer, isSafe: isSafe)
        format?.begin(reader)
    }

    mutating func write(_ values: [CellValue], key: Int64) throws { try format?.write(values, key: key) }

    mutating func end() throws {
        try format?.end()
        try file?.finish()
    }
}
