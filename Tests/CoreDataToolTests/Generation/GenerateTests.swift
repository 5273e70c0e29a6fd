import CoreData
import Testing

@testable import CoreDataToolKit

/// The files that `coredata generate` writes, and those that it does not touch.
struct GenerateTests {
    @Test func theClassesAreWhatAPersonWouldWrite() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let run = folder.generate()
        #expect(run.status == 0)
        #expect(run.errors == "")
        #expect(run.output == "written Article.swift\nwritten Firm.swift\n")
        #expect(
            try folder.text("Article.swift") == #"""
                // Made by 'coredata generate' from Shop.xcdatamodel. What is changed here is lost: change the model.

                import SafeCoreData

                @Entity
                final class Article: NSManagedObject {
                    @Attribute(.unique, .length(1...40)) var name: String
                    @Attribute(originalName: "remark") var note: String?
                    @Attribute(.range(0...)) var price: Decimal = 0.1
                    @Relationship(inverse: \Firm.articles) var maker: Firm?
                }

                """#)
        #expect(
            try folder.text("Firm.swift") == #"""
                // Made by 'coredata generate' from Shop.xcdatamodel. What is changed here is lost: change the model.

                import SafeCoreData

                @Entity("Maker")
                final class Firm: NSManagedObject {
                    @Derived("articles.@count") var articleCount: Int
                    @Relationship(deleteRule: .cascade, optional: false) var articles: [Article]
                }

                """#)
    }

    @Test func publicClassesHavePublicProperties() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        #expect(folder.generate("--access", "public").status == 0)
        let text = try folder.text("Firm.swift")
        #expect(text.contains("\npublic final class Firm: NSManagedObject {\n"))
        #expect(text.contains(" public var articles: [Article]\n"))
    }

    @Test func filesThatDoNotChangeKeepTheirDates() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        _ = folder.generate()
        let past = Date(timeIntervalSinceReferenceDate: 1000)
        for name in ["Article.swift", "Firm.swift"] {
            try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: folder.file(name).path)
        }
        #expect(folder.generate().output == "unchanged Article.swift\nunchanged Firm.swift\n")
        try folder.draw(ModelFolder.shop.replacingOccurrences(of: "articleCount", with: "numberOfArticles"))
        #expect(folder.generate().output == "unchanged Article.swift\nwritten Firm.swift\n")
        let date = try FileManager.default.attributesOfItem(atPath: folder.file("Article.swift").path)[
            .modificationDate]
        #expect(date as? Date == past)
        #expect(try folder.text("Firm.swift").contains("var numberOfArticles: Int"))
    }

    @Test func theOrderOfTheModelsFileDoesNotMatter() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        _ = folder.generate()
        let entities = ModelFolder.shop.components(separatedBy: "<entity ").dropFirst()
        try folder.draw(entities.reversed().map { "<entity " + $0 }.joined())
        #expect(folder.generate().output == "unchanged Article.swift\nunchanged Firm.swift\n")
    }

    @Test func onlyChosenEntitiesAreWritten() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        #expect(folder.generate("--entity", "Maker").output == "written Firm.swift\n")
        #expect(!FileManager.default.fileExists(atPath: folder.file("Article.swift").path))
        let run = folder.generate("--entity", "Makr")
        #expect(run.status == 1)
        #expect(run.errors.contains("Did you mean 'Maker'?"))
    }

    @Test func allClassesFitInOneFile() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let file = folder.workplace.folder.appendingPathComponent("Shop.swift")
        let run = ToolRun(["generate", folder.modelPath, "--file", file.path])
        #expect(run.output == "written Shop.swift\n")
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(text.components(separatedBy: "import SafeCoreData").count == 2)
        #expect(text.contains("\n}\n\n@Entity(\"Maker\")\nfinal class Firm"))
    }

    @Test func classesGoToTheStandardOutputForAHyphen() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let file = folder.workplace.folder.appendingPathComponent("Shop.swift")
        _ = ToolRun(["generate", folder.modelPath, "--file", file.path])
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.workplace.folder.path).sorted()
        let run = ToolRun(["generate", folder.modelPath, "--file", "-"])
        #expect(run.status == 0)
        #expect(run.output == (try String(contentsOf: file, encoding: .utf8)))
        #expect(run.errors == "")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.workplace.folder.path).sorted() == before)
    }

    @Test func filesOfOthersAreNotOverwritten() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        try FileManager.default.createDirectory(atPath: folder.outputPath, withIntermediateDirectories: true)
        try Data("final class Firm {}\n".utf8).write(to: folder.file("Firm.swift"))
        let run = folder.generate()
        #expect(run.status == 1)
        #expect(run.errors.contains("Firm.swift' was not made by this command and is not overwritten."))
        #expect(try folder.text("Firm.swift") == "final class Firm {}\n")
        #expect(!FileManager.default.fileExists(atPath: folder.file("Article.swift").path))
    }

    @Test func filesOfEntitiesThatAreGoneAreNamedAndKept() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        _ = folder.generate()
        try folder.draw("<entity name=\"Article\"><attribute name=\"name\" attributeType=\"String\"/></entity>")
        let run = folder.generate()
        #expect(run.errors == "warning: Firm.swift is of an entity that the model no longer has.\n")
        #expect(FileManager.default.fileExists(atPath: folder.file("Firm.swift").path))
    }

    @Test func userInformationIsInTheClass() throws {
        let folder = try ModelFolder(
            """
            <entity name="Ware" representedClassName="Ware">
                <attribute name="name" attributeType="String"><userInfo><entry key="ocd.column" value="a \
            &quot;title&quot;"/></userInfo></attribute>
                <attribute name="seen" optional="YES" transient="YES" attributeType="Date"><userInfo><entry key="a" \
            value="b"/></userInfo></attribute>
                <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Ware">
                    <userInfo><entry key="ocd.column" value="after"/></userInfo>
                </relationship>
                <userInfo><entry key="ocd.table" value="wares"/><entry key="ocd.key" value="ware_id"/></userInfo>
            </entity>
            """)
        let run = folder.generate()
        #expect(run.status == 0)
        #expect(run.errors == "warning: Ware.seen: its user information is not in the class.\n")
        let text = try folder.text("Ware.swift")
        #expect(text.contains(#"@Entity(userInfo: ["ocd.key": "ware_id", "ocd.table": "wares"])"#), "\(text)")
        #expect(text.contains(#"@Attribute(userInfo: ["ocd.column": "a \"title\""])"#), "\(text)")
        #expect(text.contains(#"@Relationship(userInfo: ["ocd.column": "after"])"#), "\(text)")
    }

    @Test func whatClassesCannotSayIsNamed() throws {
        let folder = try ModelFolder(
            """
            <entity name="Item" representedClassName="Data">
                <attribute name="description" optional="YES" transient="YES" attributeType="String"/>
                <attribute name="date" attributeType="Date"/>
                <relationship name="next" optional="YES" transient="YES" maxCount="1" deletionRule="Nullify" \
            destinationEntity="Item"/>
                <fetchedProperty name="newer"><fetchRequest entity="Item" predicateString="date &gt; \
            $FETCH_SOURCE.date"/></fetchedProperty>
                <fetchIndex name="newest"><fetchIndexElement property="date" type="Binary" \
            order="descending"/></fetchIndex>
                <compoundIndexes><compoundIndex><index value="date"/><index \
            value="next"/></compoundIndex></compoundIndexes>
            </entity>
            <configuration name="Local"><memberEntity name="Item"/></configuration>
            """)
        let run = folder.generate()
        #expect(run.status == 0)
        let expected = [
            "Item: its class is named DataEntity, because Data is no free name.",
            "Item.description: its name means something else in every managed object; the class does not declare it.",
            "Item.newer: a fetched property, Item where date > $FETCH_SOURCE.date; the class does not declare it.",
            "Item.next: a transient relationship, which classes do not have; the class does not declare it.",
            "Item: the index 'newest' is more than a list of the class's properties.",
            "Item: its compound indexes are not in the class, and no store makes them; give it fetch indexes.",
            "The classes know no configurations: Local.",
        ]
        #expect(run.errors == expected.map { "warning: \($0)\n" }.joined())
        let text = try folder.text("DataEntity.swift")
        #expect(
            text.contains("    // newer is not declared: a fetched property, Item where date > $FETCH_SOURCE.date.\n"))
    }

    @Test func entitiesWhosePropertiesCannotBeDeclaredGetNoClass() throws {
        let folder = try ModelFolder(
            """
            <entity name="Frame">
                <attribute name="URL" optional="YES" attributeType="String"/>
                <attribute name="Date" optional="YES" attributeType="String"/>
                <attribute name="Swift" optional="YES" attributeType="String"/>
                <attribute name="title" optional="YES" attributeType="String"/>
                <attribute name="_title" optional="YES" attributeType="String"/>
                <relationship name="Picture" optional="YES" maxCount="1" deletionRule="Nullify" \
            destinationEntity="Picture"
                    inverseName="frames" inverseEntity="Picture"/>
            </entity>
            <entity name="GildedFrame" parentEntity="Frame">
                <attribute name="gilded" attributeType="Date"/>
            </entity>
            <entity name="Cupboard"/>
            <entity name="Picture">
                <relationship name="frames" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Frame"
                    inverseName="Picture" inverseEntity="Frame"/>
            </entity>
            """)
        let run = folder.generate()
        #expect(run.status == 1)
        #expect(run.output == "written Cupboard.swift\n")
        let lines = run.errors.split(separator: "\n").map(String.init)
        #expect(
            lines.first?.hasPrefix("coredata: Entities without a class: it would have another version hash") == true)
        #expect(
            lines.dropFirst().joined(separator: "\n") == """
                  Frame: Frame.Date: the class uses a type of its name; Frame.Picture: \
                the class uses a type of its name; \
                Frame.Swift: the class uses a type of its name; Frame._title: its name is that of another \
                property's storage
                  GildedFrame: its superentity 'Frame' has no class
                  Picture: Picture.frames: the class cannot name its inverse, Frame.Picture
                """)
        #expect(!FileManager.default.fileExists(atPath: folder.file("Frame.swift").path))
    }

    @Test func aStoredInverseOfATransientRelationshipLeavesItsEntityWithoutAClass() throws {
        let folder = try ModelFolder(
            """
            <entity name="Box">
                <relationship name="contents" optional="YES" toMany="YES" transient="YES" deletionRule="Nullify" \
            destinationEntity="Toy"
                    inverseName="box" inverseEntity="Toy"/>
            </entity>
            <entity name="Toy">
                <relationship name="box" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Box" \
            inverseName="contents"
                    inverseEntity="Box"/>
            </entity>
            """)
        let run = folder.generate()
        #expect(run.status == 1)
        #expect(run.output == "written Box.swift\n")
        #expect(run.errors.hasSuffix("\n  Toy: Toy.box: the class cannot name its inverse, Box.contents\n"))
        #expect(folder.generate("--entity", "Box").status == 0)
    }

    @Test func entitiesWithoutAClassAreWarningsWhereThatIsWanted() throws {
        let folder = try ModelFolder(
            "<entity name=\"Frame\"><attribute name=\"context\" optional=\"YES\" "
                + "attributeType=\"String\"/></entity><entity name=\"Box\"/>"
        )
        let refused = folder.generate()
        #expect(refused.status == 1)
        let run = folder.generate("--allow-refusals")
        #expect(run.status == 0)
        #expect(run.output == "unchanged Box.swift\n")
        #expect(
            run.errors
                == "warning: An entity without a class: Frame: Frame.context: its name means something else in every "
                + "managed object.\n"
        )
        #expect(!FileManager.default.fileExists(atPath: folder.file("Frame.swift").path))
    }

    @Test func noFileIsNamedAsTheMainFileOfAProgram() throws {
        let folder = try ModelFolder("<entity name=\"Main\"><attribute name=\"x\" attributeType=\"String\"/></entity>")
        #expect(folder.generate().output == "written MainClass.swift\n")
        #expect(try folder.text("MainClass.swift").contains("final class Main: NSManagedObject {"))
        #expect(folder.generate().output == "unchanged MainClass.swift\n")
    }

    /// As old editors write every relationship.
    @Test func relationshipsMarkedAsIndexedAskForNoIndexes() throws {
        let folder = try ModelFolder(
            """
            <entity name="Crate">
                <attribute name="label" optional="YES" attributeType="String" indexed="YES"/>
                <relationship name="inside" optional="YES" minCount="1" maxCount="1" deletionRule="Nullify"
                    destinationEntity="Crate" inverseName="contents" inverseEntity="Crate" indexed="YES"/>
                <relationship name="contents" optional="YES" toMany="YES" deletionRule="Nullify" \
            destinationEntity="Crate"
                    inverseName="inside" inverseEntity="Crate" indexed="YES"/>
            </entity>
            """)
        let run = folder.generate()
        #expect(run.status == 0)
        #expect(run.errors == "")
        #expect(try folder.text("Crate.swift").contains("@Entity(indexes: [[\"label\"]])\n"))
    }

    @Test func aModelThatAStoreCarriesIsEnough() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let run = ToolRun(["generate", try folder.workplace.shop(), "--output", folder.outputPath])
        #expect(run.output == "written Maker.swift\nwritten Product.swift\n")
        #expect(
            try folder.text("Product.swift").contains(
                "    @Relationship(inverse: \\Maker.products) var maker: Maker?\n"))
    }

    @Test func marksWithoutEffectAreInTheClassesOfAStore() throws {
        let workplace = try Workplace()
        let secret = NSAttributeDescription()
        (secret.name, secret.attributeType) = ("secret", .stringAttributeType)
        (secret.allowsCloudEncryption, secret.isIndexedBySpotlight) = (true, true)
        let note = NSEntityDescription()
        (note.name, note.properties) = ("Note", [secret])
        let model = NSManagedObjectModel()
        model.entities = [note]
        let url = workplace.folder.appendingPathComponent("Notes.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, at: url))
        let run = ToolRun(["generate", url.path, "--file", "-"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors == "", "\(run.errors)")
        #expect(
            run.output.contains("    @Attribute(.spotlight, .cloudEncryption) var secret: String?\n"), "\(run.output)")
    }

    @Test func mistakesAreOneLine() throws {
        let folder = try ModelFolder("<entity name=\"A\"><attribute name=\"x\" attributeType=\"Integer 7\"/></entity>")
        #expect(
            ToolRun(["generate", "/nowhere/A.xcdatamodel"]).errors
                == "coredata: There is no file '/nowhere/A.xcdatamodel'. Check the path.\n")
        for run in [folder.generate(), ToolRun(["generate", folder.workplace.folder.path])] {
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("coredata: "))
            #expect(run.errors.split(separator: "\n").count == 1)
        }
        try folder.draw(ModelFolder.shop)
        // A file where the folder should be.
        let run = ToolRun(["generate", folder.modelPath, "--output", folder.modelPath + "/contents"])
        #expect(run.status == 1)
        #expect(run.errors.contains("cannot be written to"))
        #expect(run.errors.split(separator: "\n").count == 1)
        for options in [["--access", "private"], ["--file", "a", "--output", "b"], ["--entity", ","]] {
            #expect(ToolRun(["generate", folder.modelPath] + options).status == 64)
        }
    }
}
