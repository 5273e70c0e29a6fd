import Foundation

/// Which file stands at a path, whatever its name: its device and its number there.
struct FileIdentity: Equatable {
    private let device: dev_t
    private let number: ino_t

    /// Nil when there is no file.
    init?(path: String) {
        var information = stat()
        guard stat(path, &information) == 0 else { return nil }
        device = information.st_dev
        number = information.st_ino
    }
}

/// The files of an open database as they were when it was opened: what is written to them must be found under their names later.
struct OpenedFiles {
    private var files: [(path: String, identity: FileIdentity)] = []

    /// - Parameter path: the database file.
    init(path: String, suffixes: [String]) {
        for suffix in suffixes {
            if let identity = FileIdentity(path: path + suffix) { files.append((path + suffix, identity)) }
        }
    }

    /// - Throws: an error that names the file when one was removed or another one put in its place. Costs a system call for each.
    func requireUnchanged(storeAt path: String) throws {
        for file in files {
            let found = FileIdentity(path: file.path)
            if found == file.identity { continue }
            let change = found == nil ? "was removed" : "was replaced by another one"
            let name = file.path == path ? "The file of the store at \(path)" : "The file \(file.path) of the store at \(path)"
            throw CoreDataErrors.make(
                .persistentStoreSave,
                "\(name) \(change) while the store was open: nothing was saved, as it would have been lost.",
                recovery: "Remove the store from its coordinator and add it again, and save then. Stores are removed and replaced with "
                    + "destroyPersistentStore and replacePersistentStore, which need not close them.",
                userInfo: [NSFilePathErrorKey: file.path])
        }
    }
}
