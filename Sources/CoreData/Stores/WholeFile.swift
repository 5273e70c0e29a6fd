import Foundation

/// A store that is one file and not open. The file is read and written as a whole.
struct WholeFile {
    let storeClass: NSPersistentStore.Type
    let type: String
    let url: URL

    /// Removes the file. It is no error when there is none.
    ///
    /// - Parameter isForced: whether to remove a file that the class cannot read.
    func destroy(isForced: Bool) throws {
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path) else { return }
        try requireStore("destroyed", isForced: isForced)
        try FileManager.default.removeItem(at: url)
    }

    /// Copies another file over this one.
    func replace(withFileAt source: URL) throws {
        guard source.isFileURL, url.isFileURL, FileManager.default.fileExists(atPath: source.path) else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.text(type: type, url: url)) cannot be replaced: there is no file "
                    + "\(StoreName.path(source)) to copy.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: source))
        }
        if FileManager.default.fileExists(atPath: url.path) { try requireStore("replaced") }
        // Written beside the destination first, so that a failure leaves the old store as it was.
        do { try Data(contentsOf: source).write(to: url, options: .atomic) } catch {
            let code = (error as? CocoaError)?.code ?? .fileWriteUnknown
            throw CoreDataErrors.make(
                code,
                "The store \(StoreName.text(type: type, url: url)) cannot be replaced by \(StoreName.path(source)): "
                    + error.localizedDescription,
                recovery: "It is as it was before. Make space there, or allow the program to write, and try again.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url).merging([NSUnderlyingErrorKey: error]) {
                    $1
                })
        }
    }

    /// - Throws: an error when the URL itself (without following a link) has no regular file, or
    ///   the file is no store that the class can read.
    ///
    /// - Parameter isForced: whether to accept any regular file, readable or not.
    private func requireStore(_ act: String, isForced: Bool = false) throws {
        let kind = try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
        guard kind == .typeRegular else {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The store \(StoreName.text(type: type, url: url)) cannot be \(act): there is no regular file"
                    + (kind == .typeDirectory ? ", but a directory." : "."),
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
        }
        if isForced { return }
        do { _ = try storeClass.metadataForPersistentStore(with: url) } catch {
            throw CoreDataErrors.make(
                .persistentStoreOperation,
                "The file \(url.path) cannot be \(act): it is no store of the type '\(type)', as \(storeClass) "
                    + "cannot read its "
                    + "metadata (\(error.localizedDescription)).",
                recovery: "Remove the file yourself if nobody needs it.",
                userInfo: StoreOpeningErrors.userInfo(type: type, url: url).merging([NSUnderlyingErrorKey: error]) {
                    $1
                })
        }
    }
}
