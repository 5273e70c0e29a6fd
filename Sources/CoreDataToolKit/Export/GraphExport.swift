import CoreData

/// The objects of a store, written one by one, in the order of their entities' names and of keys.
struct GraphExport {
    /// The objects of an entity: calls a function with the values and the key of each.
    typealias Objects = (_ body: (_ values: [CellValue], _ key: Int64) throws -> Void) throws -> Void

    /// A writer of objects in one format.
    protocol Format {
        mutating func write(_ reader: ObjectReader, _ objects: Objects) throws
    }

    let store: ReadableStore
    /// The entities whose objects are written, without abstract ones.
    let entities: [NSEntityDescription]
    let blobs: BlobFolder?

    /// - Parameter names: the entities whose objects and those of whose subentities are written;
    ///   nil for all.
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
        defer { try? progress.finish() }
        do {
            for entity in entities {
                let reader = try ObjectReader(entity, in: store)
                try format.write(reader) { body in
                    try reader.forEach { key, values in
                        try body(try blobs.map { try separated(values, key, reader, $0) } ?? values, key)
                        count += 1
                        try progress.advance()
                    }
                }
            }
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, store.file)
        }
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
    private var isFirst = true

    init(_ output: OutputWriter, isArray: Bool) {
        self.output = output
        self.isArray = isArray
    }

    mutating func write(_ reader: ObjectReader, _ objects: GraphExport.Objects) throws {
        let keys = reader.columns.map { JSONValue.string($0.name).compact }
        try objects { values, _ in
            if isArray { try output.write(isFirst ? "[\n" : ",\n") }
            isFirst = false
            try output.write(json: values.lazy.map(\.json), keys: keys, end: isArray ? "" : "\n")
        }
    }

    /// Ends the array.
    func finish() throws {
        if isArray { try output.write(isFirst ? "[]\n" : "\n]\n") }
    }
}

/// Comma-separated values of one entity.
struct SingleCSVExport: GraphExport.Format {
    let output: OutputWriter
    let isSafe: Bool

    func write(_ reader: ObjectReader, _ objects: GraphExport.Objects) throws {
        var format = CSVFormat(reader.columns, isSafe: isSafe)
        var count = 0
        try objects { values, _ in
            count += 1
            try format.write(values, to: output)
        }
        try format.finish(rowCount: count, to: output)
    }
}

/// A file of comma-separated values for each entity, in a folder.
struct CSVExport: GraphExport.Format {
    let folder: URL
    let isSafe: Bool
    private(set) var paths: [String] = []

    init(folder: URL, isSafe: Bool) {
        self.folder = folder
        self.isSafe = isSafe
    }

    mutating func write(_ reader: ObjectReader, _ objects: GraphExport.Objects) throws {
        let path = folder.appendingPathComponent(BlobFolder.fileName(reader.entity.name ?? "") + ".csv").path
        try OutputFile.write(path) { try SingleCSVExport(output: $0, isSafe: isSafe).write(reader, objects) }
        paths.append(path)
    }
}
