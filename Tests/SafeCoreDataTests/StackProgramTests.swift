import Foundation
import TestSupport
import Testing

/// Programs that use a stack in ways that a test cannot: without a run loop, and with a main thread that waits.
@Suite(.serialized) struct StackProgramTests {
    private func run(_ arguments: [String]) throws -> (output: String, status: Int32) {
        let process = Process()
        process.executableURL = CompilerRun.productsFolder.appendingPathComponent("StackStress")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus)
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
