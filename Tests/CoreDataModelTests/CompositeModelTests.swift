import Testing

@testable import CoreData
@testable import OpenCoreDataModel

/// Composite attributes in models: version hashes and archives.
struct CompositeModelTests {
    private static func size() -> NSCompositeAttributeDescription {
        let size = NSCompositeAttributeDescription()
        size.name = "size"
        let width = SampleModels.attribute("width", .doubleAttributeType)
        width.isOptional = false
        size.elements = [width, SampleModels.attribute("height", .doubleAttributeType)]
        for element in size.elements where element.name == "height" { element.isOptional = true }
        return size
    }

    private static func entity() -> NSEntityDescription {
        let name = SampleModels.attribute("name", .stringAttributeType)
        name.isOptional = true
        let item = NSEntityDescription()
        item.name = "Item"
        item.properties = [name, size()]
        return item
    }

    private func hex(_ data: Data) -> String { data.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined() }

    /// The values come from a program that was checked against stores of Apple's framework.
    @Test func theVersionHashIsThatOfTheElements() {
        #expect(hex(Self.size().versionHash) == "fa91cf02543b763aad8674571041f34d9f0fe56a892371f8aa02f2f828e8ad43")
        #expect(hex(Self.entity().versionHash) == "4d5c625ed7b187e0d5f0c47032de644ea280bd015def34c1f052d8a07d40a905")
    }

    @Test func nameTypeAndOptionalityOfACompositeDoNotCount() {
        let other = Self.size()
        other.name = "measure"
        other.isOptional = false
        other.elements.reverse()
        #expect(other.versionHash == Self.size().versionHash)
    }

    private func archive(_ model: NSManagedObjectModel) throws -> [[String: Any]] {
        let data = try RawDeflate.inflate(try model.encodedModelCache())
        let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any]
        return (list?["$objects"] as? [Any] ?? []).compactMap { $0 as? [String: Any] }
    }

    @Test func archivesHaveTheElementsUnderApplesKey() throws {
        let model = NSManagedObjectModel()
        model.entities = [Self.entity()]
        let objects = try archive(model)
        #expect(objects.contains { $0["NSCompositeElements"] != nil })
        #expect(!objects.contains { $0["NSElements"] != nil })
        let again = try NSManagedObjectModel.decode(modelCache: model.encodedModelCache())
        #expect(ModelText.lines(of: again) == ModelText.lines(of: model))
        let size = again.entitiesByName["Item"]?.attributesByName["size"] as? NSCompositeAttributeDescription
        #expect(size?.elements.map(\.name) == ["width", "height"])
    }

    @Test func modelFilesKeepTheOrderOfElements() throws {
        let model = NSManagedObjectModel()
        model.entities = [Self.entity()]
        let contents = try model.xcdatamodelContents().text
        let width = try #require(contents.range(of: "name=\"width\""))
        let height = try #require(contents.range(of: "name=\"height\""))
        #expect(width.lowerBound < height.lowerBound)
    }

    @Test func compositesStandBesideTheEntities() throws {
        func composite(_ name: String, _ elements: [NSAttributeDescription]) -> NSCompositeAttributeDescription {
            let composite = NSCompositeAttributeDescription()
            composite.name = name
            composite.elements = elements
            return composite
        }
        func number(_ name: String = "x") -> NSAttributeDescription {
            SampleModels.attribute(name, .doubleAttributeType)
        }
        let box = SampleModels.entity("Box", [composite("size", [number(), composite("point", [number()])])])
        let item = SampleModels.entity(
            "Item",
            [
                composite("point", [number()]), composite("size", [number(), number("y")]),
                composite("when", [number()]),
            ])
        let model = NSManagedObjectModel()
        model.entities = [item, box]
        let lines = try model.xcdatamodelContents().text.split(separator: "\n")
        #expect(
            lines.dropFirst(2).joined(separator: "\n") == """
                    <entity name="Box" syncable="YES">
                        <attribute name="size" optional="YES" attributeType="Composite" composite="Size"/>
                    </entity>
                    <entity name="Item" syncable="YES">
                        <attribute name="point" optional="YES" attributeType="Composite" composite="Point"/>
                        <attribute name="size" optional="YES" attributeType="Composite" composite="ItemSize"/>
                        <attribute name="when" optional="YES" attributeType="Composite" composite="Point"/>
                    </entity>
                    <composite name="ItemSize">
                        <attribute name="x" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
                        <attribute name="y" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
                    </composite>
                    <composite name="Point">
                        <attribute name="x" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
                    </composite>
                    <composite name="Size">
                        <attribute name="x" optional="YES" attributeType="Double" usesScalarValueType="YES"/>
                        <attribute name="point" optional="YES" attributeType="Composite" composite="Point"/>
                    </composite>
                </model>
                """)
    }
}
