import Foundation

/// A version of a model that a stage of a migration names, and how to find it.
///
/// The checksum is compared when the model is needed, so that no store is migrated to a model that
/// was changed by mistake.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmanagedobjectmodelreference>
///
/// ```swift
/// let first = NSManagedObjectModelReference(
///     name: "Shop", in: .main, versionChecksum: "rVtGS6dh9Qn+C8vYG3Yk1b1AI6SOzGIXGhEYnQLRYbI=")
/// let second = NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
/// ```
open class NSManagedObjectModelReference: NSObject {
    /// The checksum of the version: `NSManagedObjectModel.versionChecksum`.
    public let versionChecksum: String

    private enum Origin {
        case model(NSManagedObjectModel)
        case file(URL)
        case name(String, Bundle?)
        case hashes([String: Data], Bundle?)
    }

    private let origin: Origin
    private lazy var resolution = Result { try find() }

    /// Refers to a model of the program.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        (origin, self.versionChecksum) = (.model(model), versionChecksum)
        super.init()
    }

    /// Refers to a model file; of a bundle with several versions to the one with the checksum.
    public init(fileURL: URL, versionChecksum: String) {
        (origin, self.versionChecksum) = (.file(fileURL), versionChecksum)
        super.init()
    }

    /// Refers to a model, or one of its versions, by the name of its file.
    ///
    /// - Parameters:
    ///   - modelName: The name of the file without its extension.
    ///   - bundle: The bundle to search; nil for all of the program.
    ///   - versionChecksum: The `versionChecksum` of the model.
    public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        (origin, self.versionChecksum) = (.name(modelName, bundle), versionChecksum)
        super.init()
    }

    /// Refers to the entities with these version hashes in the models of a bundle.
    ///
    /// - Parameters:
    ///   - versionHashes: The hash (`Data`) of each entity by its name (`String`).
    ///   - bundle: The bundle to search; nil for all of the program.
    ///   - versionChecksum: The `versionChecksum` of the model.
    public init(entityVersionHashes versionHashes: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        var hashes: [String: Data] = [:]
        for (name, hash) in versionHashes { if let name = name as? String { hashes[name] = hash as? Data } }
        (origin, self.versionChecksum) = (.hashes(hashes, bundle), versionChecksum)
        super.init()
    }

    /// The model, read at the first call.
    ///
    /// - Precondition: the model is found and has the checksum. `resolve()` throws instead.
    open var resolvedModel: NSManagedObjectModel {
        do { return try resolve() } catch {
            preconditionFailure((error as NSError).localizedDescription)
        }
    }

    /// Returns the model, read at the first call.
    ///
    /// - Throws: code 134504 if the model is not found or has another checksum.
    public func resolve() throws -> NSManagedObjectModel { try resolution.get() }

    private func find() throws -> NSManagedObjectModel {
        func bundles(_ bundle: Bundle?) -> [Bundle] {
            bundle.map { [$0] } ?? [Bundle.main] + Bundle.allBundles + Bundle.allFrameworks
        }
        switch origin {
        case .model(let model):
            return try fitting([model], "The model that was given")
        case .file(let url):
            let models = try reading(url) { try ModelLocator.versions(of: url).map { try ModelFile.model(at: $0) } }
            return try fitting(models, "The model at \(url.path)")
        case .name(let name, let bundle):
            let urls = ModelLocator.versions(named: name, in: bundles(bundle))
            let models = try urls.map { url in try reading(url) { try ModelFile.model(at: url) } }
            return try fitting(models, "The model '\(name)'")
        case .hashes(let hashes, let bundle):
            let model = NSManagedObjectModel.mergedModel(
                from: bundles(bundle), forStoreMetadata: [NSStoreModelVersionHashesKey: hashes])
            let names = hashes.keys.sorted().joined(separator: ", ")
            return try fitting([model].compactMap { $0 }, "A model with the version hashes of \(names)")
        }
    }

    /// - Parameter subject: The name of the model, as the beginning of a sentence.
    private func fitting(_ models: [NSManagedObjectModel], _ subject: String) throws -> NSManagedObjectModel {
        if let model = models.first(where: { $0.versionChecksum == versionChecksum }) { return model }
        let others = models.map(\.versionChecksum).joined(separator: ", ")
        throw notFound(
            models.isEmpty
                ? "\(subject) was not found." : "\(subject) has the checksum \(others), not \(versionChecksum).",
            models.isEmpty
                ? "Keep all versions of the model in the bundle."
                : "Name the model that the stage was written for, or correct the checksum of the reference.")
    }

    private func reading<Value>(_ url: URL, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            throw notFound(
                "The model at \(url.path) cannot be read: \(error.localizedDescription)",
                "Give the file of a model: .mom, .momd, .xcdatamodel or .xcdatamodeld.", error)
        }
    }

    private func notFound(_ problem: String, _ recovery: String, _ error: (any Error)? = nil) -> NSError {
        var userInfo: [String: Any] = [:]
        userInfo[NSUnderlyingErrorKey] = error
        return CoreDataErrors.make(
            CocoaError.Code(rawValue: NSManagedObjectModelReferenceNotFoundError), problem, recovery: recovery,
            userInfo: userInfo)
    }
}
