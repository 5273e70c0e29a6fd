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
        #expect(
            merged.localizationDictionary == [
                "Entity/A": "Erste", "Entity/B": "Zweite", "ErrorString/Too long": "Zu lang",
            ])
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
        let (item, special) = (
            SampleModels.entity("Item", [SampleModels.attribute("x")]), SampleModels.entity("Special")
        )
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
        first.fetchRequestTemplates = [
            "a": FetchRequestTemplate(entityName: "A"), "b": FetchRequestTemplate(entityName: "B"),
        ]
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

    // MARK: - Models of one file name

    /// Writes a model with an entity into a folder, as a compiled file or as source, and gives the
    /// folder.
    @discardableResult
    private func write(_ entity: String, _ attributes: [String] = ["x"], as file: String = "Model.mom", to folder: URL)
        throws -> URL
    {
        let model = model(SampleModels.entity(entity, attributes.map { SampleModels.attribute($0) }))
        let url = folder.appendingPathComponent(file)
        if url.pathExtension == "mom" {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try model.archivedModel().write(to: url)
        } else {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            _ = try model.xcdatamodelContents().write(to: url)
        }
        return folder
    }

    private func names(_ model: NSManagedObjectModel?) -> [String]? { model?.entities.compactMap(\.name).sorted() }

    /// Behaviour 16.
    @Test func modelsOfOneNameInSeveralBundlesAreMerged() throws {
        let folder = try TemporaryFolder()
        try write("Account", to: folder.file("App_Accounts.resources"))
        let notes = try write("Note", as: "Model.xcdatamodel", to: folder.file("App_Notes.resources"))
        // Found in two places, and once more through the folder.
        try write("Account", to: folder.file("App_Copies.resources"))
        let (main, own) = (try #require(Bundle(path: folder.url.path)), try #require(Bundle(url: notes)))
        #expect(names(NSManagedObjectModel.mergedModel(from: [main])) == ["Account", "Note"])
        #expect(names(NSManagedObjectModel.mergedModel(from: [main, own])) == ["Account", "Note"])
        #expect(names(NSManagedObjectModel.mergedModel(from: [own])) == ["Note"])
        let hashes = model(SampleModels.entity("Note", [SampleModels.attribute("x")])).entityVersionHashesByName
        let metadata = [NSStoreModelVersionHashesKey: hashes]
        #expect(names(NSManagedObjectModel.mergedModel(from: [main], forStoreMetadata: metadata)) == ["Note"])
    }

    @Test func ofTheFormsOfAModelInOneFolderTheCompiledOneIsTaken() throws {
        let folder = try TemporaryFolder()
        let resources = folder.file("App_Notes.resources")
        try write("Note", ["x", "y"], as: "Model.xcdatamodel", to: resources)
        try write("Note", to: resources)
        let merged = NSManagedObjectModel.mergedModel(from: [try #require(Bundle(path: folder.url.path))])
        #expect(merged?.entitiesByName["Note"]?.attributesByName.count == 1)
    }

    @Test func theBundlesThatAreNamedComeBeforeWhatLiesInOthers() throws {
        let folder = try TemporaryFolder()
        try write("Note", ["x", "y"], to: folder.file("App_Earlier.resources"))
        let named = try write("Note", to: folder.file("App_Notes.resources"))
        let (main, own) = (try #require(Bundle(path: folder.url.path)), try #require(Bundle(url: named)))
        #expect(NSManagedObjectModel.locate(named: "Model", in: [main, own])?.path.contains("App_Notes") == true)
        #expect(
            NSManagedObjectModel.mergedModel(from: [main, own])?.entitiesByName["Note"]?.attributesByName.count == 1)
        // Of those that are not, the first counts.
        #expect(NSManagedObjectModel.mergedModel(from: [main])?.entitiesByName["Note"]?.attributesByName.count == 2)
        // Two that are named and differ contradict.
        let other = try write("Note", ["z"], to: folder.file("Other"))
        #expect(NSManagedObjectModel.mergedModel(from: [own, try #require(Bundle(url: other))]) == nil)
    }
}
