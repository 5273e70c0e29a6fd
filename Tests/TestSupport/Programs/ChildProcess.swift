import Foundation

/// A program that this process has started. It has three descriptors: its input, its output, and
/// where it writes errors.
///
/// Not Foundation's `Process`, which sees the end of a program by a socket that the program's own
/// children inherit. Where one of them outlives it, as a server does, the program is never reaped,
/// and a thread that waits for it waits for ever.
public struct ChildProcess {
    private let processID: pid_t

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - input: What it reads; nil for nothing.
    ///   - output: Where it writes; nil for nowhere.
    ///   - error: Where it writes errors; nil for nowhere.
    public init(
        _ program: String, _ arguments: [String], input: FileHandle? = nil, output: FileHandle?, error: FileHandle?
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, file) in [input, output, error].enumerated() {
            let descriptor = Int32(descriptor)
            if let file {
                posix_spawn_file_actions_adddup2(&actions, file.fileDescriptor, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            }
        }
        // Whoever waits for the end of a file would wait for every program that has it open.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        for descriptor in 3..<Int32(min(limit.rlim_cur, 4096)) {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        // A thread of Dispatch blocks all signals, and the program would inherit that: a shell
        // would never see the end of a program that it has started.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var processID: pid_t = 0
        let failure = posix_spawn(&processID, program, &actions, &attributes, &words, environ)
        guard failure == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: failure) ?? .EINVAL, userInfo: [NSFilePathErrorKey: program])
        }
        self.processID = processID
    }

    /// Waits for its end, once. Gives its status, or the number of the signal that ended it.
    public func waitForEnd() -> Int32 {
        var status: Int32 = 0
        while waitpid(processID, &status, 0) < 0, errno == EINTR {}
        return status & 0x7f == 0 ? (status >> 8) & 0xff : status & 0x7f
    }
}
