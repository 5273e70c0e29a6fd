import Foundation
import Testing

@testable import CoreData

@Suite(
    "Models written by Apple's framework",
    .enabled(if: Fixtures.arePresent, "the fixtures are not beside the repository"))
struct FixtureModelTests {
    private func hashes(_ metadata: [String: Any]) throws -> [String: Data] {
        try #require(StoreMetadataHashes.hashes(in: metadata))
    }

    /// Behaviours 10, 11.
    @Test(arguments: StoreFixture.all.filter { $0.model != nil })
    func theSourceOfAModelHasTheHashesOfItsStore(fixture: StoreFixture) throws {
        let metadata = try Fixtures.store(fixture.store).metadata
        let model = try NSManagedObjectModel(reading: Fixtures.url(try #require(fixture.model)))
        #expect(model.entityVersionHashesByName == (try hashes(metadata)))
        #expect(model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(model.consistencyProblems() == [])
    }

    @Test(arguments: StoreFixture.all)
    func theModelInAStoreHasTheHashesDigestAndChecksumOfItsMetadata(fixture: StoreFixture) throws {  // 15
        let content = try Fixtures.store(fixture.store)
        guard let cache = content.modelCache else { return }
        let model = try NSManagedObjectModel.decode(modelCache: cache)
        #expect(model.entityVersionHashesByName == (try hashes(content.metadata)))
        if let digest = content.metadata["NSStoreModelVersionHashesDigest"] as? String {
            #expect(VersionHash.digest(ofEntityHashes: model.entityVersionHashesByName) == digest)
        }
        if let checksum = content.metadata["NSStoreModelVersionChecksumKey"] as? String {
            #expect(model.versionChecksum == checksum)
        }
    }

    @Test(arguments: StoreFixture.all)
    func theModelInAStoreSurvivesWritingAndReading(fixture: StoreFixture) throws {
        guard let cache = try Fixtures.store(fixture.store).modelCache else { return }
        let model = try NSManagedObjectModel.decode(modelCache: cache)
        let again = try NSManagedObjectModel.decode(modelCache: model.encodedModelCache())
        #expect(ModelText.lines(of: again) == ModelText.lines(of: model))
    }

    @Test(arguments: StoreFixture.all.filter { $0.model != nil })
    func theModelInAStoreSaysWhatItsSourceSays(fixture: StoreFixture) throws {
        guard let cache = try Fixtures.store(fixture.store).modelCache else { return }
        let stored = withoutClasses(try NSManagedObjectModel.decode(modelCache: cache))
        let source = withoutClasses(try NSManagedObjectModel(reading: Fixtures.url(try #require(fixture.model))))
        let both = Set(stored).intersection(source)
        #expect(stored.filter { !both.contains($0) && !isCompilersOwn($0) } == [])
        #expect(source.filter { !both.contains($0) && !isCompilersOwn($0) } == [])
    }

    /// Some stores were written by programs that set their entities' classes at run time.
    private func withoutClasses(_ model: NSManagedObjectModel) -> [String] {
        for entity in model.entities { entity.managedObjectClassName = nil }
        return ModelText.lines(of: model)
    }

    /// A model in use lists an index for each property marked as indexed.
    private func isCompilersOwn(_ line: String) -> Bool { line.contains(" index ") }

    @Test(arguments: [
        ("SampleModel", "SampleModel"), ("SampleModel", "SampleModel2"), ("SampleModel", "SampleModel3"),
        ("SampleModel3", "SampleModel3"), ("SampleModel3", "SampleModel3_v2"), ("SampleModel3", "SampleModel3_v3"),
    ])
    func aCompiledModelSaysWhatItsSourceSays(bundle: String, version: String) throws {
        let source = try NSManagedObjectModel(
            reading: Fixtures.url("CoreDataPlus/\(bundle)/\(bundle).xcdatamodeld"), version: version)
        let compiled = try NSManagedObjectModel(
            reading: Fixtures.url("CoreDataPlus/\(bundle)/Fixtures/\(bundle).momd"), version: version)
        #expect(ModelText.lines(of: compiled) == ModelText.lines(of: source))
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: Fixtures.url("CoreDataPlus/\(bundle)/Fixtures/\(bundle).momd/VersionInfo.plist")),
            options: [], format: nil)
        let info = try #require(list as? [String: Any])
        let versions = try #require(info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])
        #expect(compiled.entityVersionHashesByName == versions[version])
        if let checksums = info["NSManagedObjectModel_VersionChecksums"] as? [String: String] {
            #expect(compiled.versionChecksum == checksums[version])
        }
    }

    @Test func everyVersionOfEverySourceCanBeReadAndIsSound() throws {
        let walker = try #require(FileManager.default.enumerator(at: Fixtures.folder, includingPropertiesForKeys: nil))
        var count = 0
        for case let url as URL in walker where url.pathExtension == "xcdatamodel" {
            count += 1
            #expect(try NSManagedObjectModel(reading: url).consistencyProblems() == [], "\(url.lastPathComponent)")
        }
        #expect(count >= 20)
    }

    @Test func theCurrentVersionOfABundleIsRead() throws {
        let bundle = Fixtures.url("JSQCoreDataKit/ExampleModel.xcdatamodeld")
        let current = try NSManagedObjectModel(reading: bundle)
        let third = try NSManagedObjectModel(reading: bundle, version: "Version 3")
        let first = try NSManagedObjectModel(reading: bundle, version: "Version 1")
        #expect(current.versionChecksum == third.versionChecksum)
        #expect(current.versionChecksum != first.versionChecksum)
    }

    /// The vectors of the store format's description.
    @Test func hashesOfPropertiesAreThoseOnRecord() throws {
        let model = try NSManagedObjectModel(
            reading: Fixtures.url("CoreDataPlus/SampleModel3/SampleModel3.xcdatamodeld/SampleModel3.xcdatamodel"))
        let user = try #require(model.entitiesByName["User"])
        func hex(_ data: Data?) -> String { (data ?? Data()).map { String(format: "%02x", Int($0)) }.joined() }
        #expect(
            hex(user.attributesByName["name"]?.versionHash)
                == "8cb9965c0031ac68913984f3110941ad965395be9fd9b17de7be54bc7ad46890")
        #expect(
            hex(user.attributesByName["petName"]?.versionHash)
                == "3600ceedf50b080f90041365395158784f0deb03bc9acddf1cad607c4fe50742")
        #expect(hex(user.versionHash) == "6b31f4e97b691d16c4c820bae55f89408d47013bd42151ecfde1eac7fe4be798")
        #expect(model.versionChecksum == "u970QgYhRHEJGIt0zQr1UhuZL2ZJ1KxBS+B7rkAx0ik=")
    }

    /// Behaviour 17.
    @Test func mergingForAStoreTakesTheVersionTheStoreWasWrittenWith() throws {
        let metadata = try Fixtures.store("CoreDataPlus/SampleModel/Fixtures/SampleModel_V1.sqlite").metadata
        let versions = try ["SampleModel", "SampleModel2", "SampleModel3"].map {
            try NSManagedObjectModel(
                reading: Fixtures.url("CoreDataPlus/SampleModel/SampleModel.xcdatamodeld"), version: $0)
        }
        let merged = try #require(NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata))
        #expect(merged.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(merged.consistencyProblems() == [])
        #expect(NSManagedObjectModel(byMerging: Array(versions.dropFirst()), forStoreMetadata: metadata) == nil)
    }

    /// A subentity of a model that has been in use lists what it inherits; its own entity is the
    /// one that declares it.
    @Test func inheritedPropertiesOfAStoresModelBelongToTheEntityThatDeclaresThem() throws {
        let cache = try #require(
            try Fixtures.store("CoreDataPlus/SampleModel2/Fixtures/SampleModel2_V2.sqlite").modelCache)
        let model = try NSManagedObjectModel.decode(modelCache: cache)
        let author = try #require(model.entitiesByName["Author"])
        #expect(author.attributesByName["age"]?.entity.name == "Writer")
        #expect(!author.ownProperties.contains { $0.name == "age" })
        #expect(model.entities(forConfigurationName: "SampleConfigurationV2Part2")?.map(\.name) == ["Feedback"])
        #expect(model.consistencyProblems() == [])
    }
}
