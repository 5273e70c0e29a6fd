import CoreData

/// Converts the values of SQLite to those of the model's types, as the engine does. A value of
/// another type is shown as it is in the file.
struct ValueDecoder {
    /// The folder of large values in external files.
    let folder: URL

    func value(_ value: SQLiteReader.Value, _ type: NSAttributeType, isTransformable: Bool, isExternal: Bool)
        -> CellValue
    {
        switch (type, value) {
        case (_, .null): return .null
        case (.booleanAttributeType, .integer(let number)) where number == 0 || number == 1: return .bool(number == 1)
        case (.dateAttributeType, .real(let seconds)): return .date(seconds)
        case (.dateAttributeType, .integer(let seconds)): return .date(Double(seconds))
        case (.floatAttributeType, .real(let number)): return CellValue(float: number)
        case (.floatAttributeType, .integer(let number)): return CellValue(float: Double(number))
        case (.doubleAttributeType, .integer(let number)): return CellValue(.real(Double(number)))
        case (.decimalAttributeType, .real(let number)): return CellValue(decimal: DecimalText.text(of: number))
        case (.decimalAttributeType, .text(let text)): return CellValue(decimal: text)
        case (.integer16AttributeType, .real(let number)), (.integer32AttributeType, .real(let number)),
            (.integer64AttributeType, .real(let number)):
            return Int64(exactly: number).map { .number("\($0)") } ?? CellValue(value)
        case (.UUIDAttributeType, .blob(let bytes)) where bytes.count == 16:
            return .text(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString })
        case (.binaryDataAttributeType, .blob(let bytes)):
            guard let content = isExternal ? content(of: value, bytes) : bytes else { return .null }
            return isTransformable ? .archived(content) : .data(content)
        default: return CellValue(value)
        }
    }

    /// Returns the bytes of a value that may be in a file of its own: the first byte says where
    /// they are. Nil if the file is missing.
    private func content(of value: SQLiteReader.Value, _ bytes: Data) -> Data? {
        switch bytes.first {
        case 1: return Data(bytes.dropFirst())
        case 2:
            guard let name = CellChecks.fileName(value), let url = ExternalFolder.place(of: name, in: folder) else {
                return nil
            }
            return try? Data(contentsOf: url)
        default: return bytes
        }
    }
}
