import Foundation

/// A model as the text of a `.xcdatamodel`'s `contents` file, and the facts that the text lacks.
///
/// ```swift
/// let contents = try NSManagedObjectModel(entities: Item.self, Supplier.self)
///     .xcdatamodelContents()
/// try contents.write(to: URL(fileURLWithPath: "Shop.xcdatamodel"))
/// ```
public struct XcdatamodelContents: Sendable, Hashable {
    /// The XML document. It is the same for models with the same content.
    ///
    /// Entities, properties and everything else are in order of name, except for indexes,
    /// uniqueness constraints and the elements of composite attributes, which keep their order.
    public let text: String

    /// One sentence for each fact of the model that the file format cannot express.
    ///
    /// An example is the default value of a binary attribute.
    public let omissions: [String]

    /// Writes the text into a `.xcdatamodel` folder, which is created if it is missing.
    ///
    /// A file with the same content is left unchanged.
    ///
    /// - Returns: Whether anything was written.
    /// - Throws: Foundation's error when the folder cannot be created or written to.
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
    /// Returns the model in the form in which Xcode stores models.
    ///
    /// Reading the text back gives a model with the same version hashes and descriptions, except
    /// for the facts that `omissions` lists and three facts that reading adds: an attribute with an
    /// ascending index of its own is marked as indexed, fetched properties are transient, and
    /// derivations have their compiled form. The elements of composite attributes are written as
    /// composites beside the entities, named after the attributes: models keep no names of
    /// composites.
    ///
    /// Cost: O(size of the model).
    ///
    /// ```swift
    /// let contents = try model.xcdatamodelContents()
    /// for omission in contents.omissions { print(omission) }
    /// ```
    ///
    /// - Throws: `ModelReadingError` when no file can hold the model: names are missing or used
    ///   twice, or a relationship refers to an entity outside of the model.
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
