import Foundation

/// A file that is written beside its place, and moved there when it is complete.
struct OutputFile {
    let writer: OutputWriter
    private let handle: FileHandle
    private let path: String

    private var partialPath: String { path + ".part" }

    /// - Throws: `ToolError` when the file cannot be created.
    init(_ path: String) throws {
        self.path = path
        let partial = path + ".part"
        guard FileManager.default.createFile(atPath: partial, contents: nil),
            let handle = FileHandle(forWritingAtPath: partial)
        else { throw ToolError("'\(path)' cannot be written. Check the folder and its permissions.") }
        self.handle = handle
        writer = OutputWriter(descriptor: handle.fileDescriptor)
    }

    /// Moves the complete file to its place, over a file that is there.
    func finish() throws {
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
    func discard() {
        try? handle.close()
        try? FileManager.default.removeItem(atPath: partialPath)
    }
}
