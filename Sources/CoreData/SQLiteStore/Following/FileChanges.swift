import Dispatch
import Foundation
import Synchronization

/// Calls back when files are written, by this process or another one: the system's inotify, without
/// polling.
final class FileChanges: Sendable {
    static let shared = FileChanges()

    private struct Watch: Sendable {
        let id: UUID
        let onChange: @Sendable () -> Void
    }

    private struct State {
        /// The system's queue of events; nil before the first watch.
        var source: (any DispatchSourceRead)?
        var descriptor: Int32 = -1
        /// The watches by the system's number of the file. Paths of one file share a number.
        var watches: [Int32: [Watch]] = [:]
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "OpenCoreData.FileChanges", qos: .utility)

    private init() {}

    /// Begins to watch a file.
    ///
    /// - Parameter onChange: called on a queue of this class when the file was written. Several
    ///   writes may be one call.
    /// - Returns: identifies the watch.
    /// - Throws: a `POSIXError` where the file does not exist or the system watches no more files.
    func watch(_ path: String, onChange: @escaping @Sendable () -> Void) throws -> UUID {
        let watch = Watch(id: UUID(), onChange: onChange)
        try state.withLock { state in
            if state.source == nil { try begin(&state) }
            let number = inotify_add_watch(state.descriptor, path, UInt32(IN_MODIFY))
            guard number >= 0 else { throw Self.systemError() }
            state.watches[number, default: []].append(watch)
        }
        return watch.id
    }

    func end(_ id: UUID) {
        state.withLock { state in
            for (number, watches) in state.watches where watches.contains(where: { $0.id == id }) {
                let others = watches.filter { $0.id != id }
                state.watches[number] = others.isEmpty ? nil : others
                // Fails for a file that was deleted, whose watch has ended.
                if others.isEmpty { inotify_rm_watch(state.descriptor, number) }
            }
        }
    }

    private static func systemError() -> POSIXError { POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }

    private func begin(_ state: inout State) throws {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { throw Self.systemError() }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { [self] in readEvents(descriptor) }
        source.activate()
        (state.descriptor, state.source) = (descriptor, source)
    }

    private func readEvents(_ descriptor: Int32) {
        let changed = Self.numbersOfChangedFiles(descriptor)
        let watches = state.withLock { state in
            // -1: the system had more events than it keeps.
            changed.contains(-1)
                ? state.watches.values.flatMap { $0 } : changed.flatMap { state.watches[$0] ?? [] }
        }
        for watch in watches { watch.onChange() }
    }

    /// Reads all events that have come.
    private static func numbersOfChangedFiles(_ descriptor: Int32) -> Set<Int32> {
        var numbers = Set<Int32>()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return numbers }
            var offset = 0
            buffer.withUnsafeBytes { bytes in
                // Each event is a header with the length of a name, and the name. The system writes
                // whole events.
                while offset + MemoryLayout<inotify_event>.size <= count {
                    let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
                    numbers.insert(event.wd)
                    offset += MemoryLayout<inotify_event>.size + Int(event.len)
                }
            }
        }
    }
}
