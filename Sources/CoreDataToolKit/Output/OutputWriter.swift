import Foundation

/// Writes text to a file descriptor through a buffer, so that results of any size are streamed.
public final class OutputWriter {
    /// The reason why nothing more can be written.
    struct Failure: Error {
        let code: Int32

        var isBrokenPipe: Bool { code == EPIPE }
        var reason: String { String(cString: strerror(code)) }
    }

    private var buffer: [UInt8] = []
    private let send: (UnsafeRawBufferPointer) throws -> Void
    private static let capacity = 1 << 16

    /// Creates a writer that passes its bytes to a function, one buffer at a time.
    init(send: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.send = send
    }

    /// Creates a writer to an open file, terminal or pipe.
    convenience init(descriptor: Int32) {
        self.init { bytes in
            var rest = bytes
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = systemWrite(descriptor, start, rest.count)
                if count < 0 {
                    if errno == EINTR { continue }
                    throw Failure(code: errno)
                }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    func write(_ text: String) throws {
        buffer.appendBytes(of: text)
        if buffer.count >= Self.capacity { try flush() }
    }

    /// Adds a value as JSON in one line.
    func write(json value: JSONValue, end: String) throws {
        value.append(to: &buffer)
        try write(end)
    }

    /// Adds an object as JSON in one line.
    ///
    /// - Parameter keys: the keys of the values as JSON, in quotes.
    func write(json values: some Sequence<JSONValue>, keys: [String], end: String) throws {
        JSONValue.append(values, keys: keys, to: &buffer)
        try write(end)
    }

    /// Adds a line for people, escaped so that names from files cannot control the terminal or
    /// break the line.
    func write(line: String) throws { try write(DisplayWidth.printable(line) + "\n") }

    func flush() throws {
        guard !buffer.isEmpty else { return }
        defer { buffer.removeAll(keepingCapacity: true) }
        try buffer.withUnsafeBytes(send)
    }
}

/// Calls the system's `write`, whose name the writer's own method hides.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
