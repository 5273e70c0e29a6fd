import Foundation

extension NSManagedObjectModel {
    /// Reads a model file: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    ///
    /// nil when it cannot be read; `init(reading:)` says why.
    public convenience init?(contentsOf url: URL) {
        try? self.init(reading: url)
    }

    /// Reads a model file: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    ///
    /// Of a bundle with several versions the current one is read; `version` names another.
    ///
    /// - Throws: `ModelReadingError`, which names the file, the line, the entity and the property and says what to do.
    public convenience init(reading url: URL, version: String? = nil) throws {
        self.init()
        takeState(ofModels: [try ModelFile.model(at: url, version: version)])
        fileURL = url
    }
}
