import CoreData
import Testing

@testable import CoreDataToolKit

/// Errors of the command: one line, the right status, a mark where there is a place to mark.
struct ErrorTests {
    let workplace: Workplace
    let store: String

    init() throws {
        workplace = try Workplace()
        store = try workplace.shop()
    }

    @Test(arguments: [[], ["frob"], ["info"], ["info", "a", "b"], ["info", "a", "--jsn"], ["query", "a"]])
    func argumentsThatMakeNoCommandHaveTheStatusOfUsageErrors(_ arguments: [String]) {
        let run = ToolRun(arguments)
        #expect(run.status == 64)
        #expect(run.output.isEmpty)
        #expect(!run.errors.isEmpty)
    }

    @Test(arguments: [
        "--limit=-1", "--limit=x", "--offset=1.5", "--format=xml", "--sort=a:up", "--columns=,", "--where",
    ])
    func optionsWithoutSenseAreUsageErrors(_ option: String) {
        #expect(ToolRun(["query", store, "Product", option]).status == 64)
    }

    @Test(arguments: [["--help"], ["help"], ["help", "query"], ["info", "--help"], ["query", "-h"]])
    func helpGoesToTheOutput(_ arguments: [String]) {
        let run = ToolRun(arguments)
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("Usage: coredata"))
        #expect(run.errors.isEmpty)
    }

    @Test func aMissingFileIsNamed() {
        let run = ToolRun(["info", "/nowhere/Store.sqlite"])
        #expect(run.status == 1)
        #expect(run.errors == "coredata: There is no file '/nowhere/Store.sqlite'. Check the path.\n")
    }

    @Test func otherFilesAreNoStores() throws {
        #expect(ToolRun(["info", workplace.folder.path]).errors.contains("is a folder"))
        #expect(ToolRun(["info", try workplace.file("a", Data())]).errors.contains("is empty"))
        #expect(
            ToolRun(["info", try workplace.file("b", Data("Hello".utf8))]).errors.contains("not a SQLite database"))
        #expect(ToolRun(["info", try workplace.file("c", Data("<?xml?>".utf8))]).errors.contains("an XML file"))
        let xml = Data("<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"file:///CoreData.dtd\">".utf8)
        #expect(ToolRun(["info", try workplace.file("d", xml)]).errors.contains("a Core Data store in XML"))
        let binary = Data("CoreData".utf8) + Data([0, 0, 0, 1])
        #expect(ToolRun(["info", try workplace.file("e", binary)]).errors.contains("a binary Core Data store"))
        let plain = workplace.folder.appendingPathComponent("plain.sqlite").path
        try Shop.makePlainDatabase(at: plain)
        let run = ToolRun(["query", plain, "Product"])
        #expect(run.status == 1)
        #expect(run.errors.contains("no Core Data store"))
    }

    @Test func aDateWithoutQuotesIsACalculation() throws {
        let run = ToolRun(["query", store, "Product", "--where", "added > 2023-11-05"])
        #expect(run.status == 1)
        #expect(
            run.errors.contains("2023-11-05 is a calculation here. Write a date in quotes: '2023-11-05'."),
            "\(run.errors)")
        #expect(ToolRun(["query", store, "Product", "--where", "added > '2023-11-05'"]).status == 0)
        #expect(ToolRun(["query", store, "Product", "--where", "stock > 2023 - 11 - 5"]).status == 0)
    }

    /// The versions of the format for writing and for reading in the header: by the second one
    /// SQLite opens a log.
    @Test func differentVersionsInTheHeaderLeaveNoFilesBesideTheStore() throws {
        let url = URL(fileURLWithPath: store)
        var bytes = try Data(contentsOf: url)
        #expect(bytes[18] == 2)
        #expect(bytes[19] == 2)
        bytes[18] = 1
        try bytes.write(to: url)
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + suffix) }
        _ = ToolRun(["info", store])
        for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: store + suffix)) }
    }

    @Test func aTextFileIsNamedAsWhatItIs() throws {
        let text = try workplace.file("a.swift", Data("import CoreData // ünd mehr\n".utf8))
        for command in ["info", "generate"] {
            let run = ToolRun([command, text])
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("coredata: '\(text)' is "))
            #expect(run.errors.contains("a text file"), "\(run.errors)")
        }
        #expect(
            ToolRun(["generate", try workplace.file("empty.mom", Data())]).errors.contains(
                "is an empty file, and no model"))
        // The last character of what is looked at may be cut.
        let long = try workplace.file("b.txt", Data(String(repeating: "é", count: 3000).utf8))
        #expect(ToolRun(["generate", long]).errors.contains("a text file"))
        #expect(
            !ToolRun(["generate", try workplace.file("c", Data([0, 1, 0xff, 0xfe]))]).errors.contains("text file"))
    }

    @Test func theVersionIsShown() {
        let run = ToolRun(["--version"])
        #expect(run.status == 0)
        #expect(run.output == "coredata \(CommandLineTool.version)\n")
        #expect(run.errors == "")
    }

    @Test func anUnknownEntityBringsNearNames() {
        let run = ToolRun(["query", store, "Prodct"])
        #expect(run.status == 1)
        #expect(run.errors.contains("Did you mean 'Product'?"))
    }

    @Test func aBadPredicateIsMarked() {
        let run = ToolRun(["query", store, "Product", "--where", "stock > > 4"])
        #expect(run.status == 1)
        #expect(run.errors.split(separator: "\n").dropFirst() == ["stock > > 4", "        ^"])
    }

    @Test func anUnknownKeyIsMarkedAndBringsNearNames() {
        let run = ToolRun(["query", store, "Product", "--where", "name != nil AND stok > 4"])
        #expect(run.status == 1)
        #expect(run.errors.contains("Did you mean 'stock'?"))
        #expect(run.errors.split(separator: "\n").last == "                ^")
    }

    @Test func keysOfSortAndColumnsAreChecked() {
        #expect(ToolRun(["query", store, "Product", "--sort", "nme"]).errors.contains("Did you mean 'name'?"))
        #expect(ToolRun(["query", store, "Product", "--sort", "maker"]).errors.contains("is a relationship"))
        #expect(ToolRun(["query", store, "Product", "--columns", "nme"]).errors.contains("Did you mean 'name'?"))
    }

    @Test func textThatIsNoDateIsMarked() {
        let run = ToolRun(["query", store, "Product", "--where", "added > 'soon'"])
        #expect(run.errors.contains("'soon' is not a date"))
        #expect(run.errors.hasSuffix("         ^\n"))
    }

    @Test func aReaderThatGoesAwayIsNoError() {
        let errors = OutputWriter { _ in }
        let output = OutputWriter { _ in throw OutputWriter.Failure(code: EPIPE) }
        let tool = CommandLineTool(Console(output: output, errors: errors, columns: 80))
        #expect(tool.run(["query", store, "Product"]) == .success)
    }

    @Test func outputThatCannotBeWrittenIsAnError() {
        let errors = OutputWriter { _ in }
        let output = OutputWriter { _ in throw OutputWriter.Failure(code: ENOSPC) }
        let tool = CommandLineTool(Console(output: output, errors: errors, columns: 80))
        #expect(tool.run(["query", store, "Product"]) == .failure)
    }

    @Test func rowsInAJournalAreShownWhereItsSharedMemoryCannotBeMade() throws {
        let live = workplace.folder.appendingPathComponent("Live.sqlite").path
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
        try coordinator.addPersistentStore(type: .sqlite, at: URL(fileURLWithPath: live))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Maker", into: context).setValue("Ida", forKey: "name")
            try context.save()
        }
        let copy = workplace.folder.appendingPathComponent("Copy.sqlite").path
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: live + suffix, toPath: copy + suffix) }
        try FileManager.default.createSymbolicLink(atPath: copy + "-shm", withDestinationPath: "/nowhere/at/all")
        let run = ToolRun(["query", copy, "Maker", "--format", "csv", "--columns", "name"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Ida"))
    }
}
