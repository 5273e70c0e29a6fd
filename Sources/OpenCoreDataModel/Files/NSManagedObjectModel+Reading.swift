import Foundation

extension NSManagedObjectModel {
    /// Reads a model file: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    ///
    /// nil when it cannot be read; `init(reading:)` says why.
    ///
    /// ```swift
    /// guard let model = NSManagedObjectModel(contentsOf: url) else { return }
    /// ```
    public convenience init?(contentsOf url: URL) {
        try? self.init(reading: url)
    }

    /// Reads a model file: `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    ///
    /// Of a bundle with several versions the current one is read; `version` names another.
    ///
    /// Cost: O(size of the file).
    ///
    /// ```swift
    /// do {
    ///     model = try NSManagedObjectModel(reading: url, version: "Shop 2")
    /// } catch let error as ModelReadingError {
    ///     print(error)                          // file, line, entity and property, and what to do
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: the file or bundle.
    ///   - version: the version of a bundle with several.
    ///   - module: the module for class names without a module, or with Xcode's "current product
    ///     module", where the program has several classes of a name. nil takes it from the resource
    ///     bundle of a Swift package that contains the file.
    /// - Throws: `ModelReadingError`, which names the file, the line, the entity and the property
    ///   and says what to do.
    public convenience init(reading url: URL, version: String? = nil, module: String? = nil) throws {
        self.init()
        takeState(of: try ModelFile.model(at: url, version: version, module: module))
        fileURL = url
    }

    /// Returns the checksum of each version in a model's bundle, by the name of the version.
    ///
    /// They are those of `versionChecksum`, which stages of a migration name.
    ///
    /// Cost: all versions are read.
    ///
    /// ```swift
    /// let checksums = try NSManagedObjectModel.checksumsForVersionedModel(at: url)
    /// let names = ["Shop 2", "Shop 3"]
    /// let stage = NSLightweightMigrationStage(names.compactMap { checksums[$0] })
    /// ```
    ///
    /// - Throws: `ModelReadingError`, which names the file and says what to do.
    public class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        guard ModelFile.isBundle(modelURL) else {
            return [
                modelURL.deletingPathExtension().lastPathComponent: try ModelFile.model(at: modelURL).versionChecksum
            ]
        }
        return try ModelFile.versions(of: modelURL).mapValues { try ModelFile.model(at: $0).versionChecksum }
    }
}
