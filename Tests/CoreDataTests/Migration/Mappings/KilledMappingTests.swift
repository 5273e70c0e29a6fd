import CoreData
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Processes that are killed, or run out of what they need, while a mapping model with a policy
/// migrates a store with external files, relationships and history.
@Suite(.serialized) struct KilledMappingTests {
    /// The versions, whose names are those of one test: the program searches the mapping models of
    /// all.
    private struct Versions: Codable {
        let suffix: String
        var photo: String { "Photo\(suffix)" }
        var album: String { "Album\(suffix)" }

        func model(isNew: Bool) -> NSManagedObjectModel {
            func external(_ name: String) -> NSAttributeDescription {
                let attribute = NSAttributeDescription(name, .binaryDataAttributeType)
                attribute.allowsExternalBinaryDataStorage = true
                return attribute
            }
            let photo = entity(photo, text("name"), number("count"), external("picture"))
            let album = entity(album, text("name"), external("cover"))
            relate(album, "photos", toMany: true, photo, inverse: "album")
            if isNew {
                photo.properties += [text("origin")]
                album.properties += [text("kind", default: "none")]
            }
            return CoreDataTests.model(photo, album)
        }

        func addMapping(in folder: URL) throws {
            _ = try MappingFile(
                [
                    MappingFile.Mapping(
                        source: photo, destination: photo, policy: "OriginPolicy",
                        attributes: ["name", "count", "picture"], relationships: ["album"]),
                    MappingFile.Mapping(
                        source: album, destination: album, attributes: ["name", "cover"], relationships: ["photos"]),
                ], from: model(isNew: false), to: model(isNew: true), in: folder)
        }
    }

    private static let photos = 300
    private static func bytes(_ name: String, _ number: Int) -> Data {
        Data(repeating: UInt8(truncatingIfNeeded: number), count: number % 10 == 0 ? 120_000 + number : 40)
            + Data(name.utf8)
    }

    private static var options: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSPersistentHistoryTrackingKey: true]
    }

    private let resources: ResourceFolder
    private let versions = Versions(suffix: UUID().uuidString.filter(\.isLetter))

    init() throws {
        resources = try ResourceFolder()
        try versions.addMapping(in: resources.url)
    }

    private func fill(_ store: MigratedStore) throws {
        try store.open(versions.model(isNew: false), Self.options) { context in
            let albums = (1...3).map { number in
                context.insert(
                    versions.album, ["name": "a\(number)", "cover": Self.bytes("a\(number)", number * 10)])
            }
            for number in 1...Self.photos {
                context.insert(
                    versions.photo,
                    [
                        "name": "p\(number)", "count": number, "picture": Self.bytes("p\(number)", number),
                        "album": albums[number % 3],
                    ])
            }
        }
    }

    /// What is wrong with a store, and its version; a store that is whole is closed again.
    private static func problems(_ store: MigratedStore, _ versions: Versions) throws -> (
        isNew: Bool, problems: [String]
    ) {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: store.url)
        let isNew = versions.model(isNew: true).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        let options = [NSPersistentHistoryTrackingKey: true]
        var problems = try store.open(versions.model(isNew: isNew), options) { context in
            var problems: [String] = []
            let found = try context.objects(versions.photo)
            if found.count != photos { problems.append("\(found.count) photos") }
            for photo in found {
                let (name, number) = (
                    photo.value(forKey: "name") as? String ?? "", photo.value(forKey: "count") as? Int ?? 0
                )
                if photo.value(forKey: "picture") as? Data != bytes(name, number) {
                    problems.append("picture of \(name)")
                }
                if photo.value(forKeyPath: "album.name") as? String != "a\(number % 3 + 1)" {
                    problems.append("album of \(name)")
                }
                if isNew, photo.value(forKey: "origin") as? String != "from \(number)" {
                    problems.append("origin of \(name)")
                }
            }
            for album in try context.objects(versions.album) {
                let name = album.value(forKey: "name") as? String ?? ""
                let number = Int(name.dropFirst()) ?? 0
                if album.value(forKey: "cover") as? Data != bytes(name, number * 10) {
                    problems.append("cover of \(name)")
                }
                if isNew, album.value(forKey: "kind") as? String != "none" { problems.append("kind of \(name)") }
            }
            return problems
        }
        if store.file.value("PRAGMA integrity_check") != "ok" { problems.append("the database is damaged") }
        if store.file.integer("SELECT count(*) FROM ACHANGE") != photos + 3 { problems.append("history") }
        let paths = try FileManager.default.subpathsOfDirectory(atPath: store.folder.url.path)
        let external = paths.filter { $0.contains("_EXTERNAL_DATA/") }.count
        if external != photos / 10 + 3 { problems.append("\(external) external files") }
        if paths.contains(where: { $0.contains("migration") }) { problems.append("left: \(paths)") }
        return (isNew, problems)
    }

    @Test func aKilledMigrationLeavesOneOfBothVersionsWhole() async throws {
        let template = try MigratedStore()
        try fill(template)
        var generator = SeededGenerator(seed: 11)
        var work = 20_000_000
        var killed = (before: 0, after: 0)
        for round in 1...(LongTests.areEnabled ? 300 : 4) {
            let store = try MigratedStore()
            try FileManager.default.removeItem(at: store.folder.url)
            try FileManager.default.copyItem(at: template.folder.url, to: store.folder.url)
            let (path, suffix, turns) = (store.url.path, versions.suffix, Int.random(in: 0..<work, using: &generator))
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, suffix = suffix as String, turns = turns as Int] in
                try Self.migrate(path, suffix, killedAfter: turns)
            }
            let (isNew, problems) = try Self.problems(store, versions)
            #expect(problems == [], "round \(round)")
            if isNew { killed.after += 1 } else { killed.before += 1 }
            work = isNew ? max(work - work / 5, 100_000) : work + work / 4
        }
        #expect(killed.before > 0)
        if LongTests.areEnabled { #expect(killed.after > 0) }
    }

    /// The child's side: it ends itself when the migration is over, too.
    private static func migrate(_ path: String, _ suffix: String, killedAfter turns: Int) throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: path))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        let hasBegun = Atomic(false)
        description.migrationProgressHandler = { _ in
            if hasBegun.exchange(true, ordering: .relaxed) { return }
            Thread.detachNewThread {
                let spent = Atomic<Int>(0)
                while spent.wrappingAdd(1, ordering: .relaxed).newValue < turns {}
                kill(getpid(), SIGKILL)
            }
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Versions(suffix: suffix).model(isNew: true))
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        if let failure { throw failure }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        kill(getpid(), SIGKILL)
    }

    /// Files may not grow beyond a size, or no more than a number of descriptors may be open: the
    /// limit is raised until the migration goes through.
    @Test(arguments: ["size", "descriptors"]) func aRefusedMigrationLeavesTheFormerStore(limit: String) async throws {
        let store = try MigratedStore()
        try fill(store)
        let (path, suffix) = (store.folder.url.path, versions.suffix)
        let isDeep = LongTests.areEnabled
        await #expect(processExitsWith: .success) {
            [path = path as String, suffix = suffix as String, limit = limit as String, isDeep = isDeep as Bool] in
            try Self.migrateUnderLimits(path, suffix, limit, isDeep)
        }
        let (isNew, problems) = try Self.problems(store, versions)
        #expect(isNew)
        #expect(problems == [])
    }

    private static func migrateUnderLimits(_ path: String, _ suffix: String, _ kind: String, _ isDeep: Bool) throws {
        let versions = Versions(suffix: suffix)
        let url = URL(fileURLWithPath: path).appendingPathComponent("store.sqlite")
        func limit(to value: Int?) {
            if kind == "size" {
                ProcessLimits.limitFiles(toBytes: value)
            } else {
                ProcessLimits.limitNewDescriptors(to: value)
            }
        }
        let limits =
            kind == "size"
            ? Array(stride(from: 4_096, through: 4_000_000, by: isDeep ? 16_384 : 262_144))
            : Array(stride(from: 3, through: 81, by: isDeep ? 1 : 6))
        for value in limits {
            limit(to: value)
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions.model(isNew: true))
            let failure: NSError?
            do {
                let added = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
                try coordinator.remove(added)
                failure = nil
            } catch { failure = error as NSError }
            limit(to: nil)
            guard let failure else {
                if value == limits.first { throw CocoaError(.featureUnsupported) }
                return
            }
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: url)
            guard
                versions.model(isNew: false).isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
            else { throw failure }
        }
        throw CocoaError(.featureUnsupported)
    }
}
