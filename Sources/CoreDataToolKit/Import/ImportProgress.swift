import CoreData

/// The progress of an import in batches, kept in the metadata of the store until the import ends.
struct ImportProgress: Equatable {
    let file: String
    let size: Int64
    /// The number of rows that were written.
    var rows = 0
    /// The first key of the new rows of a table, by the name of its root entity; 0 where rows keep
    /// the keys that they have in the file.
    var firstKeys: [String: Int64] = [:]

    static let key = "coredata import"

    init(of source: ImportSource) {
        file = source.name
        size = source.size
    }

    init?(_ metadata: [String: Any]) {
        guard let list = metadata[Self.key] as? [String: Any] else { return nil }
        file = list["file"] as? String ?? ""
        size = (list["size"] as? NSNumber)?.int64Value ?? 0
        rows = (list["rows"] as? NSNumber)?.intValue ?? 0
        firstKeys = (list["firstKeys"] as? [String: Any] ?? [:]).compactMapValues { ($0 as? NSNumber)?.int64Value }
    }

    var propertyList: [String: Any] {
        [
            "file": file, "size": NSNumber(value: size), "rows": NSNumber(value: rows),
            "firstKeys": firstKeys.mapValues { NSNumber(value: $0) },
        ]
    }

    func isOf(_ source: ImportSource) -> Bool { file == source.name && size == source.size }
}
