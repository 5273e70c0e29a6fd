import Foundation
import Synchronization

/// The entities of an application's data, their configurations and fetch request templates.
///
/// A model is read from a file (`init(contentsOf:)`, `init(reading:)`), merged from several models,
/// or built in code. A model and everything in it can be changed until it is in use by a persistent
/// store coordinator; a later change stops the program. A copy can be changed again.
/// (developer.apple.com/documentation/coredata/nsmanagedobjectmodel)
///
/// ```swift
/// // .momd, .mom, .xcdatamodeld or .xcdatamodel; nil if unreadable
/// let model = NSManagedObjectModel(contentsOf: url)
/// let item = model?.entitiesByName["Item"]
/// ```
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    // Sendable: `freeze()` computes `tables` under `freezing` before the model is shared. From then
    // on every setter stops the program, so that all stored values are constant.

    /// Guards the transition to use, which several coordinators may request at the same time.
    private let freezing = Mutex<Bool>(false)

    /// The tables computed when the model comes into use; constant from then on, nil before.
    private(set) var tables: ModelTables?

    /// Creates a model without entities.
    ///
    /// ```swift
    /// let model = NSManagedObjectModel()
    /// model.entities = [item, supplier]              // can be changed until a coordinator uses it
    /// ```
    public required override init() {
        super.init()
    }

    /// Reads a model that `encode(with:)` wrote; nil when it is damaged.
    public required convenience init?(coder: NSCoder) {
        self.init()
        guard let data = coder.decodeObject(of: NSData.self, forKey: Self.codingKey),
            let model = try? ModelArchiveReader.model(from: data as Data)
        else { return nil }
        takeState(of: model)
    }

    /// The file that the model was read from; nil for all other models. Other versions of the model
    /// may be stored beside it.
    package var fileURL: URL? { willSet { requireEditable() } }

    private var storedEntities: [NSEntityDescription] = []

    /// The entities, subentities included. Assigning makes this model the entities' owner.
    ///
    /// Entities that are no longer listed disappear from the configurations.
    ///
    /// ```swift
    /// model.entities += [shelf]
    /// let names = model.entities.compactMap(\.name)
    /// ```
    ///
    /// - Precondition: no assigned entity belongs to another model; copy that model instead.
    open var entities: [NSEntityDescription] {
        get { storedEntities }
        set {
            requireEditable()
            for entity in newValue {
                entity.requireEditable("managedObjectModel")
                precondition(
                    entity.owningModel == nil || entity.owningModel === self,
                    "the entity '\(entity.name ?? "")' belongs to another model; copy that model or the entity first")
            }
            for entity in storedEntities { entity.owningModel = nil }
            for entity in newValue { entity.owningModel = self }
            storedEntities = newValue
            for (name, members) in entitiesByConfiguration {
                entitiesByConfiguration[name] = members.filter { $0.owningModel === self }
            }
        }
    }

    /// The entities by name. O(number of entities) until the model is in use, then constant.
    ///
    /// ```swift
    /// let attributes = model.entitiesByName["Item"]?.attributesByName
    /// ```
    open var entitiesByName: [String: NSEntityDescription] {
        tables?.entitiesByName ?? ModelTables.byName(storedEntities)
    }

    /// Texts for people, by key.
    ///
    /// A key is "Entity/Name", "Property/Name", "Property/Name/Entity/EntityName" or
    /// "ErrorString/Text".
    ///
    /// Stored with the model for the program's own use: errors contain the names and texts of the
    /// model itself, and no `.strings` file beside the model is read.
    ///
    /// ```swift
    /// model.localizationDictionary = [
    ///     "Entity/Item": "Artikel", "Property/name/Entity/Item": "Name"
    /// ]
    /// ```
    open var localizationDictionary: [String: String]? { willSet { requireEditable() } }

    /// The developer's own names of this version, such as "1.2". Not part of the version hashes.
    ///
    /// ```swift
    /// model.versionIdentifiers = ["1.2"]
    /// ```
    open var versionIdentifiers: Set<AnyHashable> = [] { willSet { requireEditable() } }

    // MARK: Configurations

    /// The name of the configuration in stores that hold all entities.
    package static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

    private var entitiesByConfiguration: [String: [NSEntityDescription]] = [:]

    /// The names of the configurations in ascending order.
    ///
    /// ```swift
    /// for name in model.configurations {
    ///     print(name, model.entities(forConfigurationName: name)?.count ?? 0)
    /// }
    /// ```
    open var configurations: [String] { entitiesByConfiguration.keys.sorted() }

    /// Returns the entities of a configuration; nil when there is no such configuration.
    ///
    /// It returns all entities for nil, and for the name that stores give to the default
    /// configuration.
    ///
    /// Cost: O(1).
    ///
    /// ```swift
    /// let cloud = model.entities(forConfigurationName: "Cloud") ?? []
    /// ```
    open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let configuration else { return storedEntities }
        if let entities = entitiesByConfiguration[configuration] { return entities }
        return configuration == Self.defaultConfigurationName ? storedEntities : nil
    }

    /// Creates or replaces a configuration.
    ///
    /// A store of the configuration also holds all subentities of its entities, whether they are
    /// listed or not.
    ///
    /// ```swift
    /// model.setEntities([item, supplier], forConfigurationName: "Shop")
    /// description.configuration = "Shop"        // the store holds these two and their subentities
    /// ```
    ///
    /// - Precondition: all entities belong to this model.
    open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
        requireEditable()
        for entity in entities {
            precondition(
                entity.owningModel === self,
                "the entity '\(entity.name ?? "")' is not in this model and cannot be in its configuration "
                    + "'\(configuration)'"
            )
        }
        entitiesByConfiguration[configuration] = entities
    }

    // MARK: Fetch request templates

    package var fetchRequestTemplates: [String: FetchRequestTemplate] = [:] { willSet { requireEditable() } }

    // MARK: Version

    /// The version hash of each entity, by name.
    ///
    /// Each call hashes everything until the model is in use.
    ///
    /// ```swift
    /// let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
    /// let changed = model.entityVersionHashesByName.filter { stored?[$0.key] != $0.value }.keys
    /// ```
    open var entityVersionHashesByName: [String: Data] {
        tables?.versionHashes ?? ModelTables.versionHashes(of: storedEntities)
    }

    /// The base64 text of a hash of all entities' version hashes.
    ///
    /// It is equal for models that fit the same stores.
    ///
    /// Cost: as for `entityVersionHashesByName`, and a hash of the result.
    open var versionChecksum: String {
        VersionHash.checksum(ofEntityHashes: entityVersionHashesByName)
    }

    /// Whether a store with this metadata can be opened with the entities of a configuration.
    ///
    /// Compares the metadata's hashes with those of the configuration's entities and their
    /// subentities (all entities for nil). The names and the hashes must be the same, but hashes of
    /// subentities that the configuration does not list may be missing. False when there is no such
    /// configuration or the metadata has no hashes.
    ///
    /// Cost: O(size of the configuration), as every entity is hashed.
    ///
    /// ```swift
    /// let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
    ///     type: .sqlite, at: url)
    /// let needsMigration = !model.isConfiguration(
    ///     withName: nil, compatibleWithStoreMetadata: metadata)
    /// ```
    open func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let held = heldEntities(forConfigurationName: configuration),
            let stored = StoreMetadataHashes.hashes(in: metadata)
        else { return false }
        return held.versions.fit(stored)
    }

    // MARK: Comparing

    /// Whether another object is a model with the same version.
    ///
    /// Equal models have the same entities by version hash, the same configurations and the same
    /// version identifiers. Two models read from one file are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        if self === other { return true }
        return versionIdentifiers == other.versionIdentifiers
            && entityVersionHashesByName == other.entityVersionHashesByName
            && configurations == other.configurations
            && configurations.allSatisfy { names(inConfiguration: $0) == other.names(inConfiguration: $0) }
    }

    open override var hash: Int { Set(storedEntities.map(\.name)).hashValue }

    private func names(inConfiguration name: String) -> Set<String?> {
        Set((entities(forConfigurationName: name) ?? []).map(\.name))
    }

    // MARK: Copying

    /// Returns an independent, editable copy of the model and everything in it.
    ///
    /// All links of the copy refer to parts of the copy.
    ///
    /// Cost: O(size of the model).
    ///
    /// ```swift
    /// let next = model.copy() as! NSManagedObjectModel        // of a model that is in use
    /// next.entitiesByName["Item"]?.properties.append(note)
    /// ```
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.takeState(of: self)
        return copy
    }

    /// Fills an empty model with copies of everything in another one.
    func takeState(of model: NSManagedObjectModel) {
        let copier = ModelCopier(model.storedEntities)
        entities = copier.entities
        entitiesByConfiguration = model.entitiesByConfiguration.mapValues { $0.map(copier.replacement) }
        fetchRequestTemplates = model.fetchRequestTemplates
        versionIdentifiers = model.versionIdentifiers
        localizationDictionary = model.localizationDictionary
        fileURL = model.fileURL
    }

    // MARK: Freezing

    /// Forbids every further change, and computes the tables that many threads then read.
    package func freeze() {
        freezing.withLock { isFrozen in
            guard !isFrozen else { return }
            for entity in storedEntities { entity.freeze() }
            tables = ModelTables(of: storedEntities)
            isFrozen = true
        }
    }

    package struct WeakReference {
        package weak var object: AnyObject?
    }

    /// The layouts of the entities in rows, opaque here, while another object keeps them alive. The
    /// mutex guards their creation.
    package let currentLayout = Mutex(WeakReference())

    private func requireEditable(_ member: StaticString = #function) {
        precondition(
            tables == nil,
            "\(type(of: self)).\(member): the model of \(storedEntities.compactMap(\.name).sorted()) is in use by a "
                + "persistent store coordinator and cannot be changed; copy it first")
    }

    /// The model's class and the names of its entities.
    open override var description: String {
        "<\(type(of: self)): entities \(storedEntities.compactMap(\.name).sorted().joined(separator: ", "))>"
    }
}
