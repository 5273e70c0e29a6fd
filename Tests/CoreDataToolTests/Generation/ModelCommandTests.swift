import CoreData
import Testing

@testable import CoreDataToolKit

/// `coredata model export`.
@Suite struct ModelCommandTests {
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
}
