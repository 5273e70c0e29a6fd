import Foundation

extension NSManagedObjectModel {
    /// Reads the model that a store contains in `Z_MODELCACHE`: a compressed keyed archive.
    /// - Throws: `ModelReadingError` when the data is damaged or does not describe a model.
    package static func decode(modelCache data: Data) throws -> NSManagedObjectModel {
        try ModelArchiveReader.model(from: RawDeflate.inflate(data))
    }

    /// Returns the data for `Z_MODELCACHE`.
    /// - Throws: `ModelReadingError` when a predicate cannot be archived.
    package func encodedModelCache() throws -> Data {
        try RawDeflate.deflate(archivedModel())
    }

    /// Returns the keyed archive of the model, as a `.mom` file contains it.
    /// - Throws: `ModelReadingError` when a predicate cannot be archived.
    package func archivedModel() throws -> Data {
        try ModelArchiveWriter.data(of: self)
    }

    // MARK: Coding

    /// True: reading a model creates model descriptions and plain values only.
    public class var supportsSecureCoding: Bool { true }

    static let codingKey = "OpenCoreDataModel"

    /// Writes the model into an archive of the application's own, as one block of data.
    ///
    /// A model whose predicates hold closures cannot be archived; nothing is written for it. Not
    /// written are default values of the application's own classes, names for Spotlight, and the
    /// columns, groups and prefetched relationships of fetch request templates.
    ///
    /// ```swift
    /// let data = try NSKeyedArchiver.archivedData(
    ///     withRootObject: model, requiringSecureCoding: true)
    /// let again = try NSKeyedUnarchiver.unarchivedObject(
    ///     ofClass: NSManagedObjectModel.self, from: data)
    /// ```
    public func encode(with coder: NSCoder) {
        guard let data = try? archivedModel() else { return }
        coder.encode(data as NSData, forKey: Self.codingKey)
    }
}
