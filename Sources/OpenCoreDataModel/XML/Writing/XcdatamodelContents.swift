import Foundation

/// A model as the text of a `.xcdatamodel`'s `contents` file, and what that text cannot say.
///
/// ```swift
/// let contents = try NSManagedObjectModel(entities: Item.self, Supplier.self).xcdatamodelContents()
/// try contents.write(to: URL(fileURLWithPath: "Shop.xcdatamodel"))
/// ```
public struct XcdatamodelContents: Sendable, Hashable {
    /// The XML document. The same for models that say the same: entities, properties and all else are in order of name,
    /// except for indexes, uniqueness constraints and the elements of composite attributes, which keep theirs.
    public let text: String

    /// One sentence for each fact of the model that the file format has no place for, such as the default value of a
    /// binary attribute.
    public let omissions: [String]

    /// Writes a `.xcdatamodel` folder with the text in it, which is made when it is missing. A file with the same content
    /// is left as it is.
    ///
    /// - Returns: whether anything was written.
    /// - Throws: what Foundation says when the folder cannot be made or written to.
    @discardableResult
    public func write(to folder: URL) throws -> Bool {
        let file = folder.appendingPathComponent("contents")
        let data = Data(text.utf8)
        if let present = try? Data(contentsOf: file), present == data { return false }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try data.write(to: file, options: .atomic)
        return true
    }
}

extension NSManagedObjectModel {
    /// The model in the form in which Xcode keeps models.
    ///
    /// Reading the text back gives a model with the same version hashes and descriptions, except for what `omissions` lists
    /// and three facts that reading adds: an attribute with an ascending index of its own is marked as indexed, fetched
    /// properties are transient, and derivations have their compiled form. The elements of composite attributes stand in
    /// composites beside the entities, which are named after the attributes: models keep no names of composites.
    ///
    /// Cost: O(size of the model).
    ///
    /// ```swift
    /// let contents = try model.xcdatamodelContents()
    /// for omission in contents.omissions { print(omission) }
    /// ```
    ///
    /// - Throws: `ModelReadingError` when no file can hold the model: names are missing or double, or a relationship leads out
    ///   of it.
    public func xcdatamodelContents() throws -> XcdatamodelContents {
        var writer = ModelElementWriter()
        let text = writer.document(of: self).document
        var omissions = writer.omissions
        let again: NSManagedObjectModel
        do {
            let root = try ModelElementParser.parse(Data(text.utf8), file: "")
            again = try ModelElementReader.model(from: root, file: "")
        } catch var error as ModelReadingError {
            error.file = nil
            error.line = nil
            throw error
        }
        let hashes = again.entityVersionHashesByName
        for (name, hash) in entityVersionHashesByName.sorted(by: { $0.key < $1.key }) where hashes[name] != hash {
            omissions.append("\(name): the version hash of what is written differs.")
        }
        return XcdatamodelContents(text: text, omissions: omissions)
    }
}
