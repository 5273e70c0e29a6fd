import Foundation
import Synchronization

/// Migrates a store from one version of a model to another by a mapping model.
///
/// The migration goes through the entity mappings three times: it makes the destination objects,
/// sets their relationships, and validates them. The policy of each mapping takes the steps. The
/// destination is written beside its place and put there when it is complete: an error leaves what
/// was there before. Objects are written and released in batches; pairs of object IDs are kept.
///
/// From a SQLite store to a new one, the database copies the objects of entity mappings that have
/// no policy and only copy properties. They are not made one by one, and keep their keys.
///
/// A manager is used on one thread. `cancelMigrationWithError(_:)` and `migrationProgress` may be
/// used on any.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmigrationmanager>
///
/// ```swift
/// let manager = NSMigrationManager(sourceModel: former, destinationModel: model)
/// try manager.migrateStore(
///     from: url, type: .sqlite, mapping: mapping, to: newURL, type: .sqlite)
/// ```
open class NSMigrationManager: NSObject {
    /// The model of the source store: a copy of the given one, whose objects are plain
    /// `NSManagedObject`s. The program's classes describe the new version.
    public let sourceModel: NSManagedObjectModel

    /// The model of the destination store.
    public let destinationModel: NSManagedObjectModel

    /// The mapping model of the migration; an empty one before the first.
    open private(set) var mappingModel = NSMappingModel()

    /// The context of the source objects, which are read-only; without stores unless a migration
    /// runs.
    open private(set) var sourceContext = NSManagedObjectContext()

    /// The context of the destination objects; without stores unless a migration runs.
    ///
    /// The migration saves it. A save of its own by a policy would validate objects that are not
    /// complete yet.
    open private(set) var destinationContext = NSManagedObjectContext()

    /// The entity mapping whose step is carried out; an empty one unless a migration runs.
    open internal(set) var currentEntityMapping = NSEntityMapping()

    /// Information of the program for its policies.
    open var userInfo: [AnyHashable: Any]?

    /// Whether a store class may bring a manager of its own. True unless set.
    ///
    /// The class of the destination store names it: `NSPersistentStore.migrationManagerClass()`.
    open var usesStoreSpecificMigrationManager = true

    var steps: [MappingStep] = []
    var stepsByName: [String: MappingStep] = [:]
    /// The approximate number of bytes of the values and links that were set since the last save.
    var pendingBytes = 0
    /// The objects that policies made of entities whose rows the database copied.
    var addedToCopies: [NSManagedObjectID] = []
    /// Receives the progress besides `migrationProgress`.
    package var progressHandler = MigrationProgress()

    private struct State {
        var progress: Float = 1
        var failure: (any Error)?
    }

    /// Guards what other threads use.
    private let state = Mutex(State())

    /// Creates a manager for migrations from one version of a model to another.
    public required init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        let copy = sourceModel.copy() as? NSManagedObjectModel ?? sourceModel
        if copy !== sourceModel {
            for entity in copy.entities { entity.managedObjectClassName = nil }
        }
        self.sourceModel = copy
        self.destinationModel = destinationModel
        super.init()
    }

    /// Migrates the objects of a store into another one, which is made if there is none.
    ///
    /// A destination that exists has the destination model, and keeps its objects; the destination
    /// on a server must not exist. Metadata entries of the program are copied where the destination
    /// lacks them. A new destination has its own UUID and no history; objects that are the first of
    /// their source have its key.
    ///
    /// - Throws: 134140 without a mapping model, 134110 if it does not fit the models, 134150 and
    ///   134160 if a store cannot be opened or written, 134170 for expressions and policy classes
    ///   that cannot be used, the errors of policies and of `cancelMigrationWithError(_:)` as they
    ///   are, validation errors of the destination's objects.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else { throw MigrationErrors.noMappingModel(for: sourceURL, type: sStoreType) }
        let source = StorePlace(type: sStoreType, url: sourceURL, options: sOptions)
        let destination = StorePlace(type: dStoreType, url: dURL, options: dOptions)
        if let other = try storeSpecificManager(for: destination) {
            return try other.migrateStore(
                from: sourceURL, sourceType: sStoreType, options: sOptions, with: mappings, toDestinationURL: dURL,
                destinationType: dStoreType, destinationOptions: dOptions)
        }
        if NSPersistentStoreCoordinator.isSame(sourceURL, dURL) {
            throw MigrationErrors.store(
                .migrationManagerDestinationStore, destination, "is the source store; give another URL")
        }
        try migrate(mappings) { steps in
            try MigrationDestination(destination).write(keepingContent: true) { place in
                try self.run(steps, from: source, to: try self.copy(source, to: place, steps))
                return true
            }
        }
    }

    /// Ends the migration with an error, when the current step returns.
    open func cancelMigrationWithError(_ error: any Error) {
        let error = Unchecked(error)
        state.withLock { if $0.failure == nil { $0.failure = error.value } }
    }

    /// How much of the migration is done, from 0 to 1; 1 unless a migration runs.
    open var migrationProgress: Float { state.withLock { $0.progress } }

    /// Forgets the pairs of source and destination objects. The contexts keep their objects.
    open func reset() {
        for step in steps { step.links = InstanceLinks(step.links.equalKeys?.withoutAdded) }
    }

    /// The source entity of a mapping; nil if it names none.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { sourceModel.entitiesByName[$0] }
    }

    /// The destination entity of a mapping; nil if it names none.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { destinationModel.entitiesByName[$0] }
    }

    /// Records that a destination object was made from a source object.
    ///
    /// - Precondition: the mapping is one of the mapping model.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        let step = step(named: entityMapping.name)
        keepKey(of: sourceInstance, for: destinationInstance, step)
        step.links.add(sourceInstance, destinationInstance)
    }

    /// The destination objects that a mapping made from source objects, in their order and each
    /// once; all that it made, if nil is given.
    ///
    /// Objects that are not written yet have temporary IDs; `obtainPermanentIDs(for:)` of the
    /// destination's context gives them the IDs that they keep.
    ///
    /// - Precondition: the mapping model has a mapping of the name.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        destinationInstances(of: [step(named: mappingName)], from: sourceInstances)
    }

    /// The source objects from which a mapping made destination objects, in their order and each
    /// once; all of the mapping, if nil is given.
    ///
    /// - Precondition: the mapping model has a mapping of the name.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        sourceInstances(of: step(named: mappingName), of: destinationInstances)
    }

    // MARK: - Running

    /// Makes the steps of a mapping model, and runs a body as a migration.
    func migrate(_ mappings: NSMappingModel, _ body: ([MappingStep]) throws -> Void) throws {
        state.withLock { $0 = State(progress: 0) }
        defer {
            currentEntityMapping = NSEntityMapping()
            (steps, stepsByName, addedToCopies) = ([], [:], [])
            state.withLock { $0 = State() }
        }
        mappingModel = mappings
        for mapping in mappings.entityMappings ?? [] {
            let step = try MappingStep(mapping, from: sourceModel, to: destinationModel)
            if stepsByName.updateValue(step, forKey: step.name) != nil {
                throw MigrationErrors.repeatedName(step.name)
            }
            steps.append(step)
        }
        try body(steps)
    }

    func useContexts(_ source: NSPersistentStoreCoordinator, _ destination: NSPersistentStoreCoordinator) {
        sourceContext = NSManagedObjectContext()
        sourceContext.persistentStoreCoordinator = source
        destinationContext = NSManagedObjectContext()
        destinationContext.persistentStoreCoordinator = destination
    }

    func report(_ progress: Float) {
        state.withLock { $0.progress = max($0.progress, progress) }
        progressHandler.report(Double(progress))
    }

    /// - Throws: The error with which the migration was cancelled.
    func throwCancellation() throws {
        if let failure = state.withLock({ guarded in Unchecked(guarded.failure) }).value { throw failure }
    }

    private func step(named name: String) -> MappingStep {
        guard let step = stepsByName[name] else {
            preconditionFailure(
                "The mapping model has no entity mapping '\(name)'; it has "
                    + "\(stepsByName.keys.sorted().joined(separator: ", ")).")
        }
        return step
    }

    private func storeSpecificManager(for place: StorePlace) throws -> NSMigrationManager? {
        let storeClass = try StoreTypeRegistry.storeClass(for: place.type, at: place.url)
        guard usesStoreSpecificMigrationManager,
            let managerClass = storeClass.migrationManagerClass() as? NSMigrationManager.Type,
            managerClass != NSMigrationManager.self, !ClassLookup.inherits(type(of: self), from: managerClass)
        else { return nil }
        let manager = managerClass.init(sourceModel: sourceModel, destinationModel: destinationModel)
        manager.userInfo = userInfo
        return manager
    }
}

extension NSMigrationManager {
    /// Migrates the objects of a store into another one, which is made if there is none.
    ///
    /// It calls the method with `sourceType` and `destinationType`, which says what it throws.
    public func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil, mapping mappingModel: NSMappingModel,
        to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mappingModel,
            toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
            destinationOptions: destinationOptions)
    }
}
