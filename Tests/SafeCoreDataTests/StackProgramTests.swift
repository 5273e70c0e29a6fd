import TestSupport
import Testing

/// Programs that use a stack in ways that a test cannot: without a run loop, and with a main thread that waits.
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
}
