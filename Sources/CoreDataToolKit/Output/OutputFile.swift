import Foundation

/// A file that is written beside its place, and moved there when it is complete.
struct OutputFile {
    private let writer: OutputWriter
    private let handle: FileHandle
    private let path: String

    private var partialPath: String { path + ".part" }

    /// Writes a file. If `body` fails, a file that is there stays as it is.
    ///
    /// - Throws: `ToolError` when the file cannot be written, or an error of `body`.
    static func write<Result>(_ path: String, _ body: (OutputWriter) throws -> Result) throws -> Result {
        let file = try OutputFile(path)
        do {
            let result = try body(file.writer)
            try file.finish()
            return result
        } catch {
            file.discard()
            throw error
        }
    }

    private init(_ path: String) throws {
        self.path = path
        let partial = path + ".part"
        guard FileManager.default.createFile(atPath: partial, contents: nil),
            let handle = FileHandle(forWritingAtPath: partial)
        else { throw ToolError("'\(path)' cannot be written. Check the folder and its permissions.") }
        self.handle = handle
        writer = OutputWriter(descriptor: handle.fileDescriptor)
    }

    /// Moves the complete file to its place, over a file that is there.
    private func finish() throws {
        do {
            try writer.flush()
            try handle.synchronize()
            try handle.close()
            guard rename(partialPath, path) == 0 else { throw OutputWriter.Failure(code: errno) }
        } catch let failure as OutputWriter.Failure {
            throw ToolError("'\(path)' cannot be written: \(failure.reason)")
        } catch {
            throw ToolError("'\(path)' cannot be written: \(ErrorText.line(error))")
        }
    }

    /// Removes the incomplete file.
    private func discard() {
        try? handle.close()
        try? FileManager.default.removeItem(atPath: partialPath)
    }
}
