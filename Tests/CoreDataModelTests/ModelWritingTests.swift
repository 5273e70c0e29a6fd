import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

/// Models as the text of `.xcdatamodel` files: reading it gives the model again.
struct ModelWritingTests {
    private func read(_ contents: XcdatamodelContents) throws -> NSManagedObjectModel {
        let root = try ModelElementParser.parse(Data(contents.text.utf8), file: "contents")
        return try ModelElementReader.model(from: root, file: "contents")
    }

    @Test(arguments: 0..<(LongTests.areEnabled ? 200 : 10) as Range<UInt64>)
    func randomModelsAreReadAgainAsTheyWere(seed: UInt64) throws {
        var random = RandomModel(seed: seed)
        let model = random.model()
        let contents = try model.xcdatamodelContents()
        #expect(contents.omissions == [])
        let again = try read(contents)
        #expect(ModelText.lines(of: again) == ModelText.lines(of: model))
        #expect(try again.xcdatamodelContents() == contents)
    }

    private static let sources: [URL] = {
        let walker = FileManager.default.enumerator(at: Fixtures.folder, includingPropertiesForKeys: nil)
        var urls: [URL] = []
        while let url = walker?.nextObject() as? URL { if url.pathExtension == "xcdatamodel" { urls.append(url) } }
        return urls.sorted { $0.path < $1.path }
    }()

    @Test(.enabled(if: Fixtures.arePresent), arguments: sources)
    func modelsOfRealProgramsAreReadAgainAsTheyWere(_ url: URL) throws {
        let model = try NSManagedObjectModel(reading: url)
        let contents = try model.xcdatamodelContents()
        #expect(contents.omissions == [])
        #expect(ModelText.lines(of: try read(contents)) == ModelText.lines(of: model))
    }

    @Test(.enabled(if: Fixtures.arePresent), arguments: StoreFixture.all)
    func modelsOfStoresHaveTheSameHashesAgain(_ fixture: StoreFixture) throws {
        guard let cache = try Fixtures.store(fixture.store).modelCache else { return }
        let model = try NSManagedObjectModel.decode(modelCache: cache)
        #expect(try read(model.xcdatamodelContents()).entityVersionHashesByName == model.entityVersionHashesByName)
    }

    @Test func whatAFileCannotSayIsNamed() throws {
        let contents = try SampleModels.inventory().xcdatamodelContents()
        #expect(
            contents.omissions == [
                "Item.color: the class of its values, Color, is written but for generated code only.",
                "Item.picture: its default value cannot be written.",
                "Item.titel \u{e4}\u{1F600}: the user information 'count' is no text.",
                "Item.cheap: the order of its results has no place in model files.",
            ])
        #expect(try read(contents).entityVersionHashesByName == SampleModels.inventory().entityVersionHashesByName)
    }

    @Test func theTextIsLaidOutAsEditorsDoIt() throws {
        let name = SampleModels.attribute("name", optional: false)
        name.defaultValue = "a \"b\" <c>\n"
        let entity = SampleModels.entity("Item", [SampleModels.attribute("count", .integer32AttributeType), name])
        entity.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let text = try model.xcdatamodelContents().text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.first == "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>")
        #expect(
            lines.dropFirst(2).joined(separator: "\n") == """
                    <entity name="Item" syncable="YES">
                        <attribute name="count" optional="YES" attributeType="Integer 32" usesScalarValueType="YES"/>
                        <attribute name="name" attributeType="String" defaultValueString="a &quot;b&quot; \
                &lt;c&gt;&#10;"/>
                        <uniquenessConstraints>
                            <uniquenessConstraint>
                                <constraint value="name"/>
                            </uniquenessConstraint>
                        </uniquenessConstraints>
                    </entity>
                </model>
                """)
    }

    @Test func aModelThatNoFileCanHoldIsRefused() {
        let entity = SampleModels.entity("Item", [NSRelationshipDescription()])
        entity.properties[0].name = "other"
        let model = NSManagedObjectModel()
        model.entities = [entity]
        #expect(throws: ModelReadingError.self) { try model.xcdatamodelContents() }
    }

    @Test func aFileThatIsTheSameIsNotWritten() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.file("Model.xcdatamodel")
        let contents = try SampleModels.inventory().xcdatamodelContents()
        #expect(try contents.write(to: folder))
        #expect(try !contents.write(to: folder))
        #expect(try NSManagedObjectModel(reading: folder).entities.count == 3)
    }
}
