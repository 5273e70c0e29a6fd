import Foundation

/// A program that runs until its standard input ends.
public final class RunningProgram {
    private let process: ChildProcess
    private let input = Pipe()
    private let output = Pipe()
    private var hasEnded = false

    /// Starts a program and waits for its first line.
    ///
    /// - Throws: when it cannot be started or ends without a line.
    public init(_ program: URL, _ arguments: [String]) throws {
        process = try ChildProcess(
            program.path, arguments, input: input.fileHandleForReading, output: output.fileHandleForWriting,
            error: .standardError)
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
        if nextLine().isEmpty { throw CocoaError(.executableLoad) }
    }

    /// The next line that the program prints, without its end; empty when it prints no more.
    public func nextLine() -> String {
        var line = Data()
        while true {
            let byte = output.fileHandleForReading.readData(ofLength: 1)
            if byte.isEmpty || byte.first == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line += byte
        }
    }

    deinit { stop() }

    /// Ends the program's input and gives what it prints until its end.
    public func finish() -> String {
        try? input.fileHandleForWriting.close()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        stop()
        return String(decoding: data, as: UTF8.self)
    }

    /// Ends the program's input and waits for its end.
    public func stop() {
        if hasEnded { return }
        try? input.fileHandleForWriting.close()
        _ = process.waitForEnd()
        hasEnded = true
    }
}
