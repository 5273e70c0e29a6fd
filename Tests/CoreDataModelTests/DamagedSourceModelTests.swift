import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

/// Stores whose copy of their own model was tampered with, with hashes to match.
struct DamagedSourceModelTests {
    private func model(_ names: [String]) -> NSManagedObjectModel {
        let item = SampleModels.entity("Item", names.map { SampleModels.attribute($0, .stringAttributeType) })
        let part = SampleModels.entity("Part", [SampleModels.attribute("code", .integer64AttributeType)])
        let shelf = SampleModels.entity("Shelf", [SampleModels.attribute("place", .stringAttributeType)])
        item.subentities = [part]
        let to = SampleModels.relationship("shelf", to: shelf, max: 1)
        let back = SampleModels.relationship("items", to: item, max: 0)
        SampleModels.connect(to, back)
        item.properties += [to]
        shelf.properties += [back]
        let model = NSManagedObjectModel()
        model.entities = [item, part, shelf]
        return model
    }

    @Test func aTamperedModelIsRefusedOrUsedButDoesNotCrash() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let first = NSPersistentStoreCoordinator(managedObjectModel: model(["name"]))
        try first.remove(first.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url))
        let archive = try model(["name"]).archivedModel()
        let good = try Data(contentsOf: url)
        var state: UInt64 = 1
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        var tried = 0
        let rounds = LongTests.areEnabled ? 300 : 60
        for _ in 0..<rounds {
            var bytes = archive
            for _ in 0...random(3) { bytes[bytes.startIndex + random(bytes.count)] ^= 1 << UInt8(random(8)) }
            guard let damaged = try? ModelArchiveReader.model(from: bytes) else { continue }
            guard damaged.consistencyProblems().isEmpty else { continue }
            tried += 1
            try good.write(to: url)
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
            let connection = try SQLiteConnection(path: url.path, mode: .readWrite, timeout: 1)
            var metadata = try StoreMetadata.read(connection) ?? [:]
            metadata[NSStoreModelVersionHashesKey] = damaged.entityVersionHashesByName
            try StoreMetadata.write(metadata, to: connection)
            try connection.run("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", [.data(try RawDeflate.deflate(bytes))])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(["name", "note"]))
            let store = try? coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                options: [
                    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                ])
            if let store { try coordinator.remove(store) }
        }
        #expect(tried > rounds / 10, "only \(tried) models could be read")
    }
}
