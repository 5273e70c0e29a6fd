import Foundation

/// Reads the objects of one entity from the archive of a binary file.
struct BinaryEntityReader {
    private let entity: FileEntity
    private let archive: ObjectArchive
    private let relationships: [String: PropertySlot]

    init(_ entity: FileEntity, _ archive: ObjectArchive) {
        self.entity = entity
        self.archive = archive
        relationships = Dictionary(entity.relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func object(_ node: ObjectArchive.Object) throws -> FileObject {
        guard let key = try integer("NSPrimaryKey64", of: node) else {
            throw ModelReadingError.damagedArchive("The archive has an object without a number.")
        }
        var object = FileObject(entity.layout, key: key)
        let numbers = try archive.elements("NSAttributeValues", of: node) ?? []
        guard numbers.count == entity.attributes.count else {
            throw StoreFileProblem.unknown(
                "has \(numbers.count) values of attributes of the object \(key) of entity '\(entity.layout.name)', "
                    + "which has \(entity.attributes.count) attributes.")
        }
        for (slot, number) in zip(entity.attributes, numbers) {
            object.values[slot.index] = try value(number, slot, object)
        }
        for (name, number) in try archive.dictionary("NSRelatedNodes", of: node) ?? [] {
            guard let slot = relationships[name] else {
                throw StoreFileProblem.unknown(
                    "has the relationship '\(name)' of the object \(key), which the entity "
                        + "'\(entity.layout.name)' does not have.")
            }
            guard let list = try archive.object(number) else { continue }
            let keys = try archive.elements(of: list).map { number in
                if case .integer(let key)? = try archive.value(number) { return key }
                throw ModelReadingError.damagedArchive("The relationship '\(name)' has a number that is none.")
            }
            if slot.kind == .toOne, keys.count > 1 {
                throw StoreFileProblem(
                    text: "relates the object \(key) of entity '\(entity.layout.name)' by '\(name)' to several "
                        + "objects.")
            }
            object.related.append((slot.index, keys))
        }
        return object
    }

    /// A number that is in an object itself, or an object of its own.
    private func integer(_ key: String, of node: ObjectArchive.Object) throws -> Int64? {
        switch archive.entry(key, of: node) {
        case .integer(let value)?: value
        case .uid(let number)?:
            if case .integer(let value)? = try archive.value(number) { value } else { nil }
        default: nil
        }
    }

    // MARK: - Values

    private func value(_ number: Int, _ slot: PropertySlot, _ object: FileObject) throws -> StoredValue {
        guard let stored = try archive.value(number) else { return .null }
        let value =
            slot.kind == .transformable ? try transformable(stored, number) : try value(stored, number, slot.kind)
        switch value {
        case .string(let text)?: try archive.spend(0, bytes: text.utf8.count)
        case .data(let data)?: try archive.spend(0, bytes: data.count)
        default: break
        }
        if let value { return value }
        throw StoreFileProblem.value(slot, object)
    }

    /// nil for a value of another kind.
    private func value(_ stored: PropertyListValue, _ number: Int, _ kind: ValueKind) throws -> StoredValue? {
        switch stored {
        case .integer, .boolean, .unsignedInteger, .real:
            return (stored.foundationValue as? NSNumber).flatMap { Self.number($0, kind) }
        case .string(let text): return kind == .string ? .string(text) : nil
        case .data(let data): return kind == .data ? .data(data) : nil
        case .dictionary: break
        default: return nil
        }
        guard let object = try archive.object(number) else { return nil }
        if object.className == "NSNull" { return .null }
        if kind == .uri, object.className == "NSURL" {
            return try archive.text("NS.relative", of: object).map { .string($0) }
        }
        let value = try archive.plainValue(number)
        if let decimal = value as? NSDecimalNumber { return Self.number(decimal, kind) }
        return value == nil ? nil : PropertyConversion.storedValue(from: value, kind: kind)
    }

    /// Data are the bytes of a transformer, or of an archive whose root is data itself; any other
    /// object is archived.
    private func transformable(_ stored: PropertyListValue, _ number: Int) throws -> StoredValue? {
        if case .data(let data) = stored { return .data(data) }
        if case .dictionary = stored, let object = try archive.object(number) {
            if object.className == "NSNull" { return .null }
            if ["NSData", "NSMutableData"].contains(object.className),
                let data = try archive.plainValue(number) as? Data
            {
                return .data(data)
            }
        }
        return .data(try archive.archive(of: number))
    }

    /// nil where a number is out of range.
    private static func number(_ number: NSNumber, _ kind: ValueKind) -> StoredValue? {
        switch kind {
        case .int16: return Int16(exactly: number).map { .integer(Int64($0)) }
        case .int32: return Int32(exactly: number).map { .integer(Int64($0)) }
        case .int64: return Int64(exactly: number).map { .integer($0) }
        case .boolean, .double, .float, .decimal: return PropertyConversion.storedValue(from: number, kind: kind)
        default: return nil
        }
    }
}
