import CoreData
import Testing

@testable import CoreDataToolKit

/// `coredata model export` and `coredata model compile`.
struct ModelCommandTests {
    @Test func theModelOfAStoreBecomesAModelFile() throws {
        let workplace = try Workplace()
        let store = try workplace.shop()
        let model = workplace.folder.appendingPathComponent("Shop.xcdatamodel")
        let run = ToolRun(["model", "export", store, "--output", model.path])
        #expect(run.status == 0)
        #expect(run.errors == "")
        #expect(run.output == "written Shop.xcdatamodel\n")
        #expect(ToolRun(["model", "export", store, "--output", model.path]).output == "unchanged Shop.xcdatamodel\n")
        let read = try NSManagedObjectModel(reading: model)
        #expect(read.entityVersionHashesByName == Shop.model().entityVersionHashesByName)
        #expect(ToolRun(["query", store, "Product", "--model", model.path]).status == 0)
    }

    @Test func withoutAnOutputTheTextIsPrinted() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let run = ToolRun(["model", "export", folder.modelPath])
        #expect(run.output == (try folder.model().xcdatamodelContents().text) + "\n")
    }

    @Test func mistakesAreOneLine() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        #expect(ToolRun(["model", "import", folder.modelPath]).status == 64)
        #expect(ToolRun(["model", "export", folder.modelPath, "--output", "a.xml"]).status == 64)
        for run in [
            ToolRun(["model", "export", "/nowhere.mom"]),
            ToolRun(["model", "export", folder.modelPath, "--output", folder.modelPath + "/contents/X.xcdatamodel"]),
        ] {
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("coredata: "))
            #expect(run.errors.split(separator: "\n").count == 1)
        }
    }

    @Test func aSourceIsCompiledWithAllItsVersions() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        let place = folder.workplace.folder
        let source = place.appendingPathComponent("Shop.xcdatamodeld")
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
        for version in ["Shop", "Shop 2"] {
            try FileManager.default.copyItem(
                atPath: folder.modelPath, toPath: source.appendingPathComponent("\(version).xcdatamodel").path)
        }
        let current = ["_XCCurrentVersionName": "Shop.xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
            .write(to: source.appendingPathComponent(".xccurrentversion"))
        let compiled = place.appendingPathComponent("Shop.momd")
        let arguments = ["model", "compile", source.path, "--output", compiled.path, "--module", "Store"]
        #expect(ToolRun(arguments).output == "written Shop.momd\n")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: compiled.path).sorted() == [
                "Shop 2.mom", "Shop.mom", "VersionInfo.plist",
            ])
        let model = try folder.model()
        for version in [nil, "Shop", "Shop 2"] {
            let read = try NSManagedObjectModel(reading: compiled, version: version)
            #expect(read.entityVersionHashesByName == model.entityVersionHashesByName)
            #expect(read.entitiesByName["Article"]?.managedObjectClassName == "Store.Article")
        }
        let list = try PropertyListSerialization.propertyList(
            from: Data(contentsOf: compiled.appendingPathComponent("VersionInfo.plist")), options: [], format: nil)
        let info = try #require(list as? [String: Any])
        #expect(info["NSManagedObjectModel_CurrentVersionName"] as? String == "Shop")
        #expect(
            (info["NSManagedObjectModel_VersionHashes"] as? [String: [String: Data]])?["Shop 2"]
                == model.entityVersionHashesByName)
        #expect((info["NSManagedObjectModel_VersionChecksums"] as? [String: String])?["Shop"] == model.versionChecksum)
        #expect(ToolRun(arguments).output == "unchanged Shop.momd\n")
        try FileManager.default.removeItem(at: source.appendingPathComponent("Shop 2.xcdatamodel"))
        #expect(ToolRun(arguments).output == "written Shop.momd\n")
        #expect(!FileManager.default.fileExists(atPath: compiled.appendingPathComponent("Shop 2.mom").path))
    }

    @Test func whatCannotBeCompiledIsSaid() throws {
        let folder = try ModelFolder(ModelFolder.shop)
        #expect(ToolRun(["model", "compile", folder.modelPath]).status == 64)
        #expect(ToolRun(["model", "compile", folder.modelPath, "--output", "X.mom"]).status == 64)
        #expect(ToolRun(["model", "export", folder.modelPath, "--module", "Shop"]).status == 64)
        let output = folder.workplace.folder.appendingPathComponent("X.momd").path
        #expect(ToolRun(["model", "compile", output, "--output", output]).errors.contains("no source of a model"))
        try folder.draw("<entity/>")
        let run = ToolRun(["model", "compile", folder.modelPath, "--output", output])
        #expect(run.status == 1)
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(!FileManager.default.fileExists(atPath: output))
    }
}
