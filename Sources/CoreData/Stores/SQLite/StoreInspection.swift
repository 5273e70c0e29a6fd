import Foundation

/// What tools of this package need to look into stores from anywhere, beyond Core Data's public API.
package enum StoreInspection {
    /// True: the store's file has no WAL and nobody changes it, so that it is read without locks and without a shared
    /// memory file beside it. For read-only SQLite stores.
    package static let immutableFileOption = "OpenCoreDataImmutableFile"

    /// The model that a store carries in `Z_MODELCACHE`.
    ///
    /// - Throws: `ModelReadingError` when the data is damaged or does not describe a model.
    package static func model(modelCache: Data) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.decode(modelCache: modelCache)
    }

    /// The entries of a property list in a store, read with limits. Cost: O(number of bytes).
    ///
    /// - Throws: `ModelReadingError` when it is damaged or no dictionary.
    package static func propertyList(_ data: Data) throws -> [String: Any] {
        try PropertyListReader.dictionary(from: data)
    }

    /// The value in a keyed archive, when it is made of Foundation's value types alone: texts, numbers, dates, data,
    /// identifiers, addresses, null, arrays and dictionaries. Makes no object of any other class; nil for anything else, also
    /// where only a part is something else. Keys of dictionaries are texts, or numbers, which become texts.
    package static func plainValue(keyedArchive: Data) -> Any? {
        guard let archive = try? ObjectArchive(keyedArchive) else { return nil }
        return (try? archive.plainValue(archive.root, isWhole: true)) ?? nil
    }
}
