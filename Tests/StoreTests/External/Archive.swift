import TestSupport
import Testing

@testable import CoreData

/// Authors, books, chapters, tags, shelves and passports, each with a value that may lie in a file:
/// a store in which every kind of relationship meets external storage.
final class Archive {
    let folder: TemporaryFolder
    let url: URL
    let options: [AnyHashable: Any]
    private(set) var context: NSManagedObjectContext
    private(set) var coordinator: NSPersistentStoreCoordinator

    static let entities = ["Author", "Book", "Chapter", "Tag", "Shelf", "Passport"]

    init(options: [AnyHashable: Any] = [:]) throws {
        folder = try TemporaryFolder()
        url = folder.file("archive.sqlite")
        self.options = options
        coordinator = try Self.open(url, options)
        context = coordinator.newContext()
    }

    static func open(_ url: URL, _ options: [AnyHashable: Any] = [:]) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        return coordinator
    }

    static func model() -> NSManagedObjectModel {
        var made: [String: NSEntityDescription] = [:]
        for name in entities {
            let scan = NSAttributeDescription("scan", .binaryDataAttributeType)
            scan.allowsExternalBinaryDataStorage = true
            let cover = NSAttributeDescription("cover", .binaryDataAttributeType)
            cover.allowsExternalBinaryDataStorage = true
            made[name] = NSEntityDescription(
                name, class: "NSManagedObject",
                [
                    NSAttributeDescription("name", .stringAttributeType),
                    NSAttributeDescription("count", .integer32AttributeType),
                    scan, cover,
                ])
        }
        relate(made["Author"]!, "books", toMany: true, made["Book"]!, inverse: "author")
        relate(made["Book"]!, "chapters", toMany: true, ordered: true, made["Chapter"]!, inverse: "book")
        relate(made["Book"]!, "tags", toMany: true, made["Tag"]!, inverse: "books", inverseToMany: true)
        relate(
            made["Shelf"]!, "items", toMany: true, ordered: true, made["Book"]!, inverse: "shelves", inverseToMany: true
        )
        relate(made["Author"]!, "passport", made["Passport"]!, inverse: "owner")
        return NSManagedObjectModel(entities.compactMap { made[$0] })
    }

    var raw: SQLiteFile { SQLiteFile(url) }

    /// An object whose two values are large.
    @discardableResult
    func insert(_ entity: String, _ name: String) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        object.setValue(Self.large(name, 1), forKey: "scan")
        object.setValue(Self.large(name, 2), forKey: "cover")
        return object
    }

    /// Bytes that belong to a name and a number, too many for a row.
    static func large(_ name: String, _ number: Int) -> Data {
        var data = Data("\(name) \(number) ".utf8)
        data.append(Data(repeating: UInt8(truncatingIfNeeded: number), count: ExternalColumn.threshold))
        return data
    }

    func object(_ entity: String, _ name: String) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "name == %@", name)
        return try #require(try context.fetch(request).first)
    }

    /// Goes on with a coordinator and a context that know nothing of what was before.
    func reopen() throws {
        try close()
        coordinator = try Self.open(url, options)
        context = coordinator.newContext()
    }

    func close() throws { for store in coordinator.persistentStores { try coordinator.remove(store) } }

    // MARK: What is in the file

    /// The data of a column's value, read with the sqlite3 library and from the folder; nil for
    /// NULL and for a missing file.
    func storedValue(_ entity: String, _ name: String, _ column: String) -> Data? {
        let text = raw.value("SELECT Z\(column.uppercased()) FROM Z\(entity.uppercased()) WHERE ZNAME = '\(name)'")
        guard let bytes = text.map(Self.bytes(hexadecimal:)) else { return nil }
        if bytes.first == 1 { return bytes.dropFirst() }
        let file = String(decoding: bytes.dropFirst().dropLast(), as: UTF8.self)
        return try? Data(contentsOf: Gallery.folder(of: url).appendingPathComponent(file))
    }

    private static func bytes(hexadecimal text: String) -> Data {
        var data = Data()
        var rest = text.utf8[...]
        while let high = rest.popFirst(), let low = rest.popFirst() {
            data.append(UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16) ?? 0)
        }
        return data
    }

    /// The files that rows name, in all tables.
    func namedFiles() -> Set<String> {
        let columns = Self.entities.flatMap { entity in ["ZSCAN", "ZCOVER"].map { ("Z" + entity.uppercased(), $0) } }
        return Set(
            columns.flatMap { table, column in
                raw.rows(
                    "SELECT CAST(substr(\(column), 2, 36) AS TEXT) FROM \(table) WHERE substr(\(column), 1, 1) = X'02'"
                )
                .compactMap { $0[0] }
            })
    }

    func filesOnDisk() throws -> Set<String> { Set(try Gallery.files(of: url)) }
}
