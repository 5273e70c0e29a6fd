import Foundation

/// The file of a binary store: a header of 64 bytes, and two keyed archives.
///
/// The header has big-endian numbers, two of 4 bytes after the first and the others of 8:
/// `CoreData` in ASCII; 1; the version of the format; offset and length of the archive of the
/// metadata; offset and length of the archive of the objects; the last number given to an object;
/// 0.
struct BinaryStoreFile: StoreFile {
    static let storeType = NSBinaryStoreType

    private static let magic = Data("CoreData".utf8)
    private static let version: UInt64 = 1 << 32 | 134_481_920
    private static let headerSize = 64

    /// Empty in a store that is not written yet.
    private var map: Data
    private var list = Data()
    private(set) var lastKey: Int64 = 0

    static func unsupportedFeatures(of entities: [NSEntityDescription]) -> [String] { [] }

    init() { map = Data() }

    init(_ data: Data) throws {
        let bytes = data.startIndex == 0 ? data : Data(data)
        guard bytes.count >= Self.headerSize, bytes.starts(with: Self.magic) else {
            throw ModelReadingError.damagedArchive("The file does not begin with the header of a binary store.")
        }
        func number(_ place: Int) -> UInt64 {
            bytes[place * 8..<place * 8 + 8].reduce(0) { $0 << 8 | UInt64($1) }
        }
        func part(at place: Int, _ name: String) throws -> Data {
            guard let offset = Int(exactly: number(place)), let length = Int(exactly: number(place + 1)),
                offset >= Self.headerSize, offset <= bytes.count, length > 0, length <= bytes.count - offset
            else {
                throw ModelReadingError.damagedArchive("The file has no archive of the \(name) where it should be.")
            }
            return bytes.subdata(in: offset..<offset + length)
        }
        list = try part(at: 2, "metadata")
        map = try part(at: 4, "objects")
        guard let last = Int64(exactly: number(6)) else {
            throw ModelReadingError.damagedArchive("The last number of an object is out of range.")
        }
        try FileRows.checkKey(max(last, 1))
        lastKey = last
    }

    func data() -> Data {
        var data = Self.magic
        let numbers = [
            Self.version, UInt64(Self.headerSize + map.count), UInt64(list.count), UInt64(Self.headerSize),
            UInt64(map.count), UInt64(lastKey), 0,
        ]
        for number in numbers {
            withUnsafeBytes(of: number.bigEndian) { data.append(contentsOf: $0) }
        }
        return data + map + list
    }

    // MARK: - Metadata

    func metadata() throws -> [String: Any] {
        let archive = try ObjectArchive(list, key: "metadata")
        guard let metadata = try archive.plainValue(archive.root, isWhole: true) as? [String: Any] else {
            throw ModelReadingError.damagedArchive("The metadata are no dictionary of property list values.")
        }
        return metadata
    }

    mutating func setMetadata(_ metadata: [String: Any]) throws {
        // Foundation's collections become Swift's.
        let encoded = try PropertyListReader.dictionary(from: StoreMetadata.encode(metadata))
        let metadata = encoded.merging(metadata.filter { $0.key == NSStoreUUIDKey }) { _, identifier in identifier }
        list = try ObjectArchiveWriter.data(key: "metadata") { writer in
            let entries = metadata.compactMap { key, value -> (String, PropertyListValue)? in
                guard key == NSStoreModelVersionHashesKey, let hashes = value as? [String: Data] else {
                    return writer.plainValue(value).map { (key, $0) }
                }
                let values = hashes.map { name, hash in
                    (name, writer.object(["NSMutableData", "NSData"]) { ["NS.data": .data(hash)] })
                }
                return (key, writer.dictionary(values, isMutable: true))
            }
            return writer.dictionary(entries, isMutable: true)
        }
        // Collections may be nested too deeply.
        do { _ = try self.metadata() } catch {
            throw CoreDataErrors.metadataIsNoPropertyList(keys: Array(metadata.keys), error)
        }
    }

    // MARK: - Objects

    func objects(_ entities: [FileEntity]) throws -> [FileObject] {
        if map.isEmpty { return [] }
        let archive = try ObjectArchive(map, key: "mapData")
        guard let root = try archive.object(archive.root) else {
            throw ModelReadingError.damagedArchive("The archive has no objects.")
        }
        let readers = Dictionary(
            entities.map { ($0.layout.name, BinaryEntityReader($0, archive)) }, uniquingKeysWith: { first, _ in first })
        return try archive.entries(of: root).map { _, number in
            guard let node = try archive.object(number), let name = try archive.text("NSEntityName", of: node) else {
                throw ModelReadingError.damagedArchive("The archive has an object without an entity.")
            }
            guard let reader = readers[name] else {
                throw StoreFileProblem.unknown(
                    "has an object of the entity '\(name)', which the model does not have.")
            }
            return try reader.object(node)
        }
    }

    mutating func setObjects(_ objects: [FileObject], _ entities: [FileEntity], lastKey: Int64) throws {
        map = try ObjectArchiveWriter.data(key: "mapData") { writer in
            let values = BinaryValueWriter(writer)
            let keys = objects.map { values.number($0.key) }
            let nodes = objects.map { values.node($0, entities[$0.layout.index]) }
            return writer.object(["NSMutableDictionary", "NSDictionary"]) {
                ["NS.keys": .array(keys), "NS.objects": .array(nodes)]
            }
        }
        self.lastKey = lastKey
    }
}
