import Foundation
import Synchronization

/// A Core Data stack in one object.
///
/// It has a model, a coordinator with its stores, a context for the main queue, and contexts for
/// background work.
///
///     let container = NSPersistentContainer(name: "Inventory")
///     container.loadPersistentStores { description, error in
///         if let error { … }
///     }
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistentcontainer>
///
/// ```swift
/// let container = NSPersistentContainer(name: "Shop", managedObjectModel: model)
/// container.loadPersistentStores { _, error in
///     if let error { print(error.localizedDescription) }
/// }
/// let items = try container.viewContext.fetch(NSFetchRequest<Item>(entityName: "Item"))
/// ```
open class NSPersistentContainer: NSObject, @unchecked Sendable {
    // Sendable: everything but the descriptions is constant. The descriptions are behind the mutex.

    /// The name of the container, of its first store's file, and of the model if that was searched
    /// for.
    open var name: String { parts.name }

    /// The context of the main queue, connected to the coordinator. A subclass may give a context
    /// of its own.
    ///
    /// ```swift
    /// container.viewContext.automaticallyMergesChangesFromParent = true
    /// ```
    open var viewContext: NSManagedObjectContext { parts.viewContext }

    /// The model of the coordinator.
    open var managedObjectModel: NSManagedObjectModel { parts.model }

    /// The coordinator that `loadPersistentStores` adds the stores to.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator { parts.coordinator }

    private struct Parts {
        let name: String
        let viewContext: NSManagedObjectContext
        let model: NSManagedObjectModel
        let coordinator: NSPersistentStoreCoordinator
    }

    private let parts: Parts

    // Guards the list. The caller may change a description that it has got, before the stores are
    // loaded.
    private let descriptions: Mutex<Unchecked<[NSPersistentStoreDescription]>>

    /// The descriptions of the stores that `loadPersistentStores` adds.
    ///
    /// Until changed, it is one SQLite store `NAME.sqlite` in `defaultDirectoryURL()`.
    ///
    /// ```swift
    /// let description = NSPersistentStoreDescription()
    /// description.type = NSInMemoryStoreType                  // for tests
    /// container.persistentStoreDescriptions = [description]
    /// ```
    open var persistentStoreDescriptions: [NSPersistentStoreDescription] {
        get { descriptions.withLock { $0 }.value }
        set {
            let list = Unchecked(newValue)
            descriptions.withLock { $0 = list }
        }
    }

    /// Creates a container with the model of that name in the main bundle.
    ///
    /// The model is `NAME.momd`, `NAME.mom` or `NAME.xcdatamodeld`.
    ///
    /// - Precondition: the model exists; the message says where it was looked for. See
    ///   `init(findingModelNamed:in:)`.
    public convenience init(name: String) {
        do {
            try self.init(name: name, managedObjectModel: Self.model(named: name, in: .main))
        } catch {
            preconditionFailure(
                "NSPersistentContainer(name: \"\(name)\"): \((error as NSError).localizedDescription)")
        }
    }

    /// Creates a container with the model of that name, or throws when there is none.
    ///
    /// ```swift
    /// let container = try NSPersistentContainer(findingModelNamed: "Shop", in: .module)
    /// ```
    ///
    /// - Parameters:
    ///   - name: the model's file name without its ending, and the name of the container.
    ///   - bundle: where to look first.
    /// - Throws: an error that says where the model was looked for, or why it cannot be read or
    ///   used.
    public convenience init(findingModelNamed name: String, in bundle: Bundle = .main) throws {
        let model = try Self.model(named: name, in: bundle)
        try NSPersistentStoreCoordinator.requireConsistency(of: model)
        self.init(name: name, managedObjectModel: model)
    }

    /// Creates a container with a model. The model is frozen.
    ///
    /// - Precondition: the model is consistent.
    public init(name: String, managedObjectModel model: NSManagedObjectModel) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        viewContext.persistentStoreCoordinator = coordinator
        parts = Parts(name: name, viewContext: viewContext, model: model, coordinator: coordinator)
        descriptions = Mutex(Unchecked([]))
        super.init()
        persistentStoreDescriptions = [
            NSPersistentStoreDescription(
                url: type(of: self).defaultDirectoryURL().appendingPathComponent("\(name).sqlite"))
        ]
    }

    /// A container without a name, with an empty model.
    public convenience override init() { self.init(name: "", managedObjectModel: NSManagedObjectModel()) }

    private static func model(named name: String, in bundle: Bundle) throws -> NSManagedObjectModel {
        guard let url = NSManagedObjectModel.locate(named: name, in: [bundle]) else {
            let files = ["momd", "mom", "xcdatamodeld", "xcdatamodel"].map { "\(name).\($0)" }
            throw CoreDataErrors.make(
                .fileReadNoSuchFile,
                "There is no model named '\(name)': neither \(files.dropLast().joined(separator: ", ")) nor "
                    + "\(files[files.count - 1]) is among the resources of \(bundle.bundlePath), beside the "
                    + "executable, or in "
                    + "the resource bundles there.",
                recovery: "Add the model to the target's resources, or make the container with a model of your own: "
                    + "NSPersistentContainer(name:managedObjectModel:).")
        }
        return try NSManagedObjectModel(reading: url)
    }

    /// The directory for stores whose descriptions were not changed. A subclass may choose another.
    ///
    /// On Apple's platforms the application support directory. Elsewhere `$XDG_DATA_HOME`, or
    /// `~/.local/share` where that is not set, with a directory of the program's name. It is made
    /// when a store is added there.
    ///
    /// ```swift
    /// let url = NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Shop.sqlite")
    /// ```
    open class func defaultDirectoryURL() -> URL {
        DefaultStoreDirectory.url(
            programName: ProcessInfo.processInfo.processName, environment: ProcessInfo.processInfo.environment,
            home: FileManager.default.homeDirectoryForCurrentUser)
    }

    // MARK: - Loading

    /// Adds a store for each description.
    ///
    /// Cost: each store is opened, which reads its metadata and schema, and migrated where its
    /// model is another version.
    ///
    /// ```swift
    /// container.loadPersistentStores { description, error in
    ///     if let error { print(description.url?.path ?? "", error.localizedDescription) }
    /// }
    /// ```
    ///
    /// - Parameter block: called once for each description with the error, if any, never twice at a
    ///   time. It is called before the method returns, or later on a background queue for
    ///   descriptions that ask for adding asynchronously. These come after the others. Both groups
    ///   are added, and reported, in the order of the descriptions. Work of the block with
    ///   `viewContext` belongs on the main queue.
    open func loadPersistentStores(
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let descriptions = persistentStoreDescriptions
        // Stores added later come last: the block must not be called on two threads at once.
        let ordered =
            descriptions.filter { !$0.shouldAddStoreAsynchronously }
            + descriptions.filter(\.shouldAddStoreAsynchronously)
        for description in ordered {
            do {
                try description.makeDirectory()
            } catch {
                persistentStoreCoordinator.addStore(with: description, refusing: error, completionHandler: block)
                continue
            }
            persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
        }
    }

    // MARK: - Contexts

    /// A new context with a queue of its own, connected to the coordinator.
    ///
    /// ```swift
    /// let context = container.newBackgroundContext()
    /// context.performAndWait { context.transactionAuthor = "import" }
    /// ```
    open func newBackgroundContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        return context
    }

    /// Runs a block on the queue of a new background context, later.
    ///
    /// ```swift
    /// container.performBackgroundTask { context in
    ///     context.insert(Item(entity: item, insertInto: nil))
    ///     do { try context.save() } catch { print(error.localizedDescription) }
    /// }
    /// ```
    open func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
        let context = newBackgroundContext()
        context.perform { block(context) }
    }

    /// Runs a block on the queue of a new background context and returns its result.
    ///
    /// Cost: a new context for each call; its row cache is that of the store.
    ///
    /// ```swift
    /// let count = try await container.performBackgroundTask { context in
    ///     try context.count(for: NSFetchRequest<Item>(entityName: "Item"))
    /// }
    /// ```
    @preconcurrency
    public func performBackgroundTask<T, Failure: Error>(
        _ block: @escaping @Sendable (NSManagedObjectContext) throws(Failure) -> T
    ) async throws(Failure) -> T {
        let context = newBackgroundContext()
        return try await context.perform { () throws(Failure) -> T in try block(context) }
    }
}

/// The directory for the stores of a program that does not choose one.
enum DefaultStoreDirectory {
    static func url(programName: String, environment: [String: String], home: URL) -> URL {
        // The specification of base directories ignores a relative path.
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            return URL(fileURLWithPath: data, isDirectory: true).appendingPathComponent(programName, isDirectory: true)
        }
        return home.appendingPathComponent(".local/share", isDirectory: true)
            .appendingPathComponent(programName, isDirectory: true)
    }
}
