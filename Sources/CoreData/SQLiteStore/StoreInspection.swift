import Foundation

/// Functions and options for tools of this package that read untrusted stores.
///
/// They are not part of Core Data's public API.
package enum StoreInspection {
    /// With the value true, a read-only SQLite store is read without locks.
    ///
    /// It then needs no shared memory file beside it.
    ///
    /// The store's file must have no WAL, and no process may change it.
    package static let immutableFileOption = "OpenCoreDataImmutableFile"

    /// Decodes the model from the content of a store's `Z_MODELCACHE`.
    ///
    /// - Throws: `ModelReadingError` when the data is damaged or does not describe a model.
    package static func model(modelCache: Data) throws -> NSManagedObjectModel {
        try NSManagedObjectModel.decode(modelCache: modelCache)
    }

    /// Decodes the entries of a property list in a store, with limits. Cost: O(number of bytes).
    ///
    /// - Throws: `ModelReadingError` when it is damaged or no dictionary.
    package static func propertyList(_ data: Data) throws -> [String: Any] {
        try PropertyListReader.dictionary(from: data)
    }

    /// The value in a keyed archive that consists only of Foundation's value types.
    ///
    /// These are texts, numbers, dates, data, identifiers, addresses, null, arrays and
    /// dictionaries. Creates no object of any other class. Nil for anything else, also where only a
    /// part is something else. Keys of dictionaries are texts, or numbers, which become texts.
    package static func plainValue(keyedArchive: Data) -> Any? {
        guard let archive = try? ObjectArchive(keyedArchive) else { return nil }
        return (try? archive.plainValue(archive.root, isWhole: true)) ?? nil
    }
}
