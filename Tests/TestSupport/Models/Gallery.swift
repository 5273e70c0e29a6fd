import CoreData

/// A store of persons with photos, for tests that kill, starve and race the programs that save to
/// it.
///
/// A photo says whose it is and which number the person had: one that is lost, or that belongs to
/// another save, is noticed.
public enum Gallery {
    public static let names = (1...8).map { "person \($0)" }

    public static func model() -> NSManagedObjectModel {
        func bytes(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription(name, .binaryDataAttributeType)
            attribute.allowsExternalBinaryDataStorage = true
            return attribute
        }
        let person = NSEntityDescription(
            "Person", class: "NSManagedObject",
            [
                NSAttributeDescription("name", .stringAttributeType),
                NSAttributeDescription("number", .integer64AttributeType),
                bytes("photo"),
            ])
        let album = NSEntityDescription(
            "Album", class: "NSManagedObject", [NSAttributeDescription("title", .stringAttributeType), bytes("cover")])
        let note = NSEntityDescription(
            "Note", class: "NSManagedObject", [NSAttributeDescription("text", .stringAttributeType), bytes("scan")])
        relate(album, "people", toMany: true, person, inverse: "album")
        relate(person, "notes", toMany: true, ordered: true, deleteRule: .cascadeDeleteRule, note, inverse: "person")
        return NSManagedObjectModel([person, album, note])
    }

    /// The photo of a person with a number: two of three are large enough for a file.
    public static func photo(_ name: String, _ number: Int64) -> Data {
        let text = Data("\(name) \(number);".utf8)
        var data = Data()
        let size = number % 3 == 0 ? 40 : 104_000
        while data.count < size { data += text }
        return data
    }

    private static func sketchName(_ name: String) -> String { "sketch of " + name }

    public static func open(
        _ url: URL, model: NSManagedObjectModel = model(), options: [AnyHashable: Any] = [:]
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        return coordinator
    }

    /// Makes the persons, all at number 1, and two albums.
    public static func create(_ url: URL, options: [AnyHashable: Any] = [:]) throws {
        let coordinator = try open(url, options: options)
        let context = coordinator.newContext()
        for title in ["first", "second"] {
            let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
            album.setValue(title, forKey: "title")
            album.setValue(photo(title, 1), forKey: "cover")
        }
        for name in names {
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            person.setValue(name, forKey: "name")
            person.setValue(1, forKey: "number")
            person.setValue(photo(name, 1), forKey: "photo")
        }
        try context.save()
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    /// One save: a person gets the next number and its photo, and perhaps another album, a note, or
    /// loses one.
    ///
    /// - Returns: the person and its number.
    public static func step(
        in context: NSManagedObjectContext, _ generator: inout SeededGenerator
    ) throws -> (name: String, number: Int64) {
        let name = names.randomElement(using: &generator) ?? ""
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == %@", name)
        guard let person = try context.fetch(request).first else { throw CocoaError(.coreData) }
        let number = (person.value(forKey: "number") as? Int64 ?? 0) + 1
        person.setValue(number, forKey: "number")
        person.setValue(photo(name, number), forKey: "photo")
        if person.entity.attributesByName["sketch"] != nil {
            person.setValue(Bool.random(using: &generator) ? photo(sketchName(name), number) : nil, forKey: "sketch")
        }
        if Bool.random(using: &generator) {
            let albums = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album"))
            person.setValue(albums.randomElement(using: &generator), forKey: "album")
        }
        let notes = person.mutableOrderedSetValue(forKey: "notes")
        if Int.random(in: 0..<3, using: &generator) == 0 {
            let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
            let text = "note \(name) \(number)"
            note.setValue(text, forKey: "text")
            note.setValue(photo(text, number), forKey: "scan")
            notes.add(note)
        } else if let first = notes.firstObject as? NSManagedObject, Bool.random(using: &generator) {
            context.delete(first)
        }
        try context.save()
        return (name, number)
    }

    /// The numbers of all persons, by name.
    public static func numbers(_ context: NSManagedObjectContext) throws -> [String: Int64] {
        let people = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person"))
        return Dictionary(
            people.map { ($0.value(forKey: "name") as? String ?? "", $0.value(forKey: "number") as? Int64 ?? 0) },
            uniquingKeysWith: { $1 })
    }

    /// The persons and albums whose photos are not theirs, as one look at the store shows them.
    public static func wrongPhotos(_ context: NSManagedObjectContext) throws -> [String] {
        var wrong: [String] = []
        func check(_ object: NSManagedObject, _ name: String, _ number: Int64, _ key: String) {
            let photo = object.value(forKey: key) as? Data
            if photo != Gallery.photo(name, number) {
                wrong.append(
                    "\(name) \(number): " + (photo.map { String(decoding: $0.prefix(20), as: UTF8.self) } ?? "nil"))
            }
        }
        for person in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
            let (name, number) = (
                person.value(forKey: "name") as? String ?? "", person.value(forKey: "number") as? Int64 ?? 0
            )
            check(person, name, number, "photo")
            guard person.entity.attributesByName["sketch"] != nil, person.value(forKey: "sketch") != nil else {
                continue
            }
            check(person, sketchName(name), number, "sketch")
        }
        for album in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Album")) {
            check(album, album.value(forKey: "title") as? String ?? "", 1, "cover")
        }
        for note in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")) {
            let text = note.value(forKey: "text") as? String ?? ""
            check(note, text, text.split(separator: " ").last.flatMap { Int64($0) } ?? 0, "scan")
        }
        return wrong
    }

    /// Opens and closes the store as a program would, and tells what is wrong with it then: with
    /// its values by the engine, with its tables and files by the sqlite3 library and the folder.
    public static func problems(_ url: URL, model: NSManagedObjectModel = model()) throws -> [String] {
        let coordinator = try open(url, model: model, options: [HistoryTracking.continuingOption: true])
        var problems = try wrongPhotos(coordinator.newContext())
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        let file = SQLiteFile(url)
        if let answer = file.value("PRAGMA integrity_check"), answer != "ok" { problems.append(answer) }
        if file.value("SELECT count(*) FROM ZPERSON") != String(names.count) { problems.append("not all persons") }
        let named = Set(filesNamed(file, model))
        let found = Set(try files(of: url))
        problems += named.subtracting(found).sorted().map { "file \($0) is missing" }
        problems += found.subtracting(named).sorted().map { "file \($0) is left over" }
        return problems
    }

    /// The external files that rows name.
    public static func filesNamed(_ file: SQLiteFile, _ model: NSManagedObjectModel = model()) -> [String] {
        model.entities.flatMap { entity in
            entity.attributesByName.values.filter(\.allowsExternalBinaryDataStorage).flatMap { attribute in
                let (table, column) = ("Z" + (entity.name ?? "").uppercased(), "Z" + attribute.name.uppercased())
                return file.column(
                    "SELECT CAST(substr(\(column), 2, 36) AS TEXT) FROM \(table) WHERE substr(\(column), 1, 1) = X'02'"
                ).compactMap { $0 }
            }
        }
    }

    public static func folder(of url: URL) -> URL {
        url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
    }

    /// The files in the store's folder; none when there is no folder.
    public static func files(of url: URL) throws -> [String] {
        let folder = folder(of: url)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
    }
}
