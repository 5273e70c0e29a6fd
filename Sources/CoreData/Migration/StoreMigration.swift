import Foundation

/// A migration that can be made: from what the store holds to the entities of the model's configuration.
struct StoreMigration {
    /// The version hashes of the store.
    let storedHashes: [String: Data]
    let sourceModel: NSManagedObjectModel
    let model: NSManagedObjectModel
    let entities: [NSEntityDescription]
    let inference: MappingInference
    var progress = MigrationProgress(nil)

    /// Whether the store has its composite attributes as archived dictionaries.
    var compositesAreArchived: Bool { ArchivedComposite.isForm(of: sourceModel, storedHashes) }

    /// The version hashes that the store will have.
    var hashes: [String: Data] {
        Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Finds the model that a store was made with.
enum SourceModelSearch {
    /// The model with a store's version hashes: among the versions of the destination model's file, among those of the
    /// program's bundles, or in the store itself.
    ///
    /// Hashes do not tell renaming identifiers. Those of the file at hand were written for this migration; those in the store are
    /// what was known when it was made.
    ///
    /// - Parameter storedModel: gives the model that the store keeps in itself, if any.
    static func model(
        fitting hashes: [String: Data], metadata: [String: Any], destination: NSManagedObjectModel,
        bundles: [Bundle] = [Bundle.main] + Bundle.allBundles + Bundle.allFrameworks, storedModel: () -> NSManagedObjectModel?
    ) -> NSManagedObjectModel? {
        if let found = version(besides: destination, hashes) { return found }
        // Merging works on copies, so that freezing the result leaves the program's models alone.
        if let found = NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata), isUsable(found, hashes) {
            return found
        }
        if let stored = storedModel(), isUsable(stored, hashes) { return stored }
        return nil
    }

    private static func version(besides destination: NSManagedObjectModel, _ hashes: [String: Data]) -> NSManagedObjectModel? {
        guard let file = destination.fileURL else { return nil }
        let bundle = ["momd", "xcdatamodeld"].contains(file.pathExtension) ? file : file.deletingLastPathComponent()
        let versions = ((try? ModelFile.versions(of: bundle)) ?? [:]).sorted { $0.key < $1.key }
        return versions.lazy.compactMap { try? ModelFile.model(at: $0.value) }.first { isUsable($0, hashes) }
    }

    /// Whether a model has a store's hashes and is sound: a file may hold anything.
    private static func isUsable(_ model: NSManagedObjectModel, _ hashes: [String: Data]) -> Bool {
        // No objects are made of the former entities. Their classes may be gone, or describe the new version.
        for entity in model.entities { entity.managedObjectClassName = nil }
        guard model.consistencyProblems().isEmpty else { return false }
        let entities = model.entitiesByName
        return hashes.allSatisfy { entities[$0.key]?.versionHash == $0.value } || ArchivedComposite.isForm(of: model, hashes)
    }
}
