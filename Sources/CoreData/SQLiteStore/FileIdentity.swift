import Foundation

/// The identity of the file at a path, whatever its name: its device and its inode number.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Nil when there is no file, or none that the process can inspect.
    init?(path: String) {
        guard case .success(let identity) = Self.find(path) else { return nil }
        self = identity
    }

    /// The identity of an open file.
    init?(descriptor: Int32) {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return nil }
        self.init(information)
    }

    private init(_ information: stat) {
        device = information.st_dev
        number = information.st_ino
    }

    /// The file as `/proc/locks` names it: device and inode number.
    var nameInLocks: String {
        let device = UInt64(truncatingIfNeeded: device)
        let major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
        let minor = device & 0xff | (device >> 12) & ~0xff
        return String(format: "%02llx:%02llx:%llu", major, minor, UInt64(number))
    }

    static func find(_ path: String) -> Result<FileIdentity, SystemFailure> {
        var information = stat()
        return stat(path, &information) == 0 ? .success(FileIdentity(information)) : .failure(SystemFailure())
    }
}

/// The identities of an open database's files when it was opened.
///
/// Before a write they show whether the same files are still at their paths; otherwise the write
/// would be lost.
struct OpenedFiles {
    private var files: [(path: String, identity: FileIdentity)] = []

    /// - Parameter path: the database file.
    init(path: String, suffixes: [String]) {
        for suffix in suffixes {
            if let identity = FileIdentity(path: path + suffix) { files.append((path + suffix, identity)) }
        }
    }

    /// Checks that each file is still the one that was opened. Costs one system call per file.
    ///
    /// - Throws: an error that names the file when it was removed or replaced.
    func requireUnchanged(storeAt path: String) throws {
        for file in files {
            let name =
                file.path == path ? "The file of the store at \(path)" : "The file \(file.path) of the store at \(path)"
            let change: String
            switch FileIdentity.find(file.path) {
            case .success(file.identity): continue
            case .success: change = "was replaced by another one"
            case .failure(let failure) where failure.isNoFile: change = "was removed"
            case .failure(let failure):
                throw failure.error(
                    "\(name) cannot be looked at, so that nothing was saved", path: file.path,
                    otherwise: .persistentStoreSave)
            }
            throw CoreDataErrors.make(
                .persistentStoreSave,
                "\(name) \(change) while the store was open: nothing was saved, as it would have been lost.",
                recovery:
                    "Remove the store from its coordinator and add it again, and save then. Stores are removed and "
                    + "replaced with "
                    + "destroyPersistentStore and replacePersistentStore, which need not close them.",
                userInfo: [NSFilePathErrorKey: file.path])
        }
    }
}
