import Foundation

/// The processes that hold SQLite's locks on the files of a store.
///
/// Linux lists locks in `/proc/locks`. Where that cannot be read, or a process cannot be seen,
/// nobody is named.
enum LockHolders {
    /// A POSIX lock that is held.
    private struct Lock {
        let process: pid_t
        let isForWriting: Bool
        let start: Int64

        /// A line is `1: POSIX  ADVISORY  WRITE 4242 fe:00:1234 120 120`. In the lines of locks
        /// that are waited for, an arrow follows the number.
        init?(_ line: Substring, of files: [String]) {
            let words = line.split(separator: " ")
            guard words.count == 8, words[1] == "POSIX", files.contains(String(words[5])),
                let process = pid_t(words[4]), process > 0, let start = Int64(words[6])
            else { return nil }
            self.process = process
            self.start = start
            isForWriting = words[3] == "WRITE"
        }
    }

    /// Names who keeps others from a store: the processes that write to it or, if there are none,
    /// those that have it open. Nil if nobody is found.
    static func names(ofStoreAt path: String) -> String? {
        let locks = locks(onStoreAt: path, ["", "-shm"])
        return names(locks.filter(\.isForWriting)) ?? names(locks)
    }

    /// Names the processes that read a state of the store's write-ahead log. Nil if nobody is
    /// found.
    static func namesOfReaders(ofStoreAt path: String) -> String? {
        names(locks(onStoreAt: path, ["-shm"]).filter { readMarks.contains($0.start) })
    }

    /// The bytes that readers of the log lock in the shared memory.
    ///
    /// Source: <https://www.sqlite.org/walformat.html#wal_locks>
    private static let readMarks: ClosedRange<Int64> = 123...127

    private static func locks(onStoreAt path: String, _ suffixes: [String]) -> [Lock] {
        // The shared memory is beside the target of a symbolic link.
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let files = suffixes.compactMap { FileIdentity(path: file + $0)?.nameInLocks }
        guard !files.isEmpty, let list = text(ofFileAt: "/proc/locks") else { return [] }
        return list.split(separator: "\n").compactMap { Lock($0, of: files) }
    }

    /// Other processes are named before this one, which has the store open in any case.
    private static func names(_ locks: [Lock]) -> String? {
        let own = getpid()
        let others = Set(locks.map(\.process)).subtracting([own]).sorted()
        if others.isEmpty { return locks.isEmpty ? nil : "another connection of this process" }
        return others.map { process in
            let name = text(ofFileAt: "/proc/\(process)/comm")?.trimmingCharacters(in: .newlines)
            return "process \(process)" + (name.map { " (\($0))" } ?? "")
        }.joined(separator: ", ")
    }

    private static func text(ofFileAt path: String) -> String? {
        (try? Data(contentsOf: URL(fileURLWithPath: path))).map { String(decoding: $0, as: UTF8.self) }
    }
}
