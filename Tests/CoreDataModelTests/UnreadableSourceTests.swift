import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

/// Source files of models that are no XML, or not the XML of a model: an error with the line, never
/// the end of the program.
struct UnreadableSourceTests {
    private func error(_ content: Data) throws -> ModelReadingError? {
        let folder = try TemporaryFolder()
        let model = folder.file("Shop.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: false)
        try content.write(to: model.appendingPathComponent("contents"))
        do {
            _ = try NSManagedObjectModel(reading: model)
            return nil
        } catch {
            return error as? ModelReadingError
        }
    }

    private func error(_ text: String) throws -> ModelReadingError? { try error(Data(text.utf8)) }

    @Test func aByteThatIsNoUTF8IsNamedWithItsLine() throws {
        for place in [
            "<model>\n<ent\u{1}ity name=\"A\"/></model>", "<model>\n<entity name=\"\u{1}\"/></model>",
            "<model>\n\u{1}</model>",
        ] {
            let bytes = Array(place.utf8).map { $0 == 1 ? 0xff : $0 }
            let error = try #require(try error(Data(bytes)))
            #expect(error.kind == .damaged)
            #expect(error.line == 2)
            #expect(error.problem.contains("UTF-8"))
            #expect(error.problem.contains("255"))
        }
    }

    @Test(arguments: [String.Encoding.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32])
    func otherEncodingsAreNamed(_ encoding: String.Encoding) throws {
        let data = try #require("<?xml version=\"1.0\"?><model/>".data(using: encoding))
        #expect(try error(data)?.problem.contains("UTF-8") == true)
    }

    @Test func anotherDeclaredEncodingIsNamed() throws {
        let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><model><entity name=\"\u{e9}\"/></model>"
        #expect(try error(text)?.problem.contains("ISO-8859-1") == true)
    }

    @Test func anotherDeclaredEncodingDoesNotMatterForASCII() throws {
        #expect(try error("<?xml version=\"1.0\" encoding=\"US-ASCII\"?>\n<model><entity name=\"A\"/></model>") == nil)
    }

    /// A coordinator would stop the program for such a model.
    @Test(arguments: [
        (
            "<entity name='A'><uniquenessConstraints><uniquenessConstraint><constraint "
                + "value='gone'/></uniquenessConstraint></uniquenessConstraints></entity>",
            "gone"
        ),
        (
            "<entity name='A'><uniquenessConstraints><uniquenessConstraint/></uniquenessConstraints></entity>",
            "constraint"
        ),
        ("<entity name='A'><fetchIndex name='i'/></entity>", "'i'"),
        ("<entity name='A'/><fetchRequest name='f' entity='Gone' predicateString='TRUEPREDICATE'/>", "Gone"),
        ("<entity name='A'><attribute name='x' optional='YES'/></entity>", "'x'"),
        (
            "<entity name='A'><relationship name='b' destinationEntity='B' inverseName='a'/></entity><entity name='B'>"
                + "<relationship name='a' destinationEntity='A'/></entity>", "'b'"
        ),
    ])
    func whatNoCoordinatorTakesIsRefused(_ body: String, _ name: String) throws {
        let error = try #require(try error("<model>\(body)</model>"))
        #expect(error.kind == .damaged)
        #expect(error.problem.contains(name), "\(error)")
        #expect(!error.advice.isEmpty)
    }

    @Test func aByteOrderMarkIsSkipped() throws {
        #expect(
            try error("\u{feff}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model><entity name=\"A\"/></model>") == nil)
    }

    @Test func referencesAndSectionsAreRead() throws {
        let text =
            "<!-- a --><model name='x>y'><?pi?><!-- <b> --><entity "
            + "name=\"&#65;&amp;&#x1F600;&lt;\t\r\nz\"/><![CDATA[<x>]]></model>\n"
        let element = try ModelElementParser.parse(Data(text.utf8), file: nil)
        #expect(element.attributes == ["name": "x>y"])
        #expect(element.children.map(\.attributes) == [["name": "A&\u{1f600}<  z"]])
        #expect(element.content == "<x>")
    }

    @Test(arguments: [
        "<model>\u{0}</model>", "<model a=\"\u{0}\"/>", "<model><a></model></a>", "<model", "<model a", "<model a=",
        "<model a=\"",
        "<model a=b/>", "<model a=\"<\"/>", "<model a='1' a='2'/>", "<model a='1'b='2'/>", "<model>&lol;</model>",
        "<model>&</model>",
        "<model>&#0;</model>", "<model>&#xD800;</model>", "<model>&#99999999999;</model>", "<model></model",
        "<model><!-- </model>",
        "<model><![CDATA[</model>", "<model/><model/>", "<model/>x", "x<model/>", "", " ", "<", "</", "</model>",
        "<!DOCTYPE", "<?xml",
        "<1/>", "<-/>", "<model><!ELEMENT a></model>",
    ])
    func aTextThatIsNotWellFormedIsAnError(_ text: String) throws {
        let error = try #require(try error(text))
        #expect(error.kind == .damaged)
        #expect(error.file != nil)
        #expect(error.line != nil)
    }

    @Test func entitiesOfTheFilesOwnAreRefused() throws {
        let text = """
            <?xml version="1.0"?>
            <!DOCTYPE model [ <!ENTITY a "aaaaaaaaaa"> <!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"> ]>
            <model name="&b;"/>
            """
        #expect(try error(text)?.problem.contains("entities") == true)
    }

    @Test func deepNestingIsRefused() throws {
        let text = "<model>" + String(repeating: "<entity name=\"a\">", count: 200_000)
        #expect(try error(text)?.problem.contains("nested") == true)
    }

    @Test func hugeAttributesAreRead() throws {
        let name = String(repeating: "n", count: 1_000_000)
        #expect(
            try ModelElementParser.parse(Data("<model name=\"\(name)\"/>".utf8), file: nil).text("name")?.count
                == name.count)
    }

    // MARK: Other forms

    @Test func theFormBeforeXcode4IsNamed() throws {
        let folder = try TemporaryFolder()
        let model = folder.file("Old.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: false)
        for name in ["elements", "layout"] { try Data([1, 2, 3]).write(to: model.appendingPathComponent(name)) }
        let error = #expect(throws: ModelReadingError.self) { try NSManagedObjectModel(reading: model) }
        #expect(error?.problem.contains("before version 4") == true)
        #expect(error?.kind == .damaged)
        #expect(error?.file == model.path)
    }

    @Test func theFormBeforeXcode4IsNamedWithinAVersionedModel() throws {
        let folder = try TemporaryFolder()
        let model = folder.file("Old.xcdatamodeld")
        let version = model.appendingPathComponent("Old.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: version.appendingPathComponent("elements"))
        let error = #expect(throws: ModelReadingError.self) { try NSManagedObjectModel(reading: model) }
        #expect(error?.problem.contains("before version 4") == true)
    }

    @Test func aFolderWithNeitherFormLacksItsContents() throws {
        let folder = try TemporaryFolder()
        let model = folder.file("Empty.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: false)
        let error = #expect(throws: ModelReadingError.self) { try NSManagedObjectModel(reading: model) }
        #expect(error?.kind == .missing)
    }
}
