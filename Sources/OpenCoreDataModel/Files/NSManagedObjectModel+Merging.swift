import Foundation

extension NSManagedObjectModel {
    /// Merges several models into one. The result is editable and independent of them.
    ///
    /// An entity that several models have with the same version hash is taken once. Configurations,
    /// fetch request templates and version identifiers are united. nil merges the main bundle's
    /// models. The result is nil when two entities of one name differ.
    ///
    /// Cost: O(size of the models), which are copied.
    ///
    /// ```swift
    /// // nil where both have an entity that differs
    /// let whole = NSManagedObjectModel(byMerging: [shop, accounts])
    /// ```
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        self.init()
        let models = models ?? ModelLocator.models(in: [.main])
        guard let merged = ModelMerge.merged(models) else { return nil }
        takeState(of: merged)
    }

    /// Merges those entities of several models that a store was written with.
    ///
    /// nil when the models lack an entity in the version that the metadata's hashes name.
    ///
    /// ```swift
    /// let former = NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata)
    /// ```
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        self.init()
        guard let merged = ModelMerge.merged(models, forStoreMetadata: metadata) else { return nil }
        takeState(of: merged)
    }

    /// Merges all models found in bundles; those of the main bundle for nil.
    ///
    /// nil when there are none or they contradict each other.
    ///
    /// Of a model with several versions the current one is used, and in one folder the compiled
    /// form of a model. Models of one file name in several bundles are all merged. Models in the
    /// bundles themselves come first. From resource bundles in them or beside the executable, a
    /// model is left out if it differs in an entity from a model of the same file name found
    /// before.
    ///
    /// Cost: every model in the bundles is read.
    ///
    /// ```swift
    /// guard let model = NSManagedObjectModel.mergedModel(from: [.main]) else { return }
    /// ```
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = ModelLocator.models(in: bundles ?? [.main])
        return models.isEmpty ? nil : NSManagedObjectModel(byMerging: models)
    }

    /// Merges those entities of all models found in bundles that a store was written with.
    ///
    /// All versions of the models are read.
    ///
    /// ```swift
    /// let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
    ///     type: .sqlite, at: url)
    /// let former = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
    /// ```
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        mergedModel(from: bundles ?? [.main], forStoreMetadata: metadata) { _ in }
    }

    /// Merges the same entities, and reports why models cannot be read.
    package class func mergedModel(
        from bundles: [Bundle], forStoreMetadata metadata: [String: Any], noting note: (ModelReadingError) -> Void
    ) -> NSManagedObjectModel? {
        NSManagedObjectModel(
            byMerging: ModelLocator.models(in: bundles, allVersions: true, noting: note), forStoreMetadata: metadata)
    }

    /// Returns the URL of the model with a name; nil when it is not found.
    ///
    /// The first of these forms is returned: `.momd`, `.mom`, `.xcdatamodeld`, `.xcdatamodel`.
    ///
    /// The search covers the bundles' resources, the executable's folder, the resource bundles
    /// (`*.resources`, `*.bundle`) beside it, and the bundles inside these.
    ///
    /// Cost: folders are listed; no model is read.
    ///
    /// ```swift
    /// if let url = NSManagedObjectModel.locate(named: "Shop", in: [.module]) {
    ///     model = try NSManagedObjectModel(reading: url)
    /// }
    /// ```
    public class func locate(named name: String, in bundles: [Bundle] = [.main]) -> URL? {
        ModelLocator.url(named: name, in: bundles)
    }
}
