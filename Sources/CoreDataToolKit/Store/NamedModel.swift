import CoreData

/// A model that a person named: a model file, or a store that contains its model.
struct NamedModel {
    let model: NSManagedObjectModel
    let name: String
    /// How the model of a store was found; nil for a model file.
    let origin: StoreModel.Origin?
    /// The problems of the store with its model, in sentences.
    let warnings: [String]
    private let url: URL
    private let version: String?

    /// Reads the model of a file, or the best one that can be had for a store: with this model
    /// file, else the store's own copy, else one that is inferred from the tables.
    ///
    /// - Throws: `ToolError`.
    init(describedBy path: String, modelPath: String? = nil, version: String? = nil) throws {
        guard Self.isStore(path) else {
            if modelPath != nil {
                throw ToolError("'\(path)' is no store: leave out --model, which says how to read one.")
            }
            try self.init(path: path, version: version)
            return
        }
        if version != nil { throw ToolError("'\(path)' is a store, which has one model: leave out --version.") }
        try self.init(store: path, modelPath: modelPath)
    }

    private init(store path: String, modelPath: String?) throws {
        url = URL(fileURLWithPath: path)
        version = nil
        name = url.lastPathComponent
        let file = try StoreFile(path: path)
        defer { file.close() }
        do {
            let reader = try file.reader()
            var contents = try StoreCatalog(file, reader: reader)
            let chosen = try StoreModel(&contents, reader: reader, modelPath: modelPath)
            model = try Self.declared(chosen, contents)
            origin = chosen.origin
            warnings = chosen.warnings + contents.problems
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, file)
        }
    }

    /// Reads the model of a store again, because the one that the engine uses has binary attributes
    /// in the place of transformable ones.
    static func declared(_ chosen: StoreModel, _ contents: StoreCatalog) throws -> NSManagedObjectModel {
        switch chosen.origin {
        case .cache: try StoreInspection.model(modelCache: contents.modelCache ?? Data())
        case .file(let path): try ModelFileChoice.model(at: path, for: contents.metadata)
        case .tables: chosen.model
        }
    }

    /// Whether a path leads to a SQLite database.
    static func isStore(_ path: String) -> Bool {
        FileKind.beginning(of: URL(fileURLWithPath: path), count: 15) == Data("SQLite format 3".utf8)
    }

    /// - Parameter version: the version of a bundle with several; nil for the current one.
    /// - Throws: `ToolError`.
    init(path: String, version: String?) throws {
        url = URL(fileURLWithPath: path)
        self.version = version
        name = url.lastPathComponent
        warnings = []
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw ToolError("There is no file '\(path)'. Check the path.")
        }
        if !isFolder.boolValue, Self.isStore(path) {
            model = try Self.modelOfStore(path)
            origin = .cache
            return
        }
        origin = nil
        if isFolder.boolValue, !["xcdatamodeld", "xcdatamodel", "momd"].contains(url.pathExtension) {
            throw ToolError(
                "'\(path)' is a folder, but no model. Name a .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store.")
        }
        if !isFolder.boolValue, let kind = FileKind.other(thanModel: url) {
            throw ToolError(
                "'\(path)' is \(kind), and no model. Name a .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store.")
        }
        do {
            model = try NSManagedObjectModel(reading: url, version: version)
        } catch {
            throw ToolError("The model '\(path)' cannot be read: \(ErrorText.line(error))")
        }
    }

    /// Returns the settings in the model's file for Xcode's code generation; nil if the model is
    /// not such a file.
    func codeGeneration() throws -> CodeGeneration? { try CodeGeneration(reading: url, version: version) }

    private static func modelOfStore(_ path: String) throws -> NSManagedObjectModel {
        let file = try StoreFile(path: path)
        let contents: StoreCatalog
        do {
            contents = try StoreCatalog(file, reader: file.reader())
        } catch let failure as SQLiteReader.Failure {
            throw StoreCatalog.error(failure, file)
        }
        guard let cache = contents.modelCache, !cache.isEmpty else {
            throw ToolError("The store '\(path)' carries no model. Name the model file that it was made with.")
        }
        do {
            return try StoreInspection.model(modelCache: cache)
        } catch {
            throw ToolError("The model in the store '\(path)' cannot be read: \(ErrorText.line(error))")
        }
    }
}
