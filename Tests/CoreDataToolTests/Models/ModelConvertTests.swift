import CoreData
import TestSupport
import Testing

@testable import CoreDataToolKit

/// `coredata model convert` and `coredata model hash`.
struct ModelConvertTests {
    @Test(arguments: ["Copy.xcdatamodel", "Copy.momd", "Copy.mom"])
    func everyFormHasTheSameHashes(_ name: String) throws {
        let workplace = try Workplace()
        let output = workplace.folder.appendingPathComponent(name)
        let arguments = ["model", "convert", try workplace.shop(), "--output", output.path]
        let run = ToolRun(arguments)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "written \(name)\n")
        let read = try NSManagedObjectModel(reading: output)
        #expect(read.entityVersionHashesByName == Shop.model().entityVersionHashesByName)
        #expect(ToolRun(arguments).output == "unchanged \(name)\n")
    }

    @Test func theFormsAreThoseOfTheOtherCommands() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let place = folder.workplace.folder
        for (command, name) in [("model export", "xcdatamodel"), ("model compile", "momd")] {
            let (first, second) = (
                place.appendingPathComponent("A.\(name)").path, place.appendingPathComponent("B.\(name)").path
            )
            let words = command.split(separator: " ").map(String.init)
            #expect(ToolRun(words + [folder.modelPath, "--output", first]).status == 0)
            #expect(ToolRun(["model", "convert", folder.modelPath, "--output", second]).status == 0)
            let files = try FileManager.default.contentsOfDirectory(atPath: first)
            #expect(try FileManager.default.contentsOfDirectory(atPath: second).sorted() == files.sorted())
            for file in files {
                #expect(
                    FileManager.default.contents(atPath: "\(first)/\(file)")
                        == FileManager.default.contents(atPath: "\(second)/\(file)"))
            }
        }
    }

    @Test func classesGoToAFileOrAFolder() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let place = folder.workplace.folder
        let file = place.appendingPathComponent("Model.swift")
        #expect(
            ToolRun(["model", "convert", folder.modelPath, "--output", file.path]).output == "written Model.swift\n")
        #expect(try String(contentsOf: file, encoding: .utf8).contains("class Firm"))
        let sources = place.appendingPathComponent("Classes").path
        #expect(ToolRun(["model", "convert", folder.modelPath, "--output", sources]).status == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: sources).sorted() == ["Article.swift", "Firm.swift"])
    }

    @Test func otherEndingsAreRefused() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        #expect(ToolRun(["model", "convert", folder.modelPath]).status == 64)
        let run = ToolRun(["model", "convert", folder.modelPath, "--output", "a.xml"])
        #expect(run.status == 64)
        #expect(run.errors.contains(".xcdatamodel, .momd, .mom, .swift"))
    }

    // MARK: Hashes

    @Test func hashesAreThoseOfTheModel() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let model = try folder.model()
        let hashes = model.entityVersionHashesByName.mapValues { $0.base64EncodedString() }
        let output = ToolRun(["model", "hash", folder.modelPath]).output
        #expect(
            output == """
                Article     \(hashes["Article"] ?? "")
                Maker       \(hashes["Maker"] ?? "")
                (checksum)  \(model.versionChecksum)

                """)
    }

    @Test func hashesOfAStoreAreThoseOfItsMetadata() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        let json = try #require(try ToolRun(["model", "hash", store, "--json"]).json() as? [String: Any])
        let expected = Shop.model().entityVersionHashesByName.mapValues { $0.base64EncodedString() }
        #expect(json["entities"] as? [String: String] == expected)
        // The model in the store is not asked.
        try SQLiteFile(URL(fileURLWithPath: store)).run("DROP TABLE Z_MODELCACHE")
        #expect(try ToolRun(["model", "hash", store, "--json"]).json() as? NSDictionary == json as NSDictionary)
    }

    @Test func aStoreWithoutHashesSaysSo() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        try SQLiteFile(URL(fileURLWithPath: store)).run("UPDATE Z_METADATA SET Z_PLIST = NULL")
        let run = ToolRun(["model", "hash", store])
        #expect(run.status == 1)
        #expect(run.errors.contains("has no version hashes"), "\(run.errors)")
    }
}
