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
    /// the files of both models are read, in source form or compiled, where the project has them or
    /// with their last folders beside the mapping model; otherwise the copies that Xcode kept in
    /// the mapping model.
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
    /// - Parameters:
    ///   - bundles: The bundles to search; nil for all of the program.
    ///   - sourceModel: The model to migrate from. Without it no mapping model is found.
    ///   - destinationModel: The model to migrate to. Without it no mapping model is found.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel else { return nil }
        let chosen = Self.found(in: bundles).best(
            from: sourceModel.entityVersionHashesByName, to: destinationModel.entityVersionHashesByName)
        guard let chosen else { return nil }
        self.init()
        entityMappings = chosen.entityMappings
    }

    /// Returns the mapping models in bundles, sorted by file name.
    ///
    /// - Parameter bundles: The bundles to search; nil for all of the program.
    static func found(in bundles: [Bundle]?) -> [NSMappingModel] {
        let bundles = bundles ?? [Bundle.main] + Bundle.allBundles + Bundle.allFrameworks
        return ModelLocator.files(endingIn: ["cdm", "xcmappingmodel"], in: bundles)
            .compactMap { NSMappingModel(contentsOf: $0) }
    }
}
