import Foundation

extension NSManagedObjectModel {
    /// Reads the model that a store contains in `Z_MODELCACHE`: a compressed keyed archive.
    ///
    /// - Throws: `ModelReadingError` when the data is damaged or does not describe a model.
    package static func decode(modelCache data: Data) throws -> NSManagedObjectModel {
        try ModelArchiveReader.model(from: RawDeflate.inflate(data))
    }

    /// Returns the data for `Z_MODELCACHE`. Cost: O(size of the model).
    ///
    /// - Throws: `ModelReadingError` when a predicate cannot be archived.
    package func encodedModelCache() throws -> Data {
        try RawDeflate.deflate(archivedModel())
    }

    /// Returns the keyed archive of the model, as a `.mom` file contains it.
    ///
    /// - Throws: `ModelReadingError` when a predicate cannot be archived.
    package func archivedModel() throws -> Data {
        try ModelArchiveWriter.data(of: self)
    }
}
