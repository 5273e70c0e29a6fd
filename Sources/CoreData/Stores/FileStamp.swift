import Foundation

/// The identity, size and time of a file, of which at least one differs after a write.
struct FileStamp: Equatable, Sendable {
    private let device: dev_t
    private let number: ino_t
    private let size: off_t
    private let seconds: time_t
    private let nanoseconds: Int

    /// Nil when there is no file, or an empty one.
    init?(path: String) {
        var information = stat()
        guard stat(path, &information) == 0, information.st_size > 0 else { return nil }
        self.init(information)
    }

    /// The stamp of an open file; nil when it is empty.
    init?(descriptor: Int32) {
        var information = stat()
        guard fstat(descriptor, &information) == 0, information.st_size > 0 else { return nil }
        self.init(information)
    }

    private init(_ information: stat) {
        device = information.st_dev
        number = information.st_ino
        size = information.st_size
        seconds = information.st_mtim.tv_sec
        nanoseconds = information.st_mtim.tv_nsec
    }
}
