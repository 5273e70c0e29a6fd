import Foundation

// Mapping models in files and bundles.
extension NSMappingModel {
    /// Reads a mapping model file: `.cdm`, or `.xcmappingmodel` as Xcode saves it.
    ///
    /// nil when it cannot be read; `init(reading:)` says why.
    public convenience init?(contentsOf url: URL?) {
        guard let url else { return nil }
        try? self.init(reading: url)
    }

    /// Reads a mapping model file: `.cdm`, or `.xcmappingmodel` as Xcode saves it.
    ///
    /// Xcode leaves out expressions that its compiler makes: attributes of the same name are
    /// copied, and relationships of the same name lead to what was made of their objects. For that
    /// the files of both models, in source form or compiled, must be where the project has them, or
    /// with their last folders beside the mapping model.
    ///
    /// Cost: O(size of the file).
    ///
    /// ```swift
    /// let mapping = try NSMappingModel(reading: url)
    /// ```
    ///
    /// - Throws: `ModelReadingError`, which names the file and says what to do, and the errors of
    ///   reading the file.
    public convenience init(reading url: URL) throws {
        self.init()
        do {
            if url.pathExtension == "xcmappingmodel" {
                entityMappings = try MappingSourceReader.mappings(at: url)
            } else {
                entityMappings = try MappingArchiveReader.mappings(in: Data(contentsOf: url))
            }
        } catch var error as ModelReadingError {
            error.file = error.file ?? url.path
            throw error
        }
    }

    /// Finds the mapping model between two models among the files of bundles.
    ///
    /// It is the one whose entity mappings all have the version hashes of the models' entities; of
    /// several, the one with the most mappings, then the first by file name. Files that cannot be
    /// read are skipped.
    ///
    /// ```swift
    /// let mapping = NSMappingModel(from: nil, forSourceModel: former, destinationModel: model)
    /// ```
    ///
    /// - Parameter bundles: The bundles to search; nil for all of the program.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel else { return nil }
        let bundles = bundles ?? [Bundle.main] + Bundle.allBundles + Bundle.allFrameworks
        let found = ModelLocator.files(endingIn: ["cdm", "xcmappingmodel"], in: bundles)
            .compactMap { NSMappingModel(contentsOf: $0) }
            .filter { $0.fits(sourceModel, destinationModel) }
        // `max` would take the last of several.
        guard let most = found.map(\.entityMappings.count).max(),
            let chosen = found.first(where: { $0.entityMappings.count == most })
        else { return nil }
        self.init()
        entityMappings = chosen.entityMappings
    }

    /// Whether all entity mappings were made for the entities of these models.
    private func fits(_ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) -> Bool {
        let (sourceHashes, hashes) = (source.entityVersionHashesByName, destination.entityVersionHashesByName)
        func fits(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
            name.map { hash != nil && hashes[$0] == hash } ?? true
        }
        return !entityMappings.isEmpty
            && entityMappings.allSatisfy {
                fits($0.sourceEntityName, $0.sourceEntityVersionHash, sourceHashes)
                    && fits($0.destinationEntityName, $0.destinationEntityVersionHash, hashes)
            }
    }
}
