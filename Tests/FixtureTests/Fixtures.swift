import CoreData
import TestSupport
import Testing

/// The stores and models that Apple's framework wrote, beside the repository.
enum Fixtures {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("shared/fixtures")

    /// Whether the files are there; tests that need them are skipped otherwise.
    static let arePresent = FileManager.default.fileExists(atPath: folder.path)

    static let areAbsent: Comment = "the fixtures are not beside the repository"

    /// The paths, from the fixtures' folder, of everything in it.
    static let paths: [String] = {
        let walker = FileManager.default.enumerator(atPath: folder.path)
        return (walker?.compactMap { $0 as? String } ?? []).sorted()
    }()

    static func url(_ path: String) -> URL { folder.appendingPathComponent(path) }

    /// The content of every file.
    static func contents() throws -> [String: Data] {
        var result: [String: Data] = [:]
        for path in paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: url(path).path, isDirectory: &isFolder), !isFolder.boolValue
            else { continue }
            result[path] = try Data(contentsOf: url(path))
        }
        return result
    }
}

/// A model at hand: a version in source form or compiled.
struct FixtureModel: Sendable, CustomTestStringConvertible {
    let path: String

    var testDescription: String { path }

    /// The folder that all models and stores of one project lie in.
    var project: String { String(path.prefix { $0 != "/" }) }

    static let all: [FixtureModel] = Fixtures.paths
        .filter { $0.hasSuffix(".xcdatamodel") || $0.hasSuffix(".mom") }.map(FixtureModel.init)

    func read() throws -> NSManagedObjectModel {
        try #require(NSManagedObjectModel(contentsOf: Fixtures.url(path))).forTesting()
    }
}

/// A store that Apple's framework wrote.
struct FixtureStore: Sendable, CustomTestStringConvertible {
    let path: String

    var testDescription: String { path }

    var project: String { String(path.prefix { $0 != "/" }) }

    static let all: [FixtureStore] = Fixtures.paths.filter { $0.hasSuffix(".sqlite") }.map(FixtureStore.init)

    /// All of them in the long tests; otherwise some with few rows.
    static let some: [FixtureStore] = LongTests.some(
        5, of: all.filter { LongTests.areEnabled || !$0.hasThousandsOfRows })

    var hasThousandsOfRows: Bool { project == "SurfJournal" || path.hasSuffix("SampleModel2_V1.sqlite") }

    /// Copies the store with its journal.
    func copy(to folder: TemporaryFolder) throws -> URL {
        let source = Fixtures.url(path)
        let copy = folder.file(source.lastPathComponent)
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: source.path + suffix) {
            // Written anew: the originals may be read-only, and so would be their copies.
            try Data(contentsOf: URL(fileURLWithPath: source.path + suffix))
                .write(to: URL(fileURLWithPath: copy.path + suffix))
        }
        return copy
    }

    /// The models of the project whose version hashes are the store's.
    func models(fitting metadata: [String: Any]) throws -> [FixtureModel] {
        try FixtureModel.all.filter {
            try $0.project == project
                && $0.read().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
    }
}

/// A store and a model that it opens with.
struct StoreAndModel: Sendable, CustomTestStringConvertible {
    let store: FixtureStore
    /// nil for the model that the store keeps in itself.
    let model: FixtureModel?

    var testDescription: String { "\(store.path) with \(model?.path ?? "its own model")" }

    static let all: [StoreAndModel] = FixtureStore.all.flatMap { store in
        do {
            let folder = try TemporaryFolder()
            let copy = try store.copy(to: folder)
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: copy)
            var result = try store.models(fitting: metadata).map { StoreAndModel(store: store, model: $0) }
            if (try? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: copy)) != nil {
                result.append(StoreAndModel(store: store, model: nil))
            }
            return result
        } catch {
            Issue.record(error)
            return []
        }
    }

    /// Each store once, with its own model where it has one.
    static let oneOfEachStore: [StoreAndModel] = FixtureStore.all.compactMap { store in
        all.last { $0.store.path == store.path }
    }

    /// All of these in the long tests; otherwise as many of them, with few rows.
    static func some(_ count: Int, of cases: [StoreAndModel]) -> [StoreAndModel] {
        LongTests.some(count, of: cases.filter { LongTests.areEnabled || !$0.store.hasThousandsOfRows })
    }

    func readModel(of copy: URL) throws -> NSManagedObjectModel {
        try model?.read() ?? NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: copy).forTesting()
    }
}

extension NSManagedObjectModel {
    /// The model with plain managed objects, and transformers that give the stored bytes.
    ///
    /// The classes that the models name belong to the projects they come from; another test's class
    /// may have such a name.
    func forTesting() -> NSManagedObjectModel {
        for entity in entities {
            entity.managedObjectClassName = nil
            for attribute in entity.attributesByName.values {
                guard let name = attribute.valueTransformerName, !name.isEmpty, !name.hasPrefix("NS") else { continue }
                ValueTransformer.setValueTransformer(StoredBytes(), forName: NSValueTransformerName(name))
            }
        }
        return self
    }

    var concreteEntities: [NSEntityDescription] {
        entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }
}

/// Gives the bytes that are stored as they are.
final class StoredBytes: ValueTransformer, @unchecked Sendable {
    // Sendable: no state.
}

/// A coordinator with one store, and a context on it.
final class Stack {
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    let context: NSManagedObjectContext

    init(_ model: NSManagedObjectModel, _ url: URL, options: [AnyHashable: Any]? = nil) throws {
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url,
            options: [HistoryTracking.continuingOption: true].merging(options ?? [:]) { $1 })
        context = coordinator.newContext()
    }

    var model: NSManagedObjectModel { coordinator.managedObjectModel }

    func objects(_ entity: NSEntityDescription) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
        request.includesSubentities = false
        return try context.fetch(request).sorted { $0.key < $1.key }
    }

    func close() throws { try coordinator.remove(store) }
}

extension NSManagedObject {
    /// The row's primary key.
    var key: Int64 { Int64(objectID.uriRepresentation().lastPathComponent.dropFirst()) ?? 0 }

    /// Entity and key, which are the same in every coordinator.
    var place: String { "\(entity.name ?? "")/p\(key)" }
}

/// All tests with files of Apple's framework; not one byte of these may change.
@Suite(.enabled(if: Fixtures.arePresent, Fixtures.areAbsent), .originalsStayAsTheyAre)
enum FixtureTests {}

/// Compares the fixtures before and after the tests.
struct OriginalsStayAsTheyAre: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard Fixtures.arePresent else { return try await function() }
        let before = try Fixtures.contents()
        try await function()
        let after = try Fixtures.contents()
        #expect(Set(after.keys) == Set(before.keys))
        for (path, content) in before { #expect(after[path] == content, "\(path) has changed") }
    }
}

extension Trait where Self == OriginalsStayAsTheyAre {
    static var originalsStayAsTheyAre: Self { Self() }
}
