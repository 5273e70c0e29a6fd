import Foundation

/// A program that ran to its end.
public struct ProgramRun {
    /// Standard output and standard error.
    public let output: String
    public let status: Int32

    public init(_ program: URL, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        // Read before waiting: a program whose output nobody takes would never end.
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        output = String(decoding: data, as: UTF8.self)
        status = process.terminationStatus
    }

    /// Runs the compiler.
    public static func swiftc(_ arguments: [String]) throws -> ProgramRun {
        try ProgramRun(URL(fileURLWithPath: "/usr/bin/env"), ["swiftc"] + arguments)
    }
}
