import Foundation
import TestSupport
import Testing

/// Programs that use a stack in ways that a test cannot: without a run loop, and with a main thread
/// that waits.
@Suite(.serialized) struct StackProgramTests {
    private func run(_ arguments: [String]) throws -> ProgramRun {
        try ProgramRun(CompilerRun.productsFolder.appendingPathComponent("StackStress"), arguments)
    }

    @Test func aProgramWhoseMainThreadWaitsIsServed() throws {
        let result = try run(["blocking"])
        #expect(result.output == "55\n")
        #expect(result.status == 0)
    }

    @Test func concurrentReadsAndWritesSeeWhatWasWritten() throws {
        let result = try run(["concurrent", "15"])
        #expect(result.output == "done\n")
        #expect(result.status == 0)
    }

    /// One of the programs in a document.
    private func program(_ number: Int, of document: String) throws -> String {
        let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent(document)
        let text = try String(contentsOf: document, encoding: .utf8)
        let blocks = text.components(separatedBy: "```swift\n").dropFirst()
        return try #require(blocks.dropFirst(number).first?.components(separatedBy: "```").first)
    }

    /// With its store in a folder of the test's.
    @Test func theFirstProgramOfTheReadmePrintsWhatItSays() throws {
        let block = try program(0, of: "README.md")
        let folder = try TemporaryFolder()
        let place = "let place = URL(fileURLWithPath: \"\(folder.file("Shop.sqlite").path)\")"
        let main = block.replacing(#/let place = .*/#, with: place)
        #expect(main != block)
        let program = try CompiledProgram([], main: main)
        #expect(program.complaints == "")
        #expect(program.output == "Nut 3\nWasher 0\n")
    }

    @Test func theProgramFromAMacInTheReadmePrintsTheSame() throws {
        let program = try CompiledProgram([], main: program(1, of: "README.md"))
        #expect(program.complaints == "")
        #expect(program.output == "Nut 3\nWasher 0\n")
    }

    @Test func theServerOfTheGuidePrintsWhatItSays() throws {
        let program = try CompiledProgram([], main: program(0, of: "Sources/SafeCoreData/SafeCoreData.docc/Servers.md"))
        #expect(program.complaints == "")
        #expect(program.output == "true (items: 2, empty: 0)\n0 -1\n")
    }

    @Test func readsAtTheTopLevelOfAProgramWaitForTheStore() throws {
        let main = """
            import SafeCoreData

            @Entity final class Item: NSManagedObject { var name: String }

            let stack = DataStack(entities: Item.self)
            let count = try await stack.read { try $0.count(Item.self) }
            let views = try await stack.read { context in
                try context.fetch(Item.self)
            }
            print(count, views.count)
            print(try stack.readNow { try $0.count(Item.self) })
            """
        let program = try CompiledProgram([], main: main)
        #expect(program.complaints == "")
        #expect(program.output == "0 0\n0\n")
    }
}
