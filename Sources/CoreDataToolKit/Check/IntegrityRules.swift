/// SQLite's own check of the file.
struct IntegrityRules {
    let store: CheckedStore
    /// The greatest number of faults that are listed.
    private static let limit = 100

    func findings() throws -> [StoreFinding] {
        let lines: [String]
        do {
            lines = try store.reader.rows("PRAGMA integrity_check(\(Self.limit))").compactMap(\.[0].text)
        } catch let failure as SQLiteReader.Failure where failure.isOfPages || failure.isEndless {
            lines = [failure.message]
        }
        let faults = lines.flatMap { $0.split(separator: "\n").map(String.init) }.filter {
            $0 != "ok" && !$0.hasPrefix("***")
        }
        if faults.isEmpty { return [] }
        let ofIndexes = faults.filter(Self.isOfIndex)
        let ofPages = faults.filter { !Self.isOfIndex($0) }
        return [
            finding(ofPages, "damage in the file", nil),
            // Where pages are damaged, an index cannot be made from its table.
            finding(
                ofIndexes, "entries of indexes that differ from their tables",
                ofPages.isEmpty ? Mend("makes all indexes again", sql: "REINDEX") : nil),
        ].compactMap { $0 }
    }

    /// Whether a fault goes away when the indexes are made again. Equal values under a uniqueness
    /// constraint do not.
    private static func isOfIndex(_ fault: String) -> Bool {
        fault.contains(" missing from index ") || fault.hasPrefix("wrong # of entries in index ")
            || fault.contains(" values differ from index ")
    }

    private func finding(_ faults: [String], _ kind: String, _ mend: Mend?) -> StoreFinding? {
        if faults.isEmpty { return nil }
        let examples = Array(faults.prefix(StoreFinding.exampleCount))
        let more = faults.count > examples.count ? "; …" : ""
        let advice = mend == nil ? " 'coredata recover' reads what can be read." : ""
        return StoreFinding(
            kind: .integrity, table: nil, count: Int64(faults.count), examples: examples,
            sentence: "SQLite finds \(kind): \(examples.joined(separator: "; "))\(more).\(advice)", mend: mend)
    }
}
