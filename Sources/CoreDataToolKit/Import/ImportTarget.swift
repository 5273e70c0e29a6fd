import CoreData

/// The store of an import: one that is there, or a new one.
struct ImportTarget {
    let path: String
    let isNew: Bool
    /// The temporary folder of a new store that is only for checks.
    private let folder: PrivateFolder?
    /// The folder of large values, if the new store makes it.
    private let support: URL?

    /// Makes a store that is not there.
    ///
    /// - Throws: `ToolError` for a new store without a model.
    init(path: String, modelPath: String?, isDryRun: Bool) throws {
        isNew = !FileManager.default.fileExists(atPath: path)
        let url = URL(fileURLWithPath: path)
        let support = url.deletingLastPathComponent().appendingPathComponent(
            ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
        self.support = FileManager.default.fileExists(atPath: support.path) ? nil : support
        guard isNew else {
            (self.path, folder) = (path, nil)
            return
        }
        guard let modelPath else {
            throw ToolError("There is no store '\(path)'. To make one name its model: --model MODEL.")
        }
        guard isDryRun else {
            (self.path, folder) = (path, nil)
            try WritableStore.make(at: path, modelPath: modelPath)
            return
        }
        let folder = try PrivateFolder()
        self.folder = folder
        self.path = folder.file(url.lastPathComponent).path
        try WritableStore.make(at: self.path, modelPath: modelPath)
    }

    /// Removes a new store, unless batches of an import are in it.
    func discard() {
        guard folder == nil, isNew, !hasProgress else { return }
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
        if let support { try? FileManager.default.removeItem(at: support) }
    }

    private var hasProgress: Bool {
        let url = URL(fileURLWithPath: path)
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        return metadata?[ImportProgress.key] != nil
    }
}
