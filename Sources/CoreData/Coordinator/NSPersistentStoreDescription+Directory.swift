import Foundation

extension NSPersistentStoreDescription {
    /// Creates the directory of the store's file. Without it a first start would fail.
    ///
    /// - Throws: a `CocoaError` that names the store.
    package func makeDirectory() throws {
        guard let url, !isReadOnly, StoreFiles.hasFile(ofType: type, at: url) else { return }
        let directory = url.deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            var userInfo = StoreOpeningErrors.userInfo(type: type, url: url)
            userInfo[NSUnderlyingErrorKey] = error
            throw CoreDataErrors.make(
                .persistentStoreOpen,
                "The store \(StoreName.text(type: type, url: url)) cannot be opened: its directory cannot be made: "
                    + (error as NSError).localizedDescription,
                recovery: "Choose another directory, or make this one writable.", userInfo: userInfo)
        }
    }
}
