import CoreData

/// A model that a person named: a model file, or a store that contains its model.
struct NamedModel {
    let model: NSManagedObjectModel
    let name: String
    private let url: URL
    private let version: String?

    /// - Parameter version: the version of a bundle with several; nil for the current one.
    /// - Throws: `ToolError`.
    init(path: String, version: String?) throws {
        url = URL(fileURLWithPath: path)
        self.version = version
        name = url.lastPathComponent
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw ToolError("There is no file '\(path)'. Check the path.")
        }
        if !isFolder.boolValue, FileKind.beginning(of: url, count: 15) == Data("SQLite format 3".utf8) {
            model = try Self.modelOfStore(path)
            return
        }
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
