import Foundation

/// Who may do what with a file: what the files that belong to a store take over from it.
struct FileAccess {
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t

    /// That of a file; only its owner may use what is made for one that cannot be asked.
    init(ofFileAt path: String) {
        var information = stat()
        let isKnown = stat(path, &information) == 0
        mode = isKnown ? information.st_mode & 0o666 : 0o600
        owner = isKnown ? information.st_uid : geteuid()
        group = isKnown ? information.st_gid : getegid()
    }

    /// Gives an open file the access.
    func apply(toFile descriptor: Int32) { apply(mode, descriptor) }

    /// Makes a folder with the access, as far as the process's mask for new files lets it: a program that is killed before `apply` leaves
    /// one that others can use as they can use the store.
    ///
    /// - Returns: false where it cannot be made, or is there; `errno` says why.
    func makeFolder(at path: String) -> Bool { mkdir(path, folderMode) == 0 }

    /// Gives an open folder the access.
    func apply(toFolder descriptor: Int32) { apply(folderMode, descriptor) }

    /// Who may read the store may search its folders, who may write the store may change them.
    private var folderMode: mode_t { 0o700 | mode | (mode & 0o444) >> 2 }

    private func apply(_ mode: mode_t, _ descriptor: Int32) {
        // As SQLite does with its journals, so that a program run by the superuser does not lock out the store's owner.
        if geteuid() == 0 { _ = fchown(descriptor, owner, group) }
        _ = fchmod(descriptor, mode)
    }
}
