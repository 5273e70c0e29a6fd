import CSQLite
import Foundation

/// The result columns of a statement that reads whole rows of an entity and, perhaps, its subentities.
///
/// The first three columns are always entity number (or 0), key and version.
final class SelectPlan: @unchecked Sendable {
    // Sendable: never changed after `init`; decoders are read-only.

    let entity: SQLEntity
    /// `t0.Z_ENT, t0.Z_PK, t0.Z_OPT, …` for alias `t0`.
    let columns: String
    /// Set when all rows are of one entity.
    let only: RowDecoder?
    /// By layout index.
    private let decoders: [RowDecoder?]
    private let mapping: SQLMapping

    init(
        entity: SQLEntity, includesSubentities: Bool, mapping: SQLMapping, externalFiles: ExternalFiles?,
        presentColumns: Set<String>?
    ) {
        self.entity = entity
        self.mapping = mapping
        let family = includesSubentities ? entity.layout.familyIndexes.compactMap { mapping.entities[$0] } : [entity]
        var names: [String] = []
        var index: [String: Int32] = [:]
        func add(_ name: String?) {
            guard let name, index[name] == nil, presentColumns?.contains(name) ?? true else { return }
            index[name] = Int32(names.count + 3)
            names.append(name)
        }
        for member in family {
            for slot in member.layout.slots.prefix(member.layout.storedCount) {
                add(member.columns[slot.index]?.name)
                add(member.columns[slot.index]?.entityColumn)
            }
        }
        let isSingle = family.count == 1
        columns =
            ([isSingle ? "0" : "t0.Z_ENT", "t0.Z_PK", "t0.Z_OPT"] + names.map { "t0." + SQLSchema.identifier($0) })
            .joined(separator: ", ")
        var table: [RowDecoder?] = Array(repeating: nil, count: mapping.layouts.layouts.count)
        for member in family {
            table[member.layout.index] = RowDecoder(
                entity: member, mapping: mapping, externalFiles: externalFiles, columnIndex: index)
        }
        decoders = table
        only = isSingle ? table[entity.layout.index] : nil
    }

    func decoder(forEntityNumber number: Int64) -> RowDecoder? {
        mapping.layoutIndex(forNumber: number).flatMap { decoders[$0] }
    }
}

/// Collects rows of one hierarchy, each in pages of its own entity.
struct RowCollector {
    private var builders: [Int: RowPageBuilder] = [:]
    private let plan: SelectPlan
    private let expectedRows: Int
    private(set) var rows: ContiguousArray<RowPointer> = []

    init(_ plan: SelectPlan, expectedRows: Int) {
        self.plan = plan
        self.expectedRows = expectedRows
    }

    /// Reads all rows of a bound statement.
    mutating func readAll(_ statement: SQLiteStatement) throws {
        let handle = statement.handle
        if let decoder = plan.only {
            let index = decoder.layout.index
            var builder =
                builders.removeValue(forKey: index)
                ?? RowPageBuilder(layout: decoder.layout, expectedRows: expectedRows)
            defer { builders[index] = builder }
            while try statement.step() {
                let row = builder.appendRow(
                    key: sqlite3_column_int64(handle, 1), version: sqlite3_column_int64(handle, 2))
                decoder.decode(handle, into: row, of: builder.page)
                rows.append(row)
            }
        } else {
            while try statement.step() { append(statement) }
        }
    }

    /// Reads the statement's current row; a row of an entity that the model does not know is passed over.
    /// - Returns: whether a row was appended.
    @discardableResult
    mutating func append(_ statement: SQLiteStatement) -> Bool {
        let handle = statement.handle
        guard let decoder = plan.only ?? plan.decoder(forEntityNumber: sqlite3_column_int64(handle, 0)) else {
            return false
        }
        let row = builders[
            decoder.layout.index, default: RowPageBuilder(layout: decoder.layout, expectedRows: expectedRows)
        ]
        .append(handle, decoder)
        rows.append(row)
        return true
    }

    /// The rows, published in the cache.
    ///
    /// - Parameter generation: the cache's, from before the first row was read.
    mutating func finish(in cache: RowCache, readAt generation: Int) -> FetchedRows {
        let fetched = finishUnpublished()
        if !fetched.pages.isEmpty { cache.insert(fetched.pages, readAt: generation) }
        return fetched
    }

    /// The rows, for someone who publishes them later or never.
    mutating func finishUnpublished() -> FetchedRows {
        var pages: [RowPage] = []
        for index in builders.keys.sorted() {
            if var builder = builders[index] { pages += builder.finish() }
        }
        return FetchedRows(rows: rows, pages: pages)
    }
}

extension RowPageBuilder {
    fileprivate mutating func append(_ statement: OpaquePointer, _ decoder: RowDecoder) -> RowPointer {
        let row = appendRow(key: sqlite3_column_int64(statement, 1), version: sqlite3_column_int64(statement, 2))
        decoder.decode(statement, into: row, of: page)
        return row
    }
}
