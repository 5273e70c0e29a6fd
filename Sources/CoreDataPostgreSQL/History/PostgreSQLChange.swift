import CoreData
import Foundation

/// A change of a row that is written into the history.
struct PostgreSQLChange {
    let kind: NSPersistentHistoryChangeType
    let entity: SQLEntity
    let key: Int64
    /// The names of the properties that an update changed, as JSON; nil for none.
    var properties: String?
    /// The values that a deletion preserves, as JSON; nil for none.
    var tombstone: String?

    init(
        _ kind: NSPersistentHistoryChangeType, _ entity: SQLEntity, _ key: Int64, properties: String? = nil,
        tombstone: String? = nil
    ) {
        self.kind = kind
        self.entity = entity
        self.key = key
        self.properties = properties
        self.tombstone = tombstone
    }

    /// The approximate number of bytes of the change in a statement.
    var byteCount: Int { 40 + (properties?.utf8.count ?? 0) + (tombstone?.utf8.count ?? 0) }

    private static let insertion = """
        INSERT INTO \(PostgreSQLHousekeeping.changeTable) (save, place, kind, entity, key, properties, tombstone) \
        SELECT $1, $2 + c.place, c.kind, c.entity, c.key, c.properties::jsonb, c.tombstone::jsonb FROM \
        unnest($3, $4, $5, $6, $7) WITH ORDINALITY AS c(kind, entity, key, properties, tombstone, place)
        """

    /// Returns the statement that writes changes of a save.
    ///
    /// - Parameter first: the place of the first one among all changes of the save, from 0.
    static func insertion(_ changes: ArraySlice<PostgreSQLChange>, of save: UUID, first: Int) -> WireStatement {
        var arguments = WireArguments(uuid: save)
        arguments.append(key: Int64(first) - 1)
        func append(_ type: UInt32, _ write: (PostgreSQLChange, inout WireBytes) -> Void) {
            arguments.appendArray(of: type, count: changes.count) { bytes in
                for change in changes { write(change, &bytes) }
            }
        }
        func append(_ number: Int, _ bytes: inout WireBytes) {
            bytes.append(Int32(2))
            bytes.append(Int16(truncatingIfNeeded: number))
        }
        func append(_ text: String?, _ bytes: inout WireBytes) {
            guard let text else { return bytes.appendNull() }
            let start = bytes.beginValue()
            bytes.append(utf8: text)
            bytes.endValue(start)
        }
        append(WireType.int2) { append($0.kind.rawValue, &$1) }
        append(WireType.int2) { append($0.entity.number, &$1) }
        arguments.append(keys: changes.map(\.key))
        append(WireType.text) { append($0.properties, &$1) }
        append(WireType.text) { append($0.tombstone, &$1) }
        return WireStatement(insertion, arguments, isKept: true)
    }
}

/// The texts of changed properties. Many changes of one transaction have the same.
struct ChangedProperties {
    private var texts: [Int: [[Int]: String]] = [:]

    /// Returns the names of properties as JSON; nil for none.
    ///
    /// - Parameter slots: the slots of properties and elements.
    mutating func text(_ slots: some Sequence<Int>, of layout: EntityLayout) throws -> String? {
        let slots = layout.properties(ofSlots: slots)
        if slots.isEmpty { return nil }
        if let known = texts[layout.index]?[slots] { return known }
        let data = try JSONEncoder().encode(slots.map { layout.slots[$0].name })
        let text = String(decoding: data, as: UTF8.self)
        texts[layout.index, default: [:]][slots] = text
        return text
    }
}

/// The values that the deletion of a row preserves, as JSON by the names of the attributes.
enum Tombstone {
    private enum Value: Codable {
        case integer(Int64)
        case double(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let integer = try? container.decode(Int64.self) {
                self = .integer(integer)
            } else if let double = try? container.decode(Double.self) {
                self = .double(double)
            } else {
                self = .text(try container.decode(String.self))
            }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .integer(let integer): try container.encode(integer)
            case .double(let double): try container.encode(double)
            case .text(let text): try container.encode(text)
            }
        }

        /// Nil for a value without a form in JSON, which is not preserved.
        init?(_ value: StoredValue) {
            switch value {
            case .integer(let integer): self = .integer(integer)
            case .double(let double) where double.isFinite: self = .double(double)
            case .double(let double): self = .text("\(double)")
            case .decimal(let decimal): self = .text(decimal.description)
            case .string(let text) where !text.utf8.contains(0): self = .text(text)
            case .data(let data): self = .text(data.base64EncodedString())
            case .uuid(let uuid): self = .text(uuid.uuidString)
            case .string, .null, .reference: return nil
            }
        }

        /// Returns the value in the store's form; `.null` where an attribute of the kind has no
        /// such value.
        func stored(_ kind: ValueKind) -> StoredValue {
            switch (self, kind) {
            case (.integer(let integer), _) where kind.isInteger: .integer(integer)
            case (.integer(let integer), _) where kind.isFloatingPoint: .double(Double(integer))
            case (.double(let double), _) where kind.isFloatingPoint: .double(double)
            case (.text(let text), _) where kind.isFloatingPoint: Double(text).map(StoredValue.double) ?? .null
            case (.text(let text), .decimal):
                Decimal(string: text, locale: .posix).map(StoredValue.decimal) ?? .null
            case (.text(let text), .string), (.text(let text), .uri): .string(text)
            case (.text(let text), .uuid): UUID(uuidString: text).map(StoredValue.uuid) ?? .null
            case (.text(let text), .data), (.text(let text), .transformable):
                Data(base64Encoded: text).map(StoredValue.data) ?? .null
            default: .null
            }
        }
    }

    /// - Parameter values: in the order of `preservedSlots`.
    static func text(_ values: [StoredValue], of layout: EntityLayout) throws -> String {
        var named: [String: Value] = [:]
        for (slot, value) in zip(layout.preservedSlots, values) { named[layout.slots[slot].name] = Value(value) }
        return String(decoding: try JSONEncoder().encode(named), as: UTF8.self)
    }

    static func values(_ data: Data, of layout: EntityLayout) throws -> [StoredValue] {
        let named = try JSONDecoder().decode([String: Value].self, from: data)
        return layout.preservedSlots.map { slot in
            let property = layout.slots[slot]
            return named[property.name]?.stored(property.kind) ?? .null
        }
    }
}
