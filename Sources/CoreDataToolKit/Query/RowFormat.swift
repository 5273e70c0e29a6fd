import Foundation

/// Writes rows of values one by one.
protocol RowFormat {
    /// Whether the format measures all rows before it writes the first one.
    var needsAllRows: Bool { get }
    /// Measures a row that will be written later.
    mutating func measure(_ row: [CellValue])
    mutating func write(_ row: [CellValue], to output: OutputWriter) throws
    /// Writes the text after the last row.
    mutating func finish(rowCount: Int, to output: OutputWriter) throws
}

extension RowFormat {
    var needsAllRows: Bool { false }
    mutating func measure(_ row: [CellValue]) {}
}

/// The formats, by the names that `--format` accepts.
enum RowFormats: String, CaseIterable {
    case table
    case block
    case json
    case ndjson
    case csv

    /// Whether values may be nested.
    var isJSON: Bool { self == .json || self == .ndjson }

    /// - Parameters:
    ///   - width: the number of columns of the terminal.
    ///   - isSafe: whether spreadsheets may take no text for a formula.
    func make(_ columns: [QueryColumn], width: Int, isSafe: Bool = false) -> any RowFormat {
        switch self {
        case .table: TableFormat(columns, width: width)
        case .block: TableFormat(columns, width: width, isOfBlocks: true)
        case .json: JSONFormat(columns)
        case .ndjson: JSONLinesFormat(columns)
        case .csv: CSVFormat(columns, isSafe: isSafe)
        }
    }
}

/// JSON: an array of objects, one per line, with the columns as keys in their order.
struct JSONFormat: RowFormat {
    private let keys: [String]
    private var isFirst = true

    init(_ columns: [QueryColumn]) { keys = columns.map { JSONValue.string($0.name).compact } }

    mutating func write(_ row: [CellValue], to output: OutputWriter) throws {
        try output.write(isFirst ? "[\n" : ",\n")
        try output.write(json: row.lazy.map(\.json), keys: keys, end: "")
        isFirst = false
    }

    mutating func finish(rowCount: Int, to output: OutputWriter) throws {
        try output.write(isFirst ? "[]\n" : "\n]\n")
    }
}

/// JSON lines: an object a line, as programs for streams read it.
struct JSONLinesFormat: RowFormat {
    private let keys: [String]

    init(_ columns: [QueryColumn]) { keys = columns.map { JSONValue.string($0.name).compact } }

    mutating func write(_ row: [CellValue], to output: OutputWriter) throws {
        try output.write(json: row.lazy.map(\.json), keys: keys, end: "\n")
    }

    mutating func finish(rowCount: Int, to output: OutputWriter) throws {}
}

/// Comma-separated values with a header line, according to RFC 4180: lines end with CR LF, quotes
/// are doubled. A null is an empty field, an empty text is quoted.
struct CSVFormat: RowFormat {
    private let header: [String]
    private let isSafe: Bool
    private var isFirst = true

    /// - Parameter isSafe: whether an apostrophe precedes texts that a spreadsheet takes for a
    ///   formula; numbers stay as they are.
    init(_ columns: [QueryColumn], isSafe: Bool = false) {
        header = columns.map { isSafe ? Self.harmless($0.name) : $0.name }
        self.isSafe = isSafe
    }

    mutating func write(_ row: [CellValue], to output: OutputWriter) throws {
        try writeHeader(to: output)
        try output.write(Self.line(row.map(text)))
    }

    mutating func finish(rowCount: Int, to output: OutputWriter) throws { try writeHeader(to: output) }

    private mutating func writeHeader(to output: OutputWriter) throws {
        guard isFirst else { return }
        isFirst = false
        try output.write(Self.line(header))
    }

    /// Returns the text of a field; nil for null.
    private func text(_ value: CellValue) -> String? {
        if value == .null { return nil }
        if case .number = value { return value.plainText }
        return isSafe ? Self.harmless(value.plainText) : value.plainText
    }

    /// Returns a text that no spreadsheet takes for a formula. Source: OWASP, "CSV Injection"
    /// <https://owasp.org/www-community/attacks/CSV_Injection>.
    private static func harmless(_ text: String) -> String {
        guard let first = text.unicodeScalars.first, "=+-@\t\r\n＝＋－＠".unicodeScalars.contains(first) else {
            return text
        }
        return "'" + text
    }

    /// - Parameter fields: the texts of the fields; nil for null.
    private static func line(_ fields: [String?]) -> String {
        // A line with one empty field would be an empty line.
        if fields.count == 1, fields[0] == nil { return "\"\"\r\n" }
        return fields.map { $0.map(field) ?? "" }.joined(separator: ",") + "\r\n"
    }

    private static func field(_ text: String) -> String {
        if text.isEmpty { return "\"\"" }
        // Compares bytes, not characters, because CR LF is one character.
        guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2c || $0 == 0x0d || $0 == 0x0a }) else { return text }
        return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"") + "\""
    }
}
