import CoreData

/// Finds values of a table that contradict the model: values of another kind, keys of missing rows,
/// names of missing files.
struct CellChecks {
    enum Fault: Hashable {
        case kind(String)
        case danglingKey
        case missingFile
    }

    /// A kind of fault in a column, with the rows that have it.
    struct Finding {
        let cell: StoreInspection.Cell
        let fault: Fault
        let count: Int64
        let keys: [Int64]
        /// The names of the missing files of these rows.
        var files: [String] = []

        private var fileList: String {
            files.prefix(3).map { DisplayWidth.printable($0) }.joined(separator: ", ") + (files.count > 3 ? ", …" : "")
        }

        var sentence: String {
            let examples = keys.prefix(3).map { "p\($0)" }.joined(separator: ", ") + (count > 3 ? ", …" : "")
            let objects =
                "\(cell.entity).\(cell.property) of \(count) \(count == 1 ? "object" : "objects") (\(examples))"
            return switch fault {
            case .kind(let wanted): "\(objects) is not \(wanted); the value is shown as it is in the file."
            case .danglingKey: "\(objects) leads to a row that is not there."
            case .missingFile: "\(objects): the file with the value is missing\(files.isEmpty ? "" : ": \(fileList)")."
            }
        }
    }

    /// A value that contradicts the model, as it is in the file.
    struct OddCell {
        let cell: StoreInspection.Cell
        let fault: Fault
        let value: SQLiteReader.Value
    }

    struct Check {
        let cell: StoreInspection.Cell
        let fault: Fault
        /// An SQL condition that is true for a value with the fault; for missing files, true for
        /// any file.
        let condition: String
    }

    private let table: String
    let checks: [Check]
    private let folder: URL

    private static let group = 100

    /// - Parameters:
    ///   - entity: the entity whose properties are checked; nil for all of the table.
    ///   - properties: the properties to check, including all elements of composite attributes; nil
    ///     for all.
    init(
        _ table: StoreInspection.EntityTable, entity: NSEntityDescription?, properties: Set<String>? = nil,
        file: StoreFile
    ) {
        self.table = SQLiteReader.identifier(table.name)
        folder = file.externalDataFolder
        let owners = entity?.lineage
        checks = table.cells.filter { cell in
            (owners?.contains(cell.entity) ?? true)
                && (properties.map { Self.covers($0, cell.property) } ?? true)
        }.flatMap(Self.checks)
    }

    /// Whether properties include a property, or the composite attribute of an element, which is
    /// named by its path.
    private static func covers(_ properties: Set<String>, _ property: String) -> Bool {
        properties.contains(property) || properties.contains { property.hasPrefix($0 + ".") }
    }

    // MARK: Conditions

    private static func checks(of cell: StoreInspection.Cell) -> [Check] {
        let column = "t." + SQLiteReader.identifier(cell.column)
        let type = "typeof(\(column))"
        func kind(_ wanted: String, _ condition: String) -> Check {
            Check(cell: cell, fault: .kind(wanted), condition: "\(column) IS NOT NULL AND \(condition)")
        }
        switch cell.content {
        case .integer(let bits):
            let whole = "\(type) NOT IN ('integer', 'real') OR \(column) <> CAST(\(column) AS INTEGER)"
            if bits == 64 { return [kind("a whole number", "(\(whole))")] }
            let limit = 1 << (bits - 1)
            return [
                kind("a whole number of \(bits) bits", "(\(whole) OR \(column) NOT BETWEEN \(-limit) AND \(limit - 1))")
            ]
        case .boolean: return [kind("true or false", "\(column) NOT IN (0, 1)")]
        case .number: return [kind("a number", "\(type) NOT IN ('integer', 'real')")]
        case .date: return [kind("a date", "\(type) NOT IN ('integer', 'real')")]
        case .decimal:
            let text = "\(type) = 'text' AND \(column) <> 'NaN' AND (\(column) = '' OR \(column) GLOB '*[^0-9eE+.-]*')"
            return [kind("a decimal number", "(\(type) = 'blob' OR \(text))")]
        case .text: return [kind("a text", "\(type) = 'blob'")]
        case .uuid: return [kind("a UUID of 16 bytes", "(\(type) <> 'blob' OR length(\(column)) <> 16)")]
        case .bytes(let isExternal):
            let bytes = kind("bytes", "\(type) <> 'blob'")
            if !isExternal { return [bytes] }
            return [bytes, Check(cell: cell, fault: .missingFile, condition: isFile(column))]
        case .key(let table):
            let key = kind("a key", "\(type) <> 'integer'")
            guard let table else { return [key] }
            let there = "EXISTS (SELECT 1 FROM \(SQLiteReader.identifier(table)) d WHERE d.Z_PK = \(column))"
            return [key, Check(cell: cell, fault: .danglingKey, condition: "\(type) = 'integer' AND NOT \(there)")]
        }
    }

    /// Returns an SQL condition for values that name an external file.
    static func isFile(_ column: String) -> String {
        // Only the beginning of short values is read: a file's name is 36 characters long.
        "typeof(\(column)) = 'blob' AND length(\(column)) BETWEEN 2 AND 300 AND substr(\(column), 1, 1) = x'02'"
    }

    /// Returns the name of the external file that a value refers to.
    static func fileName(_ value: SQLiteReader.Value) -> String? {
        value.blob.map { String(decoding: $0.dropFirst().prefix { $0 != 0 }, as: UTF8.self) }
    }

    private func isMissing(_ value: SQLiteReader.Value) -> Bool {
        guard let name = Self.fileName(value) else { return false }
        return
            !(ExternalFolder.place(of: name, in: folder).map { FileManager.default.fileExists(atPath: $0.path) }
            ?? false)
    }

    // MARK: Looking

    /// Returns the faults in rows of the table. Reads all of these rows.
    func findings(reader: SQLiteReader, in sample: RowSample = .all) throws -> [Finding] {
        var findings: [Finding] = []
        for start in stride(from: 0, to: checks.count, by: Self.group) {
            let group = Array(checks[start..<min(start + Self.group, checks.count)])
            let list = group.map { "count(CASE WHEN \($0.condition) THEN 1 END)" }.joined(separator: ", ")
            var counts = Array(repeating: Int64(0), count: group.count)
            for condition in sample.conditions {
                let row = try reader.rows("SELECT \(list) FROM \(table) t WHERE \(condition)").first ?? []
                for (index, value) in row.enumerated() { counts[index] += value.integer ?? 0 }
            }
            for (check, count) in zip(group, counts) where count > 0 {
                if let finding = try finding(check, count: count, reader, sample) { findings.append(finding) }
            }
        }
        return findings
    }

    private func finding(_ check: Check, count: Int64, _ reader: SQLiteReader, _ sample: RowSample) throws -> Finding? {
        let column = "t." + SQLiteReader.identifier(check.cell.column)
        var keys: [Int64] = []
        if check.fault == .missingFile {
            let missing = try sample.conditions.flatMap {
                try reader.rows("SELECT t.Z_PK, \(column) FROM \(table) t WHERE \($0) AND \(check.condition)")
            }.filter { isMissing($0[1]) }
            keys = missing.compactMap(\.[0].integer)
            if keys.isEmpty { return nil }
            return Finding(
                cell: check.cell, fault: check.fault, count: Int64(keys.count), keys: keys,
                files: missing.compactMap { Self.fileName($0[1]) })
        }
        keys = try sample.conditions.flatMap {
            try reader.rows("SELECT t.Z_PK FROM \(table) t WHERE \($0) AND \(check.condition) ORDER BY 1 LIMIT 3")
        }.compactMap(\.[0].integer)
        return Finding(cell: check.cell, fault: check.fault, count: count, keys: Array(keys.prefix(3)))
    }

    /// Returns the faulty values of some rows, by key.
    func oddCells(of keys: [Int64], reader: SQLiteReader) throws -> [Int64: [OddCell]] {
        var found: [Int64: [OddCell]] = [:]
        let list = keys.map(String.init).joined(separator: ", ")
        for start in stride(from: 0, to: checks.count, by: Self.group) {
            let group = checks[start..<min(start + Self.group, checks.count)]
            // A value is read only where its check finds a fault.
            let columns = group.map { check in
                "\(check.condition), CASE WHEN \(check.condition) THEN "
                    + "t.\(SQLiteReader.identifier(check.cell.column)) END"
            }
            let rows = try reader.rows(
                "SELECT t.Z_PK, \(columns.joined(separator: ", ")) FROM \(table) t WHERE t.Z_PK IN (\(list)) "
                    + "AND (\(group.map { "(\($0.condition))" }.joined(separator: " OR ")))")
            for row in rows {
                guard let key = row[0].integer else { continue }
                for (index, check) in group.enumerated() where row[1 + 2 * index].integer == 1 {
                    let value = row[2 + 2 * index]
                    if check.fault == .missingFile, !isMissing(value) { continue }
                    found[key, default: []].append(OddCell(cell: check.cell, fault: check.fault, value: value))
                }
            }
        }
        return found
    }
}
