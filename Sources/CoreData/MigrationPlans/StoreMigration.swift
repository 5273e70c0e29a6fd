import Foundation

/// A possible migration: from the contents of a store to the entities of the model's configuration.
package struct StoreMigration {
    /// The option with mapping models (`[NSMappingModel]`) that come before those in bundles, and
    /// by one of which the way leads where it can.
    package static let mappingModelsOption = "OpenCoreDataMappingModels"

    package let storedHashes: [String: Data]
    package let sourceModel: NSManagedObjectModel
    package let model: NSManagedObjectModel
    package let entities: [NSEntityDescription]
    let inference: MappingInference
    /// The mapping model that was found for the migration; nil if it is inferred.
    let mappingModel: NSMappingModel?
    /// The entities whose objects are moved one by one after the migration, and keep their keys;
    /// nil if the migration is complete without that. The migration copies none of their rows;
    /// their history and their sequences of keys go on.
    var movedAsObjects: [MappingInference.EntityPair]?
    package var progress = MigrationProgress()
    /// Where the former store is copied to before it is changed.
    var backup: URL?

    /// The name that each entity which the store has already had in the source model.
    package var formerNames: [String: String] {
        var names = inference.pairs.compactMapValues(\.source.name)
        for pair in movedAsObjects ?? [] {
            guard let name = pair.destination.name, let former = pair.source.name, names[name] == nil,
                !names.values.contains(former)
            else { continue }
            names[name] = former
        }
        return names
    }

    /// Whether the store keeps its composite attributes as archived dictionaries.
    var compositesAreArchived: Bool { ArchivedComposite.isForm(of: sourceModel, storedHashes) }

    /// The version hashes that the store will have.
    var hashes: [String: Data] {
        Dictionary(entities.map { ($0.name ?? "", $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether another program has migrated the store in the meantime, by its present metadata.
    ///
    /// - Throws: an error if the store was migrated to another version.
    package func wasDone(_ metadata: [String: Any], store: String, userInfo: [String: Any]) throws -> Bool {
        let present = StoreMetadataHashes.hashes(in: metadata) ?? [:]
        if present == hashes { return true }
        guard present == storedHashes else {
            throw CoreDataErrors.migratedByOthers(store, userInfo: userInfo)
        }
        return false
    }
}

enum SourceModelSearch {
    /// The extent to which a model's version hashes match a store's, the most reliable match first.
    private enum Fit {
        /// The store has the hashes of all entities of the model.
        case whole
        /// The store has the hashes of the entities of one of the model's configurations.
        case configuration
        /// The store has the hashes of some of the model's hierarchies.
        case part
    }

    /// Returns the model with a store's version hashes.
    ///
    /// It is searched among the versions of the destination model's file, among the models of the
    /// program's bundles, and in the store itself. A model with more entities than the store is
    /// used only if no model has exactly the same entities.
    ///
    /// Hashes do not include renaming identifiers. The models in the destination's file were
    /// written for this migration; the model in the store shows only what was known when the store
    /// was made.
    ///
    /// - Parameters:
    ///   - known: models that the program has given; they come first.
    ///   - note: receives the reasons why models cannot be read, if no version of the destination
    ///     model's file fits.
    ///   - storedModel: returns the model that the store contains, if any.
    static func model(
        fitting hashes: [String: Data], metadata: [String: Any], destination: NSManagedObjectModel,
        bundles: [Bundle] = [Bundle.main] + Bundle.allBundles + Bundle.allFrameworks,
        known: [NSManagedObjectModel] = [], noting note: (ModelReadingError) -> Void = { _ in },
        storedModel: () -> NSManagedObjectModel?
    ) -> NSManagedObjectModel? {
        var others: [(model: NSManagedObjectModel, fit: Fit)] = []
        /// Returns the first model that fits as a whole; notes those that fit otherwise.
        func whole(_ models: [NSManagedObjectModel?]) -> NSManagedObjectModel? {
            for case let model? in models {
                switch fit(of: model, to: hashes) {
                case .whole?: return model
                case let fit?: others.append((model, fit))
                case nil: break
                }
            }
            return nil
        }
        var unreadable: [ModelReadingError] = []
        if let found = whole(known) { return found }
        // The version that equals the destination comes last.
        let current = destination.entityVersionHashesByName
        let versions = versions(of: destination, noting: { unreadable.append($0) })
        let ordered = versions.filter { $0.hashes != current } + versions.filter { $0.hashes == current }
        if let found = whole(ordered.map(\.model)) { return found }
        unreadable.forEach(note)
        // Merging uses copies, so that freezing the result does not affect the program's models.
        let merged = NSManagedObjectModel.mergedModel(from: bundles, forStoreMetadata: metadata, noting: note)
        if let found = whole([merged]) { return found }
        if let found = whole([storedModel()]) { return found }
        return (others.first { $0.fit == .configuration } ?? others.first)?.model
    }

    /// Returns all versions of the models in the program's bundles.
    static func programVersions() -> [ModelVersion] {
        ModelLocator.models(in: [Bundle.main] + Bundle.allBundles + Bundle.allFrameworks, allVersions: true)
            .filter { problems(of: $0).isEmpty }.map(ModelVersion.init)
    }

    /// Returns the versions in the bundle of a model's file, sorted by name: numbers in names count
    /// by their value.
    ///
    /// - Parameter note: receives the reasons why versions cannot be read.
    static func versions(
        of model: NSManagedObjectModel, noting note: (ModelReadingError) -> Void = { _ in }
    ) -> [ModelVersion] {
        guard let file = model.fileURL else { return [] }
        let bundle = ModelFile.isBundle(file) ? file : file.deletingLastPathComponent()
        let versions = ((try? ModelFile.versions(of: bundle)) ?? [:])
            .sorted { $0.key.compare($1.key, options: .numeric) == .orderedAscending }
        var models: [ModelVersion] = []
        for (_, url) in versions {
            do {
                let model = try ModelFile.model(at: url)
                let problems = problems(of: model)
                if problems.isEmpty {
                    model.fileURL = url
                    models.append(ModelVersion(model))
                } else {
                    var error = ModelReadingError.damagedArchive(problems.joined(separator: " "))
                    error.file = url.path
                    note(error)
                }
            } catch {
                note(error as? ModelReadingError ?? .damagedArchive(error.localizedDescription))
            }
        }
        return models
    }

    private static func problems(of model: NSManagedObjectModel) -> [String] {
        // No objects are created from the former entities. Their classes may not exist now, or
        // describe the new version.
        for entity in model.entities { entity.managedObjectClassName = nil }
        return model.consistencyProblems()
    }

    /// Returns the extent to which a model's hashes match a store's.
    ///
    /// - Returns: nil where they do not match, or where the model is not consistent: a file may
    ///   contain anything.
    private static func fit(of model: NSManagedObjectModel, to hashes: [String: Data]) -> Fit? {
        guard problems(of: model).isEmpty else { return nil }
        let entities = model.entitiesByName
        guard
            hashes.allSatisfy({ entities[$0.key]?.versionHash == $0.value })
                || ArchivedComposite.isForm(of: model, hashes)
        else {
            return nil
        }
        let stored = Set(hashes.keys)
        if stored == Set(entities.keys) { return .whole }
        let isConfiguration = model.configurations.contains { name in
            model.heldEntities(forConfigurationName: name)?.fit(stored) == true
        }
        if isConfiguration { return .configuration }
        // A hash does not cover subentities, for which a table has columns.
        let roots = Set(
            entities.values.filter { stored.contains($0.name ?? "") }.map { ObjectIdentifier($0.rootEntity) })
        let isPart = entities.values.allSatisfy {
            stored.contains($0.name ?? "") || !roots.contains(ObjectIdentifier($0.rootEntity))
        }
        return isPart ? .part : nil
    }
}

package struct MigrationProgress: Sendable {
    var handler: (@Sendable (Double) -> Void)?

    package init(handler: (@Sendable (Double) -> Void)? = nil) { self.handler = handler }

    /// - Parameter fraction: from 0 to 1, and never less than in an earlier report.
    package func report(_ fraction: Double) { handler?(fraction) }
}
