import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata model validate`.
struct ModelValidateTests {
    private static let toItself = """
        <relationship name="r" destinationEntity="Item" inverseName="r" inverseEntity="Item" \

        """

    private func problems(_ contents: String) throws -> [Substring] {
        let folder = try ModelFolder(contents)
        return withExtendedLifetime(folder) {
            ToolRun(["model", "validate", folder.modelPath]).lines.filter { !$0.hasPrefix("note:") }
        }
    }

    @Test func aGoodModelHasNoProblems() throws {
        let folder = try ModelFolder(
            """
            <entity name="Item" representedClassName="Item"><attribute name="name" attributeType="String"/></entity>
            """)
        let run = ToolRun(["model", "validate", folder.modelPath])
        #expect(run.output == "No problems were found.\n")
        #expect(run.status == 0)
    }

    @Test func notesAreNoProblems() throws {
        let folder = try ModelFolder(
            "<entity name=\"Item\"><attribute name=\"name\" attributeType=\"String\"/></entity>")
        let run = ToolRun(["model", "validate", folder.modelPath])
        #expect(run.output == "note: Item: has no class of its own.\n")
        #expect(run.status == 0)
    }

    @Test(arguments: [
        (
            #"<attribute name="n" attributeType="Integer 16" minValueString="9" maxValueString="2"/>"#,
            "Item.n: has a minimum above its maximum"
        ),
        (
            #"<attribute name="n" attributeType="Integer 16" defaultValueString="9" maxValueString="2"/>"#,
            "Item.n: has a default value above its maximum"
        ),
        (
            #"<attribute name="n" attributeType="String" minValueString="9" maxValueString="2"/>"#,
            "Item.n: has a minimum length above its maximum length"
        ),
        (
            #"<attribute name="n" attributeType="String" defaultValueString="a" minValueString="2"/>"#,
            "Item.n: has a default value shorter than its minimum length"
        ),
        (
            #"<attribute name="n" attributeType="String" regularExpressionString="(a"/>"#,
            "Item.n: has a pattern that is no regular expression"
        ),
        (
            #"<attribute name="n" optional="YES" attributeType="Transformable"/>"#,
            "Item.n: has no secure value transformer"
        ),
        (
            #"<attribute name="hash" attributeType="String"/>"#,
            "Item.hash: is a name that every managed object has already"
        ),
        (#"<attribute name="two words" attributeType="String"/>"#, "Item.two words: is no name that Xcode takes"),
        (
            #"<relationship name="r" optional="YES" maxCount="1" destinationEntity="Item"/>"#,
            "Item.r: has no inverse"
        ),
        (
            toItself + #"optional="YES" maxCount="1" deletionRule="No Action"/>"#,
            "Item.r: has the delete rule 'no action'"
        ),
        (
            toItself + #"optional="YES" toMany="YES" deletionRule="Cascade"/>"#,
            "Item.r: and its inverse 'Item.r' both have the delete rule 'cascade'"
        ),
        (
            toItself + #"maxCount="1" deletionRule="Nullify"/>"#,
            "Item.r: has the delete rule 'nullify', but its inverse 'Item.r' is required"
        ),
        (
            toItself + #"optional="YES" toMany="YES" minCount="2" deletionRule="Nullify"/>"#,
            "Item.r: is optional and wants at least 2 objects"
        ),
        (
            #"<attribute name="a" attributeType="Date" elementID="x"/>"#
                + #"<attribute name="b" attributeType="Date" elementID="x"/>"#,
            "Item.b: has the renaming identifier of 'a'"
        ),
    ])
    func everyRuleNamesItsPlace(_ property: String, _ expected: String) throws {
        let found = try problems("<entity name=\"Item\" representedClassName=\"Item\">\(property)</entity>")
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.hasPrefix("warning: \(expected)") == true, "\(found)")
    }

    @Test func warningsAreFindings() throws {
        let folder = try ModelFolder("<entity name=\"Alone\" representedClassName=\"A\" isAbstract=\"YES\"/>")
        let run = ToolRun(["model", "validate", folder.modelPath, "--json"])
        #expect(run.status == 3)
        let findings = try #require((try run.json() as? [String: Any])?["findings"] as? [[String: Any]])
        #expect(findings.map { $0["severity"] as? String } == ["warning"])
        #expect(findings.map { $0["entity"] as? String } == ["Alone"])
    }

    @Test func aSourceWithContradictionsIsAFinding() throws {
        let folder = try ModelFolder(
            """
            <entity name="Item" representedClassName="Item">
            <relationship name="r" optional="YES" maxCount="1" deletionRule="Nullify"/></entity>
            """)
        let run = ToolRun(["model", "validate", folder.modelPath])
        #expect(run.status == 3)
        #expect(run.output.hasPrefix("error: "), "\(run.output)")
        #expect(run.output.contains("destination"), "\(run.output)")
    }

    @Test func contradictionsInAnyModelAreErrors() {
        let (item, part) = (NSEntityDescription("Item", []), NSEntityDescription("Part", []))
        DiagramModels.link(item, "parts", part, "item")
        let other = NSRelationshipDescription()
        other.name = "other"
        item.properties.append(other)
        item.relationshipsByName["parts"]?.inverseRelationship = other
        let errors = ModelValidation(NSManagedObjectModel([item, part])).findings.filter { $0.severity == .error }
        #expect(
            errors.contains { $0.problem.contains("'other'") && $0.problem.contains("no destination") }, "\(errors)")
        #expect(errors.contains { $0.problem.contains("whose inverse is") }, "\(errors)")
    }

    @Test func whatIsNoModelIsAFailure() throws {
        let workplace = try Workplace()
        #expect(ToolRun(["model", "validate", "/nowhere.mom"]).status == 1)
        #expect(ToolRun(["model", "validate", try workplace.file("a.mom", Data("text".utf8))]).status == 1)
    }
}
