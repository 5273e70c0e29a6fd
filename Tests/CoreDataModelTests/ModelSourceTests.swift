import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

@Suite("Model sources")
struct ModelSourceTests {
    private func model(_ body: String) throws -> NSManagedObjectModel {
        let text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model "
            + "userDefinedModelVersionIdentifier=\"v\">\n\(body)\n</model>"
        let root = try ModelElementParser.parse(Data(text.utf8), file: "Test.xcdatamodel/contents")
        return try ModelElementReader.model(from: root, file: "Test.xcdatamodel/contents")
    }

    private func failure(_ body: String) -> ModelReadingError? {
        do {
            _ = try model(body)
            return nil
        } catch {
            return error as? ModelReadingError
        }
    }

    private func attribute(_ text: String) throws -> NSAttributeDescription {
        let model = try model("<entity name=\"A\"><attribute name=\"x\" \(text)/></entity>")
        return try #require(model.entitiesByName["A"]?.attributesByName["x"])
    }

    @Test(arguments: [
        ("Integer 16", 100), ("Integer 32", 200), ("Integer 64", 300), ("Decimal", 400), ("Double", 500),
        ("Float", 600),
        ("String", 700), ("Boolean", 800), ("Date", 900), ("Binary", 1000), ("UUID", 1100), ("URI", 1200),
        ("Transformable", 1800),
    ])
    func everyTypeIsRead(name: String, number: Int) throws {
        #expect(try attribute("attributeType=\"\(name)\"").attributeType.rawValue == UInt(number))
    }

    @Test func defaultValuesAreRead() throws {
        #expect(try attribute("attributeType=\"Integer 64\" defaultValueString=\"-5\"").defaultValue as? NSNumber == -5)
        #expect(try attribute("attributeType=\"Boolean\" defaultValueString=\"YES\"").defaultValue as? NSNumber == true)
        #expect(try attribute("attributeType=\"String\" defaultValueString=\"\"").defaultValue as? String == "")
        #expect(
            try attribute("attributeType=\"Decimal\" defaultValueString=\"1.10\"").defaultValue as? NSDecimalNumber
                == NSDecimalNumber(string: "1.1"))
        #expect(
            try attribute("attributeType=\"Date\" defaultDateTimeInterval=\"60\"").defaultValue as? Date
                == Date(timeIntervalSinceReferenceDate: 60))
        #expect(
            try attribute("attributeType=\"URI\" defaultValueString=\"https://a.b/c\"").defaultValue as? URL
                == URL(string: "https://a.b/c"))
        #expect(
            try attribute("attributeType=\"UUID\" defaultValueString=\"11111111-2222-3333-4444-555555555555\"")
                .defaultValue
                as? UUID == UUID(uuidString: "11111111-2222-3333-4444-555555555555"))
    }

    @Test func aDefaultThatIsNoUUIDIsNoDefault() throws {
        let attribute = try attribute("optional=\"YES\" attributeType=\"UUID\" defaultValueString=\"none\"")
        #expect(attribute.defaultValue == nil)
    }

    @Test func numberLimitsBecomePredicatesWithTheirCodes() throws {
        let attribute = try attribute("attributeType=\"Integer 16\" minValueString=\"1\" maxValueString=\"9\"")
        #expect(attribute.validationWarnings as? [NSNumber] == [1620, 1610])
        func accepted(_ value: Int) -> [Bool] {
            attribute.validationPredicates.map { $0.evaluate(with: NSNumber(value: value)) }
        }
        #expect(accepted(0) == [false, true])
        #expect(accepted(5) == [true, true])
        #expect(accepted(10) == [true, false])
    }

    @Test func textLimitsBecomePredicatesWithTheirCodes() throws {
        let attribute = try attribute(
            "attributeType=\"String\" minValueString=\"2\" maxValueString=\"4\" regularExpressionString=\"[a-z]+\"")
        #expect(attribute.validationWarnings as? [NSNumber] == [1670, 1660, 1680])
        func accepted(_ value: String) -> [Bool] {
            attribute.validationPredicates.map { $0.evaluate(with: value) }
        }
        #expect(accepted("a") == [false, true, true])
        #expect(accepted("abc") == [true, true, true])
        #expect(accepted("abcde") == [true, false, true])
        #expect(accepted("A1") == [true, true, false])
    }

    @Test func dateLimitsBecomePredicatesWithTheirCodes() throws {
        let attribute = try attribute("attributeType=\"Date\" minDateTimeInterval=\"0\" maxDateTimeInterval=\"10\"")
        #expect(attribute.validationWarnings as? [NSNumber] == [1640, 1630])
        let early = Date(timeIntervalSinceReferenceDate: -1)
        #expect(attribute.validationPredicates.map { $0.evaluate(with: early) } == [false, true])
        // As in the models that Xcode compiles: a comparison of a key path with a number.
        #expect(
            attribute.validationPredicates.map(\.predicateFormat)
                == ["timeIntervalSinceReferenceDate >= 0", "timeIntervalSinceReferenceDate <= 10"])
    }

    @Test func everythingElseIsRead() throws {
        let model = try model(
            """
            <entity name="Item" representedClassName=".Item" isAbstract="YES" versionHashModifier="2" elementID="Old">
              <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
              <attribute name="gone" transient="YES" attributeType="Undefined"/>
              <attribute name="count" attributeType="Integer 64" derived="YES" derivationExpression="parts.@count"/>
              <attribute name="place" attributeType="Composite" composite="Address"/>
              <relationship name="parts" toMany="YES" minCount="1" maxCount="8" ordered="YES" deletionRule="Cascade" \
            destinationEntity="Part" inverseName="item" inverseEntity="Part"/>
              <fetchedProperty name="all" optional="YES">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="Part" predicateString="name != nil"/>
              </fetchedProperty>
              <userInfo><entry key="a" value="b"/></userInfo>
            </entity>
            <entity name="Part">
              <attribute name="name" attributeType="String"/>
              <relationship name="item" maxCount="1" deletionRule="Deny" destinationEntity="Item" inverseName="parts"/>
              <fetchIndex name="byName"><fetchIndexElement property="name" type="Binary" \
            order="descending"/></fetchIndex>
            </entity>
            <composite name="Address"><attribute name="city" optional="YES" attributeType="String"/></composite>
            <fetchRequest name="named" entity="Part" predicateString="name == $NAME" fetchLimit="3"/>
            <configuration name="Main"><memberEntity name="Part"/></configuration>
            <elements><element name="Item" positionX="1" positionY="2" width="3" height="4"/></elements>
            """)
        let item = try #require(model.entitiesByName["Item"])
        #expect(item.managedObjectClassName == "Item")
        #expect(item.isAbstract)
        #expect(item.versionHashModifier == "2")
        #expect(item.renamingIdentifier == "Old")
        #expect(item.userInfo?["a"] as? String == "b")
        #expect(item.attributesByName["cover"]?.allowsExternalBinaryDataStorage == true)
        #expect((item.attributesByName["place"] as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["city"])
        let derived = try #require(item.attributesByName["count"] as? NSDerivedAttributeDescription)
        #expect(derived.derivationExpression?.expressionType == .function)
        let parts = try #require(item.relationshipsByName["parts"])
        #expect(parts.minCount == 1)
        #expect(parts.maxCount == 8)
        #expect(parts.isOrdered)
        #expect(parts.deleteRule == .cascadeDeleteRule)
        #expect(parts.inverseRelationship?.entity.name == "Part")
        #expect(model.entitiesByName["Part"]?.indexes.first?.elements.first?.isAscending == false)
        #expect(model.fetchRequestTemplates["named"]?.fetchLimit == 3)
        #expect(model.configurations == ["Main"])
        #expect(model.versionIdentifiers == ["v"])
        #expect(model.consistencyProblems() == [])
    }

    @Test(arguments: [
        ("", 1), ("maxCount=\"1\"", 1), ("maxCount=\"-1\"", 0), ("maxCount=\"5\"", 5), ("toMany=\"YES\"", 0),
        ("toMany=\"YES\" maxCount=\"-1\"", 0), ("toMany=\"YES\" maxCount=\"3\"", 3),
        ("toMany=\"NO\" maxCount=\"-1\"", 1),
    ])
    func aRelationshipIsToManyByWordOrByItsLimit(attributes: String, limit: Int) throws {
        let relationship = "<relationship name=\"b\" \(attributes) destinationEntity=\"A\"/>"
        let text = "<model><entity name=\"A\">\(relationship)</entity></model>"
        let root = try ModelElementParser.parse(Data(text.utf8), file: nil)
        let model = try ModelElementReader.model(from: root, file: "")
        let made = try #require(model.entitiesByName["A"]?.relationshipsByName["b"])
        #expect(made.maxCount == limit)
        #expect(made.isToMany == (limit != 1))
    }

    @Test func aDanglingDestinationIsReportedWithItsPlace() {
        let error = failure(
            "<entity name=\"A\">\n<relationship name=\"b\" maxCount=\"1\" destinationEntity=\"B\"/></entity>")
        #expect(error?.entity == "A")
        #expect(error?.property == "b")
        #expect(error?.line == 4)
        #expect(error?.description.contains("'B'") == true)
        #expect((error as NSError?)?.domain == NSCocoaErrorDomain)
    }

    @Test(arguments: ["", " composite=\"Home\""])
    func aCompositeAttributeWithoutElementsIsToldWhichCompositesThereAre(attribute: String) {
        let error = failure(
            "<entity name=\"A\"><attribute name=\"home\" attributeType=\"Composite\"\(attribute)/></entity>"
                + "<composite name=\"Place\"><attribute name=\"city\" attributeType=\"String\"/></composite>"
                + "<composite name=\"Address\"><attribute name=\"city\" attributeType=\"String\"/></composite>")
        #expect(error?.entity == "A")
        #expect(error?.property == "home")
        #expect(error?.advice.contains("Address, Place") == true)
    }

    @Test func compositesContainOthersByName() throws {
        let model = try model(
            """
            <entity name="Shop"><attribute name="place" optional="YES" attributeType="Composite" \
            composite="Address"/></entity>
            <composite name="Address">
              <attribute name="city" attributeType="String"/>
              <attribute name="point" optional="YES" attributeType="Composite" composite="Point"/>
            </composite>
            <composite name="Point"><attribute name="x" attributeType="Double"/><attribute name="y" \
            attributeType="Double"/></composite>
            """)
        let place = model.entitiesByName["Shop"]?.attributesByName["place"] as? NSCompositeAttributeDescription
        let point = place?.elements.last as? NSCompositeAttributeDescription
        #expect(place?.elements.map(\.name) == ["city", "point"])
        #expect(point?.elements.map(\.name) == ["x", "y"])
    }

    @Test func aDanglingInverseIsReportedWithItsPlace() {
        let error = failure(
            "<entity name=\"A\">\n<relationship name=\"b\" destinationEntity=\"A\" inverseName=\"c\"/></entity>")
        #expect(error?.entity == "A")
        #expect(error?.property == "b")
        #expect(error?.description.contains("'c'") == true)
    }

    @Test(arguments: [
        "<entity/>", "<entity name=\"A\"/><entity name=\"A\"/>", "<entity name=\"A\" parentEntity=\"B\"/>",
        "<entity name=\"A\" parentEntity=\"B\"/><entity name=\"B\" parentEntity=\"A\"/>",
        "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Colour\"/></entity>",
        "<entity name=\"A\"><attribute attributeType=\"String\"/></entity>",
        "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Integer 16\" defaultValueString=\"ten\"/></entity>",
        "<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/><attribute name=\"x\" "
            + "attributeType=\"String\"/></entity>",
        "<entity name=\"A\"><relationship name=\"x\" destinationEntity=\"A\" deletionRule=\"Explode\"/></entity>",
        "<entity name=\"A\"><relationship name=\"x\"/></entity>",
        "<entity name=\"A\"><fetchIndex name=\"i\"><fetchIndexElement property=\"x\"/></fetchIndex></entity>",
        "<entity name=\"A\"/><fetchRequest name=\"f\" entity=\"A\" predicateString=\"name ==\"/>",
        "<entity name=\"A\"/><configuration name=\"C\"><memberEntity name=\"B\"/></configuration>",
        "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\"/></entity>",
        "<entity name=\"A\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C\"/></entity>"
            + "<composite name=\"C\"><attribute name=\"x\" attributeType=\"Composite\" composite=\"C\"/></composite>",
        "<composite name=\"C\"/><composite name=\"C\"/>",
        "<entity name=\"A\"",
    ])
    func aWrongSourceIsReportedWithItsLine(body: String) throws {
        let error = try #require(failure(body))
        #expect(error.line ?? 0 >= 1)
        #expect(error.file == "Test.xcdatamodel/contents")
        #expect(!error.advice.isEmpty)
    }

    @Test func aFolderThatIsASymbolicLinkIsRead() throws {
        let folder = try TemporaryFolder()
        let contents = try SampleModels.inventory().xcdatamodelContents()
        let bundle = folder.file("Real.xcdatamodeld")
        try contents.write(to: bundle.appendingPathComponent("First.xcdatamodel"))
        let version = folder.file("Elsewhere.xcdatamodel")
        try contents.write(to: version)
        let manager = FileManager.default
        try manager.createSymbolicLink(
            at: bundle.appendingPathComponent("Second.xcdatamodel"), withDestinationURL: version)
        let link = folder.file("Link.xcdatamodeld")
        try manager.createSymbolicLink(at: link, withDestinationURL: bundle)
        for version in [nil, "First", "Second"] {
            #expect(try NSManagedObjectModel(reading: link, version: version).entities.count == 3)
        }
    }

    @Test func aMissingFileIsReported() {
        let url = URL(fileURLWithPath: "/nowhere/Model.momd")
        #expect(NSManagedObjectModel(contentsOf: url) == nil)
        #expect(throws: ModelReadingError.self) { try NSManagedObjectModel(reading: url) }
    }
}
