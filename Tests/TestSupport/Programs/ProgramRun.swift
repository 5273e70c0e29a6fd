import Foundation

/// A program that ran to its end.
public struct ProgramRun {
    /// Standard output and standard error.
    public let output: String
    /// Its status, or the number of the signal that ended it.
    public let status: Int32

    /// - Parameter hearsErrors: Whether `output` has standard error, too, and not only standard
    ///   output.
    public init(_ program: URL, _ arguments: [String], hearsErrors: Bool = true) throws {
        let pipe = Pipe()
        let process = try ChildProcess(
            program.path, arguments, output: pipe.fileHandleForWriting,
            error: hearsErrors ? pipe.fileHandleForWriting : .standardError)
        try pipe.fileHandleForWriting.close()
        // Read before waiting: a program whose output nobody takes would never end.
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        output = String(decoding: data, as: UTF8.self)
        status = process.waitForEnd()
    }

    /// Runs the compiler.
    public static func swiftc(_ arguments: [String]) throws -> ProgramRun {
        try ProgramRun(URL(fileURLWithPath: "/usr/bin/env"), ["swiftc"] + arguments)
    }
}
