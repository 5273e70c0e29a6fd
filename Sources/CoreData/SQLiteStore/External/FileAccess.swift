import Foundation

/// The permissions and ownership of a store's file, for other files of the store.
struct FileAccess {
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t

    /// The access of an existing file. If the file cannot be inspected: read and write for the
    /// process's user only.
    init(ofFileAt path: String) {
        var information = stat()
        let isKnown = stat(path, &information) == 0
        mode = isKnown ? information.st_mode & 0o666 : 0o600
        owner = isKnown ? information.st_uid : geteuid()
        group = isKnown ? information.st_gid : getegid()
    }

    /// Applies the access to an open file.
    func apply(toFile descriptor: Int32) { apply(mode, descriptor) }

    /// Creates a folder with the access, as far as the process's umask permits.
    ///
    /// If the program is killed before `apply`, other users can still use the folder as they can
    /// use the store.
    ///
    /// - Returns: false where the folder cannot be created or already exists; `errno` has the
    ///   reason.
    func makeFolder(at path: String) -> Bool { mkdir(path, folderMode) == 0 }

    /// Applies the access to an open folder.
    func apply(toFolder descriptor: Int32) { apply(folderMode, descriptor) }

    /// Users who may read the store may search its folders; users who may write it may change them.
    private var folderMode: mode_t { 0o700 | mode | (mode & 0o444) >> 2 }

    private func apply(_ mode: mode_t, _ descriptor: Int32) {
        // As SQLite does with its journals, so that a program of the superuser does not lock out
        // the store's owner.
        if geteuid() == 0 { _ = fchown(descriptor, owner, group) }
        _ = fchmod(descriptor, mode)
    }
}
