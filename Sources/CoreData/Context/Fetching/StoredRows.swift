import Foundation

/// A row of a fetch as values, without a managed object. Generated code reads it.
///
/// Names are literals, as in accessors: each is looked up in the entity's table of literals. A null
/// reads as nil, and so does a property that the entity does not have.
///
/// It consists of a few addresses and is valid while its `_StoredRows` lives.
public struct _StoredRow {
    @usableFromInline var row: RowPointer
    /// The accessor table of the row's entity, shared by all its rows.
    @usableFromInline let table: AccessorTable
    @usableFromInline let wordCount: Int
    @usableFromInline let layoutIndex: Int
    // Unretained: the `_StoredRows` retain the source, and with it the origins and the layouts.
    /// The origin that completes the key to an identity; nil if URIs lack the key.
    @usableFromInline let keyOrigin: Unretained<RowOrigin>?
    private let source: Unretained<StoredRowSource>

    fileprivate init(_ row: RowPointer, source: Unretained<StoredRowSource>) {
        self.row = row
        self.source = source
        layoutIndex = row.rowLayoutIndex
        let layout = source.withObject { $0.layout(row.rowLayoutIndex) }
        table = layout.objects.accessorTable
        wordCount = layout.wordCount
        keyOrigin = source.withObject { $0.keyOrigin(of: layout) }
    }

    private var layout: EntityLayout { source.withObject { $0.layout(layoutIndex) } }

    /// Returns the slot of a property that has a value in the row, with the kind of value.
    @inline(__always)
    private func slot(_ name: StaticString) -> AccessorTable.Entry? {
        var entry = table.find(name)
        if !entry.isFound {
            guard let resolved = layout.objects.slot(forLiteral: name) else { return nil }
            entry = resolved
        }
        // The kinds after `toOne` have no word in the row.
        guard entry.kind.rawValue <= ValueKind.toOne.rawValue,
            !isNull(entry.slot)
        else { return nil }
        return entry
    }

    @inlinable @inline(__always)
    func isNull(_ slot: Int) -> Bool { row.isNull(slot, wordCount: wordCount) }

    private var snapshot: Snapshot { Snapshot(retaining: row) }

    // MARK: Values

    @inlinable @inline(__always)
    public func _integer(_ name: StaticString) -> Int64? {
        let known = table.first(name)
        if known.isInteger, !isNull(known.slot) { return Int64(bitPattern: row[known.slot]) }
        return readInteger(name)
    }

    @inline(never) @usableFromInline
    func readInteger(_ name: StaticString) -> Int64? {
        guard let entry = slot(name) else { return nil }
        if entry.kind.isInteger { return Int64(bitPattern: row[entry.slot]) }
        switch snapshot.value(entry.slot) {
        case .double(let double): return Int64(exactly: double.rounded(.towardZero))
        case .decimal(let decimal): return NSDecimalNumber(decimal: decimal).int64Value
        default: return nil
        }
    }

    @inlinable @inline(__always)
    public func _double(_ name: StaticString) -> Double? {
        let known = table.first(name)
        if known.isFloatingPoint, !isNull(known.slot) { return Double(bitPattern: row[known.slot]) }
        return readDouble(name)
    }

    @inline(never) @usableFromInline
    func readDouble(_ name: StaticString) -> Double? {
        guard let entry = slot(name) else { return nil }
        if entry.kind.isFloatingPoint { return Double(bitPattern: row[entry.slot]) }
        switch snapshot.value(entry.slot) {
        case .integer(let integer): return Double(integer)
        case .decimal(let decimal): return NSDecimalNumber(decimal: decimal).doubleValue
        default: return nil
        }
    }

    @inlinable @inline(__always)
    public func _string(_ name: StaticString) -> String? {
        let known = table.first(name)
        if known.isText { return isNull(known.slot) ? nil : text(known.slot) }
        return readString(name)
    }

    @inline(never) @usableFromInline
    func readString(_ name: StaticString) -> String? {
        guard let entry = slot(name), entry.isText else { return nil }
        return text(entry.slot)
    }

    @usableFromInline
    func text(_ slot: Int) -> String {
        row.rowPage.withObject { String(decoding: $0.bytes(row, slot), as: UTF8.self) }
    }

    public func _data(_ name: StaticString) -> Data? {
        guard let entry = slot(name), entry.kind == .data || entry.kind == .transformable else { return nil }
        return snapshot.data(entry.slot)
    }

    public func _uuid(_ name: StaticString) -> UUID? {
        guard let entry = slot(name), case .uuid(let uuid) = snapshot.value(entry.slot) else { return nil }
        return uuid
    }

    public func _decimal(_ name: StaticString) -> Decimal? {
        guard let entry = slot(name) else { return nil }
        switch snapshot.value(entry.slot) {
        case .decimal(let decimal): return decimal
        case .integer(let integer): return Decimal(integer)
        case .double(let double): return Decimal(double)
        default: return nil
        }
    }

    /// The elements of a composite attribute.
    public func _composite(_ name: StaticString) -> [String: Any]? {
        layout.composite(at: [name.description]).flatMap(snapshot.dictionary)
    }

    // MARK: Identity and relationships

    /// The class of the row's entity.
    package var objectClass: NSManagedObject.Type { layout.managedObjectClass }

    /// The row's identity.
    package var identity: StoredRowIdentity {
        source.withObject { $0.identity(key: row.rowKey, layout: layout) }
    }

    /// The row's identity; nil if its URI does not contain the key.
    @inlinable @inline(__always)
    package var keyIdentity: (origin: RowOrigin, key: Int64)? {
        keyOrigin.map { ($0.object, row.rowKey) }
    }

    /// Returns the identity of the destination of a to-one relationship.
    package func destination(_ name: StaticString) -> StoredRowIdentity? {
        guard let entry = slot(name), entry.kind == .toOne else { return nil }
        let reference = snapshot.reference(entry.slot)
        return source.withObject {
            $0.identity(key: reference.key, layout: $0.layout(reference.layoutIndex))
        }
    }

    /// Returns the identities of the rows of a to-many relationship, in order if it is ordered.
    /// Empty for a relationship that was not read.
    package func destinations(_ name: StaticString) -> [StoredRowIdentity] {
        guard let slot = layout.slotByName[name.description] else { return [] }
        return source.withObject { source in
            source.related(slot: slot, of: layout, to: row.rowKey).map {
                source.identity(key: $0.key, layout: source.layout($0.layoutIndex))
            }
        }
    }
}

/// The rows of a fetch. Keeps their memory alive.
public final class _StoredRows {
    @usableFromInline let rows: ContiguousArray<RowPointer>
    /// Owns the memory of the rows.
    private let pages: [RowPage]
    private let source: StoredRowSource

    fileprivate init(_ fetched: FetchedRows, source: StoredRowSource) {
        rows = fetched.rows
        pages = fetched.pages
        self.source = source
    }

    @inlinable
    public var _count: Int { rows.count }

    /// The classes of the rows' entities, each once. Cost: O(number of rows), a comparison for
    /// each.
    package var objectClasses: [NSManagedObject.Type] {
        var indexes: [Int] = []
        for row in rows where row.rowLayoutIndex != indexes.last && !indexes.contains(row.rowLayoutIndex) {
            indexes.append(row.rowLayoutIndex)
        }
        return indexes.map { source.layout($0).managedObjectClass }
    }

    /// The row at a position, valid while this object lives.
    public func _row(at index: Int) -> _StoredRow { _StoredRow(rows[index], source: Unretained(source)) }

    /// Replaces a row of this object by the one at another index. Cost: a comparison, if both are
    /// of one entity.
    @inlinable @inline(__always)
    public func _move(_ row: inout _StoredRow, to index: Int) {
        let next = rows[index]
        if next.rowLayoutIndex == row.layoutIndex { row.row = next } else { row = _row(at: index) }
    }
}

/// The common part of the identities of all rows of an entity in a store.
@usableFromInline
package final class RowOrigin: Sendable {
    /// The store's UUID.
    package let store: String
    package let entityName: String

    package init(store: String, entityName: String) {
        self.store = store
        self.entityName = entityName
    }
}

/// The identity of a row in every context and process.
package struct StoredRowIdentity {
    package let origin: RowOrigin
    /// The key, if the row's URI contains it.
    package let key: Int64
    /// The text in the URI instead of the key, for stores with references of their own.
    package let text: String?
}

/// The store, model and related rows that the rows of one fetch share.
private final class StoredRowSource {
    private let store: NSPersistentStore
    private let model: ModelLayout
    /// The origin of each layout, by layout index.
    private let origins: [RowOrigin]
    private let hasPlainKeys: Bool
    /// The related rows that were read: by layout and slot, then by the owner's key.
    private var relationships: [Int: [Int64: [RowReference]]] = [:]

    init(store: NSPersistentStore, model: ModelLayout) {
        self.store = store
        self.model = model
        let uuid = store.token.uuid
        origins = model.layouts.map { RowOrigin(store: uuid, entityName: $0.name) }
        hasPlainKeys = store.namesRowsByKey
    }

    func layout(_ index: Int) -> EntityLayout { model.layouts[index] }

    func keyOrigin(of layout: EntityLayout) -> Unretained<RowOrigin>? {
        hasPlainKeys ? Unretained(origins[layout.index]) : nil
    }

    func identity(key: Int64, layout: EntityLayout) -> StoredRowIdentity {
        StoredRowIdentity(
            origin: origins[layout.index], key: key,
            text: hasPlainKeys ? nil : store.uriText(forKey: key, of: layout))
    }

    private static func place(_ slot: Int, _ layout: EntityLayout) -> Int { layout.index << 16 | slot }

    func related(slot: Int, of layout: EntityLayout, to key: Int64) -> [RowReference] {
        relationships[Self.place(slot, layout)]?[key] ?? []
    }

    /// Reads to-many relationships of rows: one fetch for each relationship and entity.
    func readRelationships(_ names: [String], of rows: FetchedRows, from source: any RowSource) throws {
        let groups = Dictionary(grouping: rows.rows, by: \.rowLayoutIndex)
        for (index, rows) in groups {
            let layout = model.layouts[index]
            for name in names {
                guard let slot = layout.slotByName[name], layout.slots[slot].kind.isToMany else { continue }
                let found = try source.relatedRows(toAll: rows.map(\.rowKey), through: layout.slots[slot], of: layout)
                var byOwner: [Int64: [RowReference]] = [:]
                for (row, owner) in zip(found.rows.rows, found.ownerKeys) {
                    byOwner[owner, default: []].append(RowReference(key: row.rowKey, layoutIndex: row.rowLayoutIndex))
                }
                withExtendedLifetime(found.rows.pages) {}
                relationships[Self.place(slot, layout)] = byOwner
            }
        }
    }
}

extension NSManagedObjectContext {
    /// Fetches the rows of a request without managed objects.
    ///
    /// Returns nil if only objects can represent the result: the context has unsaved changes or a
    /// parent, several stores have rows, or a store returns none.
    ///
    /// - Parameter relationships: The names of to-many relationships to read with the rows.
    package func fetchStoredRows<Result>(
        _ request: NSFetchRequest<Result>, relationships: [String]
    ) throws -> _StoredRows? {
        if request.includesPendingChanges && (hasChanges || parentContext != nil) { return nil }
        let resolved = try resolve(request)
        guard resolved.stores.count == 1, let store = resolved.stores.first,
            let stored = self.rows(ofStore: store.number),
            resolved.fetch.shape == .rows, case .rows(let rows) = try stored.fetch(resolved.fetch)
        else { return nil }
        let source = StoredRowSource(store: store, model: resolved.layout.model)
        if !relationships.isEmpty { try source.readRelationships(relationships, of: rows, from: stored) }
        return _StoredRows(rows, source: source)
    }
}
