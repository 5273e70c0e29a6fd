import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata model diff`.
struct ModelDiffTests {
    /// The shop with other names, types and rules.
    private static let changed = """
        <entity name="Product" representedClassName=".Article" elementID="Article">
            <attribute name="title" attributeType="String" minValueString="2" maxValueString="40" elementID="name"/>
            <attribute name="price" optional="YES" attributeType="Double" defaultValueString="0.1" minValueString="0"/>
            <attribute name="code" optional="YES" attributeType="UUID"/>
            <relationship name="maker" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="Maker"
                inverseName="articles" inverseEntity="Maker"/>
            <fetchIndex name="byTitle">
                <fetchIndexElement property="title" type="Binary" order="descending"/>
            </fetchIndex>
        </entity>
        <entity name="Maker" representedClassName="Firm" isAbstract="YES">
            <attribute name="articleCount" attributeType="Integer 64" derived="YES" \
        derivationExpression="articles.@count"/>
            <relationship name="articles" toMany="YES" deletionRule="Cascade" destinationEntity="Product"
                inverseName="maker" inverseEntity="Product"/>
        </entity>
        <entity name="Tag"><attribute name="word" attributeType="String"/></entity>
        """

    private func diff(_ old: String, _ new: String, _ options: String...) throws -> ToolRun {
        let (before, after) = (try ModelFolder(old), try ModelFolder(new))
        return withExtendedLifetime((before, after)) {
            ToolRun(["model", "diff", before.modelPath, after.modelPath] + options)
        }
    }

    @Test func equalModelsAreEqual() throws {
        let run = try diff(ModelFolder.shop, ModelFolder.shop)
        #expect(run.status == 0)
        #expect(run.output == "Shop.xcdatamodel → Shop.xcdatamodel\nThe models are equal.\n")
    }

    @Test func everyDifferenceIsALine() throws {
        let run = try diff(ModelFolder.shop, Self.changed)
        #expect(run.status == 3)
        #expect(
            run.lines.dropFirst().prefix { !$0.hasPrefix("A store") }.joined(separator: "\n") == """
                ~ entity Maker: is abstract now
                    ~ relationship articles: destination was Article, is now Product; is no longer ordered; \
                inverse was Article.maker, is now Product.maker
                ~ entity Product: was named Article
                    - attribute note: String, optional, renaming identifier remark
                    + attribute code: UUID, optional
                    ~ attribute price: type was Decimal, is now Double; is optional now
                    ~ attribute title: was named name; minimum length was 1, is now 2
                    ~ relationship maker: delete rule was nullify, is now cascade
                    + index byTitle: title descending
                    - uniqueness constraint name
                + entity Tag: with word
                """, "\(run.output)")
    }

    @Test func theReasonsAgainstALightMigrationAreGiven() throws {
        let run = try diff(ModelFolder.shop, Self.changed)
        #expect(run.output.contains("A store of the old version cannot be migrated lightly:\n    Product.price: "))
    }

    @Test func anOptionalAttributeMigratesLightly() throws {
        let added = ModelFolder.shop.replacingOccurrences(
            of: "<relationship name=\"maker\"",
            with: "<attribute name=\"size\" optional=\"YES\" attributeType=\"Float\"/><relationship name=\"maker\"")
        let run = try diff(ModelFolder.shop, added, "--json")
        #expect(run.status == 3)
        let json = try #require(try run.json() as? [String: Any])
        #expect(json["migration"] as? String == "light")
        let entity = try #require((json["changes"] as? [[String: Any]])?.first)
        #expect(entity["change"] as? String == "changed")
        let attribute = try #require((entity["changes"] as? [[String: Any]])?.first)
        #expect(attribute["name"] as? String == "size")
        #expect(attribute["change"] as? String == "added")
    }

    @Test func aDefaultValueNeedsNoMigration() throws {
        let changed = ModelFolder.shop.replacingOccurrences(of: "defaultValueString=\"0.1\"", with: "")
        let run = try diff(ModelFolder.shop, changed)
        #expect(run.status == 3)
        #expect(run.output.contains("~ attribute price: no longer has the default 0.1\n"))
        #expect(run.output.contains("needs no migration"))
    }

    @Test func aStoreIsComparedWithAModel() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        let model = workplace.folder.appendingPathComponent("Shop.mom").path
        #expect(ToolRun(["model", "convert", store, "--output", model]).status == 0)
        let run = ToolRun(["model", "diff", store, model])
        #expect(run.output == "Shop.sqlite → Shop.mom\nThe models are equal.\n")
        #expect(ToolRun(["model", "diff", store, "/nowhere.mom"]).status == 1)
    }

    @Test func aModelFromTablesIsNamed() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        try SQLiteFile(URL(fileURLWithPath: store)).run("DROP TABLE Z_MODELCACHE")
        let run = ToolRun(["model", "diff", store, store])
        #expect(run.status == 0)
        #expect(run.errors.contains("the model was inferred from the tables"), "\(run.errors)")
    }

    /// A swap of two names: each new part has the old name of the other.
    @Test func swappedNamesArePaired() {
        let pairs = ModelChange.pairs(
            from: [("a", "a"), ("b", "b"), ("c", "c")], to: [("a", "b"), ("b", "a"), ("d", "d")])
        #expect(pairs == [1, 0, nil])
    }

    @Test func aCanonicalIdentifierPairsLaterVersions() {
        #expect(ModelChange.pairs(from: [("second", "first")], to: [("third", "first")]) == [0])
    }
}
