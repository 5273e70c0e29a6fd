import Foundation

extension NSManagedObjectModel {
    /// Makes one model of several. The result is editable and independent of them.
    ///
    /// An entity that several models have with the same version hash is taken once; configurations, fetch request
    /// templates and version identifiers are united. nil merges the main bundle's models. The result is nil when two
    /// entities of one name differ.
    ///
    /// Cost: O(size of the models), which are copied.
    ///
    /// ```swift
    /// let whole = NSManagedObjectModel(byMerging: [shop, accounts])   // nil where both have an entity that differs
    /// ```
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        self.init()
        let models = models ?? ModelLocator.models(in: [.main])
        guard let merged = ModelMerge.merged(models) else { return nil }
        takeState(ofModels: [merged])
    }

    /// Makes one model of those entities of several that a store was written with.
    ///
    /// nil when the models lack an entity of the version that the metadata's hashes name.
    ///
    /// ```swift
    /// let former = NSManagedObjectModel(byMerging: versions, forStoreMetadata: metadata)
    /// ```
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        self.init()
        guard let merged = ModelMerge.merged(models, forStoreMetadata: metadata) else { return nil }
        takeState(ofModels: [merged])
    }

    /// Merges all models found in bundles, the main bundle for nil. nil when there are none or they contradict.
    ///
    /// Of a model with several versions the current one is used, and in one folder the compiled form of a model. Models of one file
    /// name in several bundles are all merged. What lies in the bundles themselves comes first: of resource bundles in them or beside the
    /// executable, a model is left out that differs in an entity from a found one of its file name.
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

    /// Merges those entities of all models found in bundles, in all their versions, that a store was written with.
    ///
    /// ```swift
    /// let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
    /// let former = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: metadata)
    /// ```
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        mergedModel(from: bundles ?? [.main], forStoreMetadata: metadata) { _ in }
    }

    /// The same, telling why models cannot be read.
    package class func mergedModel(
        from bundles: [Bundle], forStoreMetadata metadata: [String: Any], noting note: (ModelReadingError) -> Void
    ) -> NSManagedObjectModel? {
        NSManagedObjectModel(
            byMerging: ModelLocator.models(in: bundles, allVersions: true, noting: note), forStoreMetadata: metadata)
    }

    /// Where the model of a name is: a `.momd`, `.mom`, `.xcdatamodeld` or `.xcdatamodel`, in this order.
    ///
    /// Looked for in the bundles' resources, the executable's folder, the resource bundles (`*.resources`, `*.bundle`)
    /// beside it, and the bundles inside these. nil when it is nowhere.
    ///
    /// Cost: folders are listed; no model is read.
    ///
    /// ```swift
    /// if let url = NSManagedObjectModel.locate(named: "Shop", in: [.module]) { model = try NSManagedObjectModel(reading: url) }
    /// ```
    public class func locate(named name: String, in bundles: [Bundle] = [.main]) -> URL? {
        ModelLocator.url(named: name, in: bundles)
    }
}
