import Foundation

/// Reads binary and XML property lists from files, with readers that have limits. Foundation's
/// reader would follow a list of a few hundred bytes until memory is full.
package enum PropertyListReader {
    /// Returns the entries of a list whose outermost value is a dictionary. Cost: O(number of
    /// bytes).
    /// - Throws: `ModelReadingError` of kind `damaged` for anything else.
    package static func dictionary(from data: Data) throws -> [String: Any] {
        guard let entries = try value(from: data).foundationValue as? [String: Any] else {
            throw ModelReadingError.damagedArchive(
                "The property list is not a dictionary of texts, numbers, dates, data and collections.")
        }
        return entries
    }

    /// Returns a binary list with the keys of its dictionaries in order. Cost: O(number of bytes).
    /// Foundation writes equal lists with their keys in one order or another.
    /// - Throws: `ModelReadingError` of kind `damaged` when the data is not such a list.
    package static func inOrder(_ data: Data) throws -> Data {
        BinaryPropertyListWriter.data(of: try BinaryPropertyListReader.read(data))
    }

    /// Returns the outermost value of a list. Cost: O(number of bytes).
    /// - Throws: `ModelReadingError` of kind `damaged` when the data is no property list.
    package static func value(from data: Data) throws -> PropertyListValue {
        if data.starts(with: Data("bplist".utf8)) { return try BinaryPropertyListReader.read(data) }
        return try XMLPropertyListReader.read(data)
    }
}
