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

    private func merge(_ models: [NSManagedObjectModel], _ hashes: [String: Data]) -> NSManagedObjectModel? {
        NSManagedObjectModel(byMerging: models, forStoreMetadata: ["NSStoreModelVersionHashes": hashes])
    }

    /// The hash of an entity is the same whether it has subentities or not.
    @Test func anEntityKeepsASuperentityThatAnotherModelHasToo() throws {
        let first = model(SampleModels.entity("Item", [SampleModels.attribute("x")]))
        let (item, special) = (SampleModels.entity("Item", [SampleModels.attribute("x")]), SampleModels.entity("Special"))
        item.subentities = [special]
        let second = model(item, special)
        let hashes = second.entityVersionHashesByName
        for merged in [merge([first, second], hashes), NSManagedObjectModel(byMerging: [first, second])] {
            let merged = try #require(merged)
            #expect(merged.entitiesByName["Special"]?.superentity === merged.entitiesByName["Item"])
            #expect(merged.entityVersionHashesByName == hashes)
            #expect(merged.consistencyProblems() == [])
        }
        #expect(first.entities[0].subentities.isEmpty)
        #expect(second.entitiesByName["Item"]?.subentities.count == 1)
    }

    /// Behaviour 17.
    @Test func aModelThatWouldNotHaveTheStoresHashesIsNone() throws {
        let (a, b) = (SampleModels.entity("A"), SampleModels.entity("B"))
        a.properties = [NSRelationshipDescription("b", to: b)]
        let whole = model(a, b)
        let hashes = whole.entityVersionHashesByName
        #expect(merge([whole], hashes)?.entityVersionHashesByName == hashes)
        #expect(merge([whole], hashes.filter { $0.key == "A" }) == nil)
        #expect(merge([whole], hashes.filter { $0.key == "B" })?.entities.count == 1)
    }

    @Test func whatLeadsToEntitiesThatAreNotTakenIsLeftOut() throws {
        let (a, b) = (SampleModels.entity("A"), SampleModels.entity("B"))
        let fetched = NSFetchedPropertyDescription()
        fetched.name = "others"
        fetched.fetchRequestTemplate = FetchRequestTemplate(entityName: "B")
        let own = NSFetchedPropertyDescription()
        own.name = "own"
        own.fetchRequestTemplate = FetchRequestTemplate(entityName: "A")
        a.properties += [fetched, own]
        let first = model(a, b)
        first.fetchRequestTemplates = ["a": FetchRequestTemplate(entityName: "A"), "b": FetchRequestTemplate(entityName: "B")]
        first.versionIdentifiers = ["one"]
        let second = model(SampleModels.entity("C"))
        second.versionIdentifiers = ["two"]
        second.fetchRequestTemplates = ["c": FetchRequestTemplate(entityName: "C")]
        let hashes = first.entityVersionHashesByName.filter { $0.key == "A" }
        let merged = try #require(merge([first, second], hashes))
        #expect(merged.consistencyProblems() == [])
        #expect(merged.fetchRequestTemplates.keys.sorted() == ["a"])
        #expect(merged.versionIdentifiers == ["one"])
        #expect(merged.entitiesByName["A"]?.propertiesByName["own"] != nil)
        #expect(merged.entityVersionHashesByName == hashes)
        _ = try NSPersistentStoreCoordinator(validating: merged)
        let all = try #require(NSManagedObjectModel(byMerging: [first, second]))
        #expect(all.fetchRequestTemplates.keys.sorted() == ["a", "b", "c"])
        #expect(all.versionIdentifiers == ["one", "two"])
        #expect(all.entitiesByName["A"]?.propertiesByName["others"] != nil)
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
