import Foundation

/// What a column holds: attributes of one type can share a column.
package enum SQLColumnType {
    case integer
    case float
    case timestamp
    case decimal
    case text
    case bytes

    init?(_ kind: ValueKind) {
        switch kind {
        case .int16, .int32, .int64, .boolean, .toOne: self = .integer
        case .double, .float: self = .float
        case .date: self = .timestamp
        case .decimal: self = .decimal
        case .string, .uri: self = .text
        case .data, .json, .uuid, .transformable: self = .bytes
        case .composite, .toMany, .orderedToMany, .fetched, .undefined: return nil
        }
    }
}

/// The column of one property, with its companions.
///
/// The names may be set while a store is opened: a file that migrations have changed has others than a new one (`SQLMapping` fitted to it).
package final class SQLColumn {
    /// Set by the table, which makes names unique, and in another folder where the mapping is fitted to what a file has.
    package var name: String
    let type: SQLColumnType
    /// Set in another folder where the mapping is fitted to columns whose type is not the one that new ones get.
    package var kind: ValueKind
    /// The property's name; the path of an element of a composite attribute.
    package let propertyName: String
    /// What the column is named after: the name of the property or the element alone.
    let columnName: String
    /// Holds the destination's entity number, where that can vary.
    package var entityColumn: String?
    /// Holds the position in the ordered relationship that the column serves.
    package var orderColumn: String?
    /// Whether large values may lie in files of their own. Only bytes can, whatever the model says of other attributes.
    package let allowsExternalStorage: Bool
    /// The property that the column was made for; entities that inherit it share the column.
    package let property: NSPropertyDescription
    /// Whether it holds the owner's key of `property`, a to-many relationship without an inverse: no object has its value.
    package let isHiddenKey: Bool
    /// The ordered relationship that `orderColumn` serves: the place of the entity that declares it, and its name.
    fileprivate(set) var orderedBy: (place: Int, name: String) = (0, "")

    /// - Parameter keepsJSON: whether the database has a type for JSON.
    init(name: String, type: SQLColumnType, slot: PropertySlot, keepsJSON: Bool) {
        self.name = name
        self.type = type
        kind = keepsJSON && slot.isJSON ? .json : slot.kind
        propertyName = slot.name
        columnName = slot.columnName
        property = slot.property
        allowsExternalStorage = type == .bytes && slot.attribute?.allowsExternalBinaryDataStorage == true
        isHiddenKey = false
    }

    /// The kind of a property's values as they are in the column.
    func kind(of slot: PropertySlot) -> ValueKind { kind == .json ? kind : slot.kind }

    /// The hidden key column of a to-many relationship without an inverse.
    init(hiddenKeyOf slot: PropertySlot, name: String) {
        self.name = name
        type = .integer
        kind = .toOne
        propertyName = slot.name
        columnName = slot.columnName
        property = slot.property
        allowsExternalStorage = false
        isHiddenKey = true
    }
}

/// A to-many relationship without an inverse: the key of its owner stands in the destination's row.
package struct SQLHiddenKey {
    /// The entity that declares the relationship.
    package let owner: SQLEntity
    package let destination: SQLEntity
    package let slot: PropertySlot
    package let column: SQLColumn
}

/// The table of a root entity and all its subentities.
package final class SQLTable {
    package let root: EntityLayout
    package let name: String
    package let family: [SQLEntity]
    package let naming: any TableNaming
    /// The column of keys.
    package let keyColumn: String
    /// The column of entity numbers, where the table has one.
    package let numberColumn: String
    /// The column of versions.
    package let versionColumn: String
    /// Whether who changes a row writes its version.
    package let writesVersions: Bool
    /// In the order of their declaration.
    package private(set) var columns: [SQLColumn] = []
    /// How many of `columns` stand before the positions of ordered relationships.
    private var countBeforePositions = 0

    init(root: EntityLayout, family: [SQLEntity], mapping: SQLMapping) {
        self.root = root
        self.family = family
        naming = mapping.naming
        name = naming.table(root)
        keyColumn = naming.key(of: root)
        numberColumn = naming.entity(of: root)
        versionColumn = naming.version(of: root)
        writesVersions = naming.writesVersions(of: root)
        var names = SQLNames(taken: Set([keyColumn, numberColumn, versionColumn] + naming.reservedColumns))
        var byProperty: [SlotIdentity: SQLColumn] = [:]
        // The columns that each entity adds, in the order of the properties' names.
        var added: [[SQLColumn]] = []
        for entity in Self.inOrder(family) {
            entity.table = self
            var own: [SQLColumn] = []
            for key in mapping.hiddenKeys where key.destination === entity {
                key.column.name = names.take(key.column.name)
                complete(key.column, ordered: key.slot, by: key.owner)
                own.append(key.column)
            }
            // By name, with the elements of a composite attribute in its place.
            for slot in entity.layout.slots.prefix(entity.layout.storedCount) {
                if let column = byProperty[slot.identity] ?? inherited(slot, by: entity) {
                    entity.columns[slot.index] = column
                    continue
                }
                guard let type = SQLColumnType(slot.kind) else { continue }
                // Siblings that use one name have columns of their own.
                let column = SQLColumn(name: names.take(naming.column(slot)), type: type, slot: slot, keepsJSON: mapping.dialect.keepsJSON)
                if slot.kind == .toOne { complete(column, slot, mapping) }
                byProperty[slot.identity] = column
                entity.columns[slot.index] = column
                own.append(column)
            }
            added.append(own)
        }
        if naming.numbersAllNames { nameCompanions(of: Array(added.joined()), &names) }
        arrange(added)
    }

    /// Gives companions of to-one columns names that nobody else has. They come before attributes: of two that would have one name, the
    /// attribute gets a number.
    private func nameCompanions(of columns: [SQLColumn], _ names: inout SQLNames) {
        var attributes = Dictionary(columns.filter { $0.kind != .toOne }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        func take(_ name: String) -> String {
            guard let attribute = attributes.removeValue(forKey: name) else { return names.take(name) }
            attribute.name = names.take(name)
            return name
        }
        for column in columns where column.kind == .toOne {
            column.entityColumn = column.entityColumn.map(take)
            column.orderColumn = column.orderColumn.map(take)
        }
    }

    /// The entities from the root down, siblings in their order: where names repeat the first one has the name.
    private static func inOrder(_ family: [SQLEntity]) -> [SQLEntity] {
        let byLayout = Dictionary(family.map { ($0.layout.index, $0) }, uniquingKeysWith: { first, _ in first })
        func path(_ entity: SQLEntity) -> [Int] {
            (byLayout[entity.layout.superIndex].map(path) ?? []) + [entity.order]
        }
        return family.map { ($0, path($0)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
    }

    /// The superentity's column for a property that a subentity declares again with the same type.
    private func inherited(_ slot: PropertySlot, by entity: SQLEntity) -> SQLColumn? {
        guard let parent = family.first(where: { $0.layout.index == entity.layout.superIndex }),
            let column = parent.layout.slotByPath[slot.name].flatMap({ parent.columns[$0] }),
            column.type == SQLColumnType(slot.kind)
        else { return nil }
        return column
    }

    /// Gives a to-one column its companions.
    private func complete(_ column: SQLColumn, _ slot: PropertySlot, _ mapping: SQLMapping) {
        let layouts = mapping.layouts.layouts
        if slot.entityWord >= 0 {
            let number = mapping.entities[slot.destinationIndex]?.number ?? 0
            column.entityColumn = naming.entityColumn(of: slot, key: column.name, to: number)
        }
        guard slot.inverseSlot >= 0, slot.inverseIsToMany else { return }
        let inverse = layouts[slot.destinationIndex].slots[slot.inverseSlot]
        let declaring = inverse.property.owningEntity?.name.flatMap { mapping.layouts.layoutByName[$0] }
        let owner = declaring.flatMap { mapping.entity($0) } ?? mapping.entities[slot.destinationIndex]
        if let owner { complete(column, ordered: inverse, by: owner) }
    }

    private func complete(_ column: SQLColumn, ordered slot: PropertySlot, by owner: SQLEntity) {
        guard slot.kind == .orderedToMany else { return }
        column.orderColumn = naming.positionColumn(of: slot, key: column.name)
        column.orderedBy = (owner.order, slot.name)
    }

    /// The kinds of values whose columns follow the positions: a group for all entities comes before the next group.
    private static let groups: [Set<ValueKind>] = [
        [.date, .double, .float], [.decimal], [.string], [.uri], [.uuid], [.transformable], [.data, .json],
    ]

    /// Puts the columns into the order in which they are declared.
    ///
    /// - Parameter added: for each entity from the root down the columns that it adds, in the order of the top-level
    ///   properties' names. Several columns of one property stay together where they are of one group.
    private func arrange(_ added: [[SQLColumn]]) {
        let numbers: Set<ValueKind> = [.int16, .int32, .int64, .boolean]
        for own in added {
            columns += own.filter { numbers.contains($0.kind) }
            columns += own.filter { $0.kind == .toOne && !$0.isHiddenKey } + own.filter(\.isHiddenKey)
        }
        countBeforePositions = columns.count
        for group in Self.groups {
            for own in added { columns += own.filter { group.contains($0.kind) } }
        }
    }

    /// A column as it is declared.
    package struct Declaration {
        package enum Role {
            case value
            /// The number of the entity that a key leads to.
            case entity
            /// The position in the ordered relationship that a key serves.
            case position
        }

        package let name: String
        package let type: SQLColumnType
        package let column: SQLColumn
        package let role: Role
    }

    /// All columns after the key, the entity number and the version, in the order of their declaration.
    package var declarations: [Declaration] {
        var result: [Declaration] = []
        func value(_ column: SQLColumn) -> Declaration { Declaration(name: column.name, type: column.type, column: column, role: .value) }
        func position(_ column: SQLColumn) -> [Declaration] {
            column.orderColumn.map { [Declaration(name: $0, type: .integer, column: column, role: .position)] } ?? []
        }
        for column in columns.prefix(countBeforePositions) {
            result.append(value(column))
            if let name = column.entityColumn { result.append(Declaration(name: name, type: .integer, column: column, role: .entity)) }
            if column.isHiddenKey { result += position(column) }
        }
        result += columns.filter { !$0.isHiddenKey && $0.orderColumn != nil }.sorted {
            ($0.orderedBy.place, $1.orderedBy.name) < ($1.orderedBy.place, $0.orderedBy.name)
        }.flatMap(position)
        result += columns.dropFirst(countBeforePositions).map(value)
        return result
    }

    /// The column of entity numbers; nil where all rows are of one entity and have none.
    package var entityColumn: String? { naming.numbersSingleEntities || family.count > 1 ? numberColumn : nil }

    /// The columns that every row has before those of its properties, and that who inserts it writes.
    package var systemColumns: [String] { [keyColumn, entityColumn, writesVersions ? versionColumn : nil].compactMap { $0 } }

    package var allColumnNames: [String] { systemColumns + declarations.map(\.name) }

    /// Has one column for each composite attribute in the place of those of its elements, as in stores that this project made
    /// once, with its dictionary archived.
    func archiveComposites() {
        var archives: [String: SQLColumn] = [:]
        for entity in family {
            for slot in entity.layout.slots {
                guard let composite = slot.composite else { continue }
                for element in composite.slots {
                    if let column = entity.columns[element] { remove(column) }
                    entity.columns[element] = nil
                }
                let name = naming.column(slot)
                let column = archives[name] ?? SQLColumn(name: name, type: .bytes, slot: slot, keepsJSON: false)
                if archives.updateValue(column, forKey: name) == nil { columns.append(column) }
                entity.columns[slot.index] = column
            }
        }
    }

    /// Takes a column out: a hidden key whose pairs a store keeps in a table of their own, or one that a store does not have.
    func remove(_ column: SQLColumn) {
        guard let index = columns.firstIndex(where: { $0 === column }) else { return }
        columns.remove(at: index)
        if index < countBeforePositions { countBeforePositions -= 1 }
    }
}

/// Hands names out; one that is taken gets a number.
struct SQLNames {
    private var taken: Set<String>

    init(taken: Set<String> = []) { self.taken = taken }

    mutating func take(_ name: String) -> String {
        var result = name
        var suffix = 0
        while !taken.insert(result).inserted {
            suffix += 1
            result = name + String(suffix)
        }
        return result
    }
}
