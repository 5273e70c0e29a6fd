import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("Compatibility of stores and models")
struct CompatibilityTests {
    private func check(
        _ metadata: [String: Any], options: [AnyHashable: Any] = [:], storedModel: NSManagedObjectModel? = nil
    ) -> NSError? {
        let model = SampleStacks.company()
        let compatibility = StoreCompatibility(
            model: model, configuration: nil, type: "SQLite", url: URL(fileURLWithPath: "/data/Company.sqlite"),
            options: options)
        do {
            try compatibility.checkHashes(in: metadata, of: try compatibility.heldEntities()) { storedModel }
            return nil
        } catch {
            return error as NSError
        }
    }

    private func metadata(_ model: NSManagedObjectModel) -> [String: Any] {
        [NSStoreModelVersionHashesKey: model.entityVersionHashesByName]
    }

    @Test func theSameModelFits() {
        #expect(check(metadata(SampleStacks.company())) == nil)
        #expect(check([:]) == nil)
    }

    @Test func anotherVersionIsRefusedNamingEntities() throws {
        var hashes = SampleStacks.company(salary: .doubleAttributeType).entityVersionHashesByName
        hashes["Tag"] = nil
        hashes["Project"] = Data(count: 32)
        let error = try #require(check([NSStoreModelVersionHashesKey: hashes]))
        #expect(error.code == NSPersistentStoreIncompatibleVersionHashError)
        #expect(error.localizedDescription.contains("/data/Company.sqlite"))
        #expect(error.localizedDescription.contains("The store lacks the entity 'Tag'."))
        #expect(error.localizedDescription.contains("The model lacks the entity 'Project'"))
        #expect(error.localizedDescription.contains("The entity 'Employee' was changed"))
        #expect(error.userInfo[NSFilePathErrorKey] as? String == "/data/Company.sqlite")
    }

    @Test func aStoresOwnModelTellsWhichPropertiesDiffer() throws {
        let old = SampleStacks.company(salary: .doubleAttributeType)
        old.entitiesByName["Department"]?.properties += [SampleStacks.attribute("floor", .integer16AttributeType)]
        let error = try #require(check(metadata(old), storedModel: old))
        #expect(
            error.localizedDescription.contains("the attribute 'salary' was of type Double, now Integer 64"))
        #expect(error.localizedDescription.contains("the attribute 'floor' was removed"))
    }

    @Test func versioningCanBeIgnored() {
        let old = SampleStacks.company(salary: .doubleAttributeType)
        #expect(check(metadata(old), options: [NSIgnorePersistentStoreVersioningOption: true]) == nil)
    }

    @Test func theSourceModelIsFoundAmongAllVersionsInBundles() throws {  // 277
        let folder = try TemporaryFolder()
        let resources = folder.file("Models.bundle")
        let old = SampleStacks.company(salary: .doubleAttributeType)
        for (model, version) in [(old, "1"), (SampleStacks.company(), "2")] {
            let place = resources.appendingPathComponent("Company.xcdatamodeld/\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            _ = try model.xcdatamodelContents().write(to: place)
        }
        let bundle = try #require(Bundle(url: resources))
        func found(_ hashes: [String: Data]) -> NSManagedObjectModel? {
            SourceModelSearch.model(
                fitting: hashes, metadata: [NSStoreModelVersionHashesKey: hashes], destination: SampleStacks.company(),
                bundles: [bundle]
            ) { nil }
        }
        let hashes = old.entityVersionHashesByName
        #expect(found(hashes)?.entityVersionHashesByName == hashes)
        #expect(found(hashes.mapValues { _ in Data(count: 32) }) == nil)
    }

    @Test func modelsOfBundlesThatCannotBeReadAreNoted() throws {  // 277
        let folder = try TemporaryFolder()
        let place = folder.file("Models.bundle/Company.xcdatamodeld/1.xcdatamodel")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try Data("<model>".utf8).write(to: place.appendingPathComponent("contents"))
        let bundle = try #require(Bundle(url: folder.file("Models.bundle")))
        let hashes = SampleStacks.company(salary: .doubleAttributeType).entityVersionHashesByName
        var files: [String?] = []
        let found = SourceModelSearch.model(
            fitting: hashes, metadata: [NSStoreModelVersionHashesKey: hashes], destination: SampleStacks.company(),
            bundles: [bundle],
            noting: { files.append($0.file) }, storedModel: { nil })
        #expect(found == nil)
        #expect(files.filter { $0?.hasSuffix("1.xcdatamodel/contents") == true }.count == 1)
    }

    @Test func aMigrationThatCannotBeMadeSaysWhy() throws {
        let old = SampleStacks.company(salary: .doubleAttributeType)
        let options = [NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true)]
        #expect(check(metadata(old), options: options)?.code == NSMigrationMissingSourceModelError)
        let error = try #require(check(metadata(old), options: options, storedModel: old))
        #expect(error.code == NSMigrationMissingMappingModelError)
        #expect(error.localizedDescription.contains("salary"))
    }
}
