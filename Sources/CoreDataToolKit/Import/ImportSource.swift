import Foundation

/// The files with objects to import.
struct ImportSource {
    enum Format: String, CaseIterable {
        case ndjson, json, csv

        /// Returns the format of a file by the ending of its name.
        init?(ending: String) {
            switch ending.lowercased() {
            case "ndjson", "jsonl": self = .ndjson
            case "json": self = .json
            case "csv": self = .csv
            default: return nil
            }
        }
    }

    struct File {
        let url: URL
        let size: Int64
        /// The entity of rows that name none.
        let entity: ImportSchema.Entity?
    }

    let files: [File]
    let format: Format
    let name: String
    private let schema: ImportSchema

    /// The number of bytes of all files.
    var size: Int64 { files.reduce(0) { $0 + $1.size } }

    /// - Parameter entity: the name of the entity of rows that name none.
    /// - Throws: `ToolError` for files that are missing or of no known format.
    init(path: String, format: Format?, entity: String?, schema: ImportSchema) throws {
        self.schema = schema
        let url = URL(fileURLWithPath: path)
        name = url.lastPathComponent
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ToolError("There is no file '\(path)'. Check the path.")
        }
        let known: ImportSchema.Entity?
        do {
            known = try entity.map { name throws(RowMistake) in try schema.entity(named: name) }
        } catch {
            throw ToolError("--entity \(entity ?? ""): \(error.reason)")
        }
        if isFolder.boolValue {
            guard format ?? .csv == .csv else {
                throw ToolError("'\(path)' is a folder. Only CSV files are imported from folders; name a file.")
            }
            self.format = .csv
            files = try Self.files(in: url, schema, only: known)
            return
        }
        guard let format = format ?? Format(ending: url.pathExtension) else {
            throw ToolError("The ending of '\(path)' does not tell its format. Add --format ndjson, json or csv.")
        }
        self.format = format
        files = [File(url: url, size: StoreFile.fileSize(path) ?? 0, entity: known)]
    }

    /// Returns the CSV files in a folder that have the name of an entity.
    private static func files(
        in folder: URL, _ schema: ImportSchema, only: ImportSchema.Entity?
    ) throws -> [File] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            Format(ending: ($0 as NSString).pathExtension) == .csv
        }
        let files = try names.sorted().compactMap { name -> File? in
            let url = folder.appendingPathComponent(name)
            let entityName = url.deletingPathExtension().lastPathComponent
            do {
                let entity = try schema.entity(fileName: entityName)
                if let only, only.index != entity.index { return nil }
                return File(url: url, size: StoreFile.fileSize(url.path) ?? 0, entity: entity)
            } catch let mistake as RowMistake {
                throw ToolError("'\(url.path)' has the name of no entity: \(mistake.reason)")
            }
        }
        if files.isEmpty { throw ToolError("The folder '\(folder.path)' has no file ENTITY.csv.") }
        return files
    }

    // MARK: Rows

    /// Passes all rows to a function, in the order of the files.
    ///
    /// - Parameter progress: called with the number of bytes that were read since the last call.
    func forEachRow(progress: (Int64) throws -> Void, _ body: (ImportRow) throws -> Void) throws {
        var number = 0
        for (index, file) in files.enumerated() {
            let bytes = try FileBytes(file.url)
            var position: Int64 = 0
            try forEachContent(of: file, bytes) { line, content in
                try body(ImportRow(number: number, file: index, line: line, content: content))
                number += 1
                try progress(bytes.position - position)
                position = bytes.position
            }
        }
    }

    private typealias Take = (_ line: Int, Result<ImportRow.Content, RowMistake>) throws -> Void

    private func forEachContent(of file: File, _ bytes: FileBytes, _ take: Take) throws {
        switch format {
        case .ndjson:
            while case let line = bytes.line, let text = try bytes.nextLine() {
                if text.allSatisfy({ [0x20, 0x09, 0x0d].contains($0) }) { continue }
                try take(line, Result { () throws(RowMistake) in try content(ofJSON: text, file) })
            }
        case .json:
            var elements = JSONElements(bytes, name: file.url.path)
            while let (line, text) = try elements.next() {
                try take(line, Result { () throws(RowMistake) in try content(ofJSON: text, file) })
            }
        case .csv: try forEachRecord(of: file, bytes, take)
        }
    }

    // MARK: JSON

    private func content(ofJSON text: [UInt8], _ file: File) throws(RowMistake) -> ImportRow.Content {
        let value: JSONValue
        do {
            value = try JSONReader.value(text)
        } catch {
            throw RowMistake(reason: "this is no JSON: \(error.reason)")
        }
        guard case .object(let members) = value else { throw RowMistake(reason: "this is no object") }
        return try content(members, file)
    }

    private func content(_ members: [JSONValue.Member], _ file: File) throws(RowMistake) -> ImportRow.Content {
        var identity: JSONValue?
        var seen: Set<String> = []
        for member in members {
            guard seen.insert(member.key).inserted else {
                throw RowMistake(property: member.key, reason: "the key is there twice")
            }
            if member.key == QueryColumn.objectID { identity = member.value }
        }
        let rest = members.filter { $0.key != QueryColumn.objectID }
        guard let identity, identity != .null else {
            guard let entity = file.entity else {
                throw RowMistake(reason: "the row has no objectID. Name the entity of such rows with --entity")
            }
            return ImportRow.Content(entity: entity, key: nil, members: rest)
        }
        guard case .string(let text) = identity else {
            throw RowMistake(property: QueryColumn.objectID, reason: "this is no text like \"Item/p1\"")
        }
        return try content(identity: text, rest, file)
    }

    private func content(
        identity: String, _ members: [JSONValue.Member], _ file: File
    ) throws(RowMistake) -> ImportRow.Content {
        let (entity, key) = try schema.row(identity)
        if let wanted = file.entity, !entity.description.isKindOf(entity: wanted.description) {
            throw RowMistake(
                property: QueryColumn.objectID, reason: "'\(identity)' is not an object of '\(wanted.name)'")
        }
        return ImportRow.Content(entity: entity, key: key, members: members)
    }

    // MARK: CSV

    private func forEachRecord(of file: File, _ bytes: FileBytes, _ take: Take) throws {
        let reader = CSVReader(bytes)
        guard let first = try reader.next() else { throw ToolError("'\(file.url.path)' is empty: it has no header.") }
        let header = try header(first, file)
        while let record = try reader.next() {
            let result: Result<ImportRow.Content, RowMistake>
            switch record.fields {
            case .success(let fields) where fields == [nil] && header.count > 1: continue
            case .success(let fields):
                result = Result { () throws(RowMistake) in try content(fields, header, file) }
            case .failure(let failure): result = .failure(RowMistake(reason: failure.reason))
            }
            try take(record.line, result)
        }
    }

    private func header(_ record: CSVReader.Record, _ file: File) throws -> [String] {
        func wrong(_ reason: String) -> ToolError { ToolError("The header of '\(file.url.path)' is wrong: \(reason)") }
        guard case .success(let fields) = record.fields else {
            if case .failure(let failure) = record.fields { throw wrong(failure.reason) }
            return []
        }
        let names = fields.map { $0 ?? "" }
        if names.contains("") { throw wrong("a column has no name.") }
        if let twice = names.first(where: { name in names.filter { $0 == name }.count > 1 }) {
            throw wrong("the column '\(twice)' is there twice.")
        }
        guard file.entity != nil || names.contains(QueryColumn.objectID) else {
            throw ToolError("'\(file.url.path)' has no column objectID. Name the entity of its rows with --entity.")
        }
        guard let entity = file.entity else { return names }
        for name in names where name != QueryColumn.objectID && !schema.isProperty(name, ofOrBelow: entity) {
            do {
                _ = try schema.property(name, of: entity)
            } catch {
                throw wrong("'\(name)' is no property. \(error.reason)")
            }
        }
        return names
    }

    private func content(
        _ fields: [CSVReader.Field], _ header: [String], _ file: File
    ) throws(RowMistake) -> ImportRow.Content {
        guard fields.count == header.count else {
            throw RowMistake(reason: "the row has \(fields.count) fields, but the header \(header.count)")
        }
        let identity = zip(header, fields).first { $0.0 == QueryColumn.objectID }?.1
        var row = try content(identity.map { [.init(QueryColumn.objectID, .string($0))] } ?? [], file)
        var members: [JSONValue.Member] = []
        for (name, field) in zip(header, fields) where name != QueryColumn.objectID {
            // A column of another entity of the file is empty.
            if field == nil, row.entity.properties[name] == nil { continue }
            let property = try schema.property(name, of: row.entity)
            members.append(.init(name, try CSVValue.json(field, of: property, name)))
        }
        row = ImportRow.Content(entity: row.entity, key: row.key, members: members)
        return row
    }
}
