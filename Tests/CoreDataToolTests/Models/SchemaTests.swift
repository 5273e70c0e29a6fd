import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata schema`.
struct SchemaTests {
    @Test func aModelIsShownAsText() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let run = ToolRun(["schema", folder.modelPath])
        #expect(run.status == 0)
        #expect(run.errors == "")
        let checksum = try folder.model().versionChecksum
        #expect(
            run.output == """
                Model     Shop.xcdatamodel
                Checksum  \(checksum)

                Article (class Article)
                  Attributes
                    name   String   minimum length 1, maximum length 40
                    note   String   optional, renaming identifier remark
                    price  Decimal  default 0.1, minimum 0
                  Relationships
                    maker  Maker  to-one, optional, inverse Maker.articles, delete rule nullify
                  Unique
                    name

                Maker (class Firm)
                  Attributes
                    articleCount  Integer 64  derivation articles.@count
                  Relationships
                    articles  Article  to-many, ordered, inverse Article.maker, delete rule cascade

                """)
    }

    @Test func showingAModelIsTheSameCommand() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        #expect(ToolRun(["model", "show", folder.modelPath]).output == ToolRun(["schema", folder.modelPath]).output)
    }

    private func entity(_ name: String, in run: ToolRun) throws -> [String: Any] {
        let model = try #require(try run.json() as? [String: Any])
        let entities = try #require(model["entities"] as? [[String: Any]])
        return try #require(entities.first { $0["name"] as? String == name })
    }

    private func property(_ name: String, _ kind: String, of entity: [String: Any]) throws -> [String: Any] {
        let properties = try #require(entity[kind] as? [[String: Any]])
        return try #require(properties.first { $0["name"] as? String == name })
    }

    @Test func everyFactOfAnAttributeIsInJSON() throws {
        let folder = try ModelFolder(EveryKind.model)
        let everything = try entity("Everything", in: ToolRun(["schema", folder.modelPath, "--json"]))
        func fact(_ attribute: String, _ key: String) throws -> String {
            let value = try property(attribute, "attributes", of: everything)[key]
            return value.map { "\($0)" } ?? "nothing"
        }
        #expect(try fact("text", "type") == "String")
        #expect(try fact("text", "minimumLength") == "2")
        #expect(try fact("text", "maximumLength") == "9")
        #expect(try fact("text", "pattern") == "\\d+ \\w*")
        #expect(try fact("real", "minimum") == "-2.5")
        #expect(try fact("time", "maximum") == "2001-01-02T00:00:00.500Z")
        #expect(try fact("photo", "allowsExternalStorage") == "1")
        #expect(try fact("color", "valueTransformer") == "ColorTransformer")
        #expect(try fact("kept", "isPreservedAfterDeletion") == "1")
        #expect(try fact("renamed", "renamingIdentifier") == "original")
        #expect(try fact("renamed", "versionHashModifier") == "2")
        #expect(try fact("partCount", "derivation") == "parts.@count")
        #expect(try fact("cache", "isTransient") == "1")
        #expect(try fact("flag", "defaultValue") == "1")
        #expect(try fact("computedDefaultURI", "defaultValue") == "https://example.org/a?b=1")
        #expect(try fact("small", "isOptional") == "0")
    }

    @Test func everyFactOfARelationshipIsInJSON() throws {
        let folder = try ModelFolder(EveryKind.model)
        let everything = try entity("Everything", in: ToolRun(["schema", folder.modelPath, "--json"]))
        let parts = try property("parts", "relationships", of: everything)
        #expect(parts["destination"] as? String == "Part")
        #expect(parts["isToMany"] as? Bool == true)
        #expect(parts["minCount"] as? Int == 1)
        #expect(parts["maxCount"] as? Int == 30)
        #expect(parts["deleteRule"] as? String == "cascade")
        #expect(parts["inverse"] as? [String: String] == ["entity": "Part", "name": "in"])
        let pieces = try property("pieces", "relationships", of: everything)
        #expect(pieces["isOrdered"] as? Bool == true)
        #expect(pieces["deleteRule"] as? String == "deny")
    }

    @Test func indexesConstraintsAndHashesAreInJSON() throws {
        let folder = try ModelFolder(EveryKind.model)
        let everything = try entity("Everything", in: ToolRun(["schema", folder.modelPath, "--json"]))
        let indexes = try #require(everything["indexes"] as? [[String: Any]])
        #expect(indexes.map { $0["name"] as? String } == ["byTextAndClassIndex", "byTimeIndex", "time"])
        #expect(everything["uniquenessConstraints"] as? [[String]] == [["text"], ["short", "class"]])
        let hash = try folder.model().entityVersionHashesByName["Everything"]?.base64EncodedString()
        #expect(everything["versionHash"] as? String == hash)
    }

    @Test func onlyNamedEntitiesAreShown() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let output = ToolRun(["schema", folder.modelPath, "--entity", "Maker"]).output
        #expect(output.contains("\nMaker (class Firm)\n"))
        #expect(!output.contains("\nArticle "))
        let run = ToolRun(["schema", folder.modelPath, "--entity", "Makr"])
        #expect(run.status == 1)
        #expect(run.errors.contains("Did you mean 'Maker'?"), "\(run.errors)")
    }

    @Test func asSwiftItIsWhatGenerateWrites() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let run = ToolRun(["schema", folder.modelPath, "--format", "swift"])
        #expect(run.output == ToolRun(["generate", folder.modelPath, "--file", "-"]).output)
        #expect(run.output.contains("class Firm"))
    }

    // MARK: Stores

    @Test func transformableAttributesOfAStoreStayTransformable() throws {
        let workplace = try Workplace()
        let product = try entity("Product", in: ToolRun(["schema", try workplace.shop(), "--json"]))
        #expect(try property("tags", "attributes", of: product)["type"] as? String == "Transformable")
        #expect(product["class"] as? String == "ShopOfSomeoneElse.Product")
    }

    @Test func theOriginOfTheModelIsNamed() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        func origin(_ arguments: String...) throws -> String? {
            (try ToolRun(["schema", store, "--json"] + arguments).json() as? [String: Any])?["modelOrigin"] as? String
        }
        let model = workplace.folder.appendingPathComponent("Shop.xcdatamodel").path
        #expect(ToolRun(["model", "export", store, "--output", model]).status == 0)
        #expect(try origin() == "cache")
        #expect(try origin("--model", model) == "file")
        try SQLiteFile(URL(fileURLWithPath: store)).run("DELETE FROM Z_MODELCACHE")
        #expect(try origin() == "tables")
        #expect(ToolRun(["schema", store]).output.hasPrefix("Model     inferred from the tables"))
    }

    @Test func aModelInferredFromTablesHasTheirColumns() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        try SQLiteFile(URL(fileURLWithPath: store)).run("DROP TABLE Z_MODELCACHE")
        let product = try entity("Product", in: ToolRun(["schema", store, "--json"]))
        #expect(try property("added", "attributes", of: product)["type"] as? String == "Date")
        #expect(try property("maker", "relationships", of: product)["destination"] as? String == "Maker")
    }

    @Test func optionsForTheOtherKindOfOperandAreRefused() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let store = try folder.workplace.shop()
        #expect(ToolRun(["schema", store, "--version", "Shop 2"]).errors.contains("leave out --version"))
        #expect(ToolRun(["schema", folder.modelPath, "--model", "X.momd"]).errors.contains("leave out --model"))
        #expect(ToolRun(["schema", "/nowhere.sqlite"]).status == 1)
    }

    @Test(.enabled(if: FixtureStores.arePresent), arguments: FixtureStores.all)
    func everyFixtureIsDescribed(_ fixture: String) throws {
        let store = try Workplace()
        let path = try store.copy(fixture)
        let before = try store.contents()
        let text = ToolRun(["schema", path])
        #expect(text.status == 0, "\(text.errors)")
        let database = try Database(copyOf: fixture)
        for row in database.rows("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT < 16000") {
            // A store that was migrated in place keeps the former name.
            let isNamed = text.lines.contains {
                $0 == row[0] || $0.hasPrefix(row[0] + " (") || $0.contains("renaming identifier \(row[0]))")
            }
            #expect(isNamed, "\(row[0])")
        }
        #expect(ToolRun(["schema", path, "--json"]).status == 0)
        #expect(try store.contents() == before)
    }

    @Test func namesSteerNoTerminal() throws {
        let workplace = try Workplace()
        let url = workplace.folder.appendingPathComponent("Odd.sqlite")
        let model = NSManagedObjectModel([
            NSEntityDescription("Odd\n\u{1b}[2J", [NSAttributeDescription("a\u{1b}[2J", .stringAttributeType)])
        ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, at: url))
        let run = ToolRun(["schema", url.path])
        #expect(run.status == 0)
        #expect(run.output.contains("Odd␊␛[2J"), "\(run.output)")
        #expect(!run.output.contains("\u{1b}"))
    }
}
