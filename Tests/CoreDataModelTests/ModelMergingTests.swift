import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

@Suite("Merging and finding models")
struct ModelMergingTests {
    private func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    @Test func mergingUnitesEntitiesAndKeepsTheOriginals() throws {
        let first = model(SampleModels.entity("A", [SampleModels.attribute("x")]))
        let second = model(SampleModels.entity("B"), SampleModels.entity("A", [SampleModels.attribute("x")]))
        let merged = try #require(NSManagedObjectModel(byMerging: [first, second]))
        #expect(merged.entities.compactMap(\.name).sorted() == ["A", "B"])
        #expect(first.entities[0].managedObjectModel === first)
        #expect(merged.consistencyProblems() == [])
    }

    @Test func entitiesOfOneNameThatDifferCannotBeMerged() {
        let first = model(SampleModels.entity("A", [SampleModels.attribute("x")]))
        let second = model(SampleModels.entity("A"))
        #expect(NSManagedObjectModel(byMerging: [first, second]) == nil)
    }

    /// Behaviour 25.
    @Test func mergingUnitesTheTextsForPeople() throws {
        let first = model(SampleModels.entity("A"))
        let second = model(SampleModels.entity("B"))
        first.localizationDictionary = ["Entity/A": "Erste", "ErrorString/Too long": "Zu lang"]
        second.localizationDictionary = ["Entity/B": "Zweite", "ErrorString/Too long": "Viel zu lang"]
        let merged = try #require(NSManagedObjectModel(byMerging: [first, second, model(SampleModels.entity("C"))]))
        #expect(merged.localizationDictionary == ["Entity/A": "Erste", "Entity/B": "Zweite", "ErrorString/Too long": "Zu lang"])
    }

    /// Behaviour 17.
    @Test func mergingForAStoreTakesOnlyTheStoresEntities() throws {
        let first = model(SampleModels.entity("A"), SampleModels.entity("B"))
        let hash = try #require(first.entityVersionHashesByName["A"])
        let merged = NSManagedObjectModel(
            byMerging: [first], forStoreMetadata: ["NSStoreModelVersionHashes": ["A": hash]])
        #expect(merged?.entities.compactMap(\.name) == ["A"])
        #expect(
            NSManagedObjectModel(
                byMerging: [first], forStoreMetadata: ["NSStoreModelVersionHashes": ["A": Data(count: 32)]]) == nil)
        #expect(NSManagedObjectModel(byMerging: [first], forStoreMetadata: [:]) == nil)
    }

    /// Behaviour 16.
    @Test func modelsOfABundleAreFoundAndMerged() throws {
        let folder = try TemporaryFolder()
        let resources = folder.file("Package_Target.resources")
        try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        try SampleModels.inventory().archivedModel().write(to: resources.appendingPathComponent("Shop.mom"))
        let bundle = try #require(Bundle(path: folder.url.path))
        #expect(NSManagedObjectModel.locate(named: "Shop", in: [bundle])?.lastPathComponent == "Shop.mom")
        #expect(NSManagedObjectModel.locate(named: "Other", in: [bundle]) == nil)
        #expect(NSManagedObjectModel.mergedModel(from: [bundle])?.entities.count == 3)
    }
}
