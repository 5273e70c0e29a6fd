import CoreData

/// A conversion of the values of a column to the type of their attribute, where nothing gets lost.
struct ValueConversion {
    let table: String
    let column: String
    let content: StoreInspection.Cell.Content
    /// The SQL condition of values of another type, on the table's alias `t`.
    let condition: String

    /// The query of the values and the keys of their rows.
    var query: String {
        "SELECT t.Z_PK, t.\(SQLiteReader.identifier(column)) FROM \(SQLiteReader.identifier(table)) t "
            + "WHERE \(condition)"
    }

    /// The statement that changes a value: the new value, then the key.
    var statement: String {
        "UPDATE \(SQLiteReader.identifier(table)) SET \(SQLiteReader.identifier(column)) = ? WHERE Z_PK = ?"
    }

    /// Returns a value in the attribute's type; nil if something would get lost.
    func converted(_ value: SQLiteReader.Value) -> SQLiteReader.Value? {
        switch content {
        case .integer(let bits): integer(value).flatMap { Self.fits($0, bits) ? .integer($0) : nil }
        case .boolean: integer(value).flatMap { [0, 1].contains($0) ? .integer($0) : nil }
        case .key: integer(value).map { .integer($0) }
        case .number: number(value)
        case .date: number(value) ?? value.text.flatMap(DateText.date).map { .real($0.timeIntervalSinceReferenceDate) }
        case .decimal: text(value).flatMap { Decimal(string: $0) != nil && Self.isDecimal($0) ? .text($0) : nil }
        case .text: text(value).map { .text($0) }
        case .uuid: value.text.flatMap(UUID.init).map { uuid in .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }) }
        case .bytes(isExternal: false): value.text.map { .blob(Data($0.utf8)) }
        case .bytes(isExternal: true): value.text.map { .blob(Data([1]) + Data($0.utf8)) }
        }
    }

    private static func fits(_ value: Int64, _ bits: Int) -> Bool {
        bits >= 64 || (-(Int64(1) << (bits - 1))..<(Int64(1) << (bits - 1))).contains(value)
    }

    /// Returns the text of a value that is a text, or bytes that are UTF-8.
    private func text(_ value: SQLiteReader.Value) -> String? {
        value.text ?? value.blob.flatMap { String(validating: $0, as: UTF8.self) }
    }

    private func integer(_ value: SQLiteReader.Value) -> Int64? {
        if case .real(let number) = value { return Int64(exactly: number) }
        return value.integer ?? text(value).flatMap { Int64($0) }
    }

    private func number(_ value: SQLiteReader.Value) -> SQLiteReader.Value? {
        if let whole = integer(value) { return .integer(whole) }
        return text(value).flatMap { Double($0) }.flatMap { $0.isFinite ? .real($0) : nil }
    }

    private static func isDecimal(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
    }
}
