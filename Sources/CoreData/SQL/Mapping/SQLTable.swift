import Foundation

/// The type of value that a column holds. Attributes of one type can share a column.
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

/// The column of one property, with its companion columns.
///
/// The names may change while a store is opened: a file that migrations have changed has other
/// names than a new one, and `SQLMapping` is fitted to it.
package final class SQLColumn {
    /// Set by the table, which makes names unique, and in another folder that fits the mapping to a
    /// file.
    package var name: String
    let type: SQLColumnType
    /// Set in another folder, where the mapping is fitted to columns whose type differs from that
    /// of new columns.
    package var kind: ValueKind
    /// The property's name; for an element of a composite attribute, its path.
    package let propertyName: String
    /// The name from which the column's name is made: that of the property or of the element alone.
    let columnName: String
    /// The column of the destination's entity number, where that can vary.
    package var entityColumn: String?
    /// The column of the position in the ordered relationship that this column stores.
    package var orderColumn: String?
    /// Whether large values may be stored in files. Only bytes can, whatever the model says of
    /// other attributes.
    package let allowsExternalStorage: Bool
    /// The property that the column was made for; entities that inherit it share the column.
    package let property: NSPropertyDescription
    /// Whether the column holds the owner's key of `property`, a to-many relationship without an
    /// inverse. No object has this value.
    package let isHiddenKey: Bool
    /// The ordered relationship that `orderColumn` serves: the position of its declaring entity,
    /// and its name.
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

    /// Returns the kind of a property's values as they are in the column.
    func kind(of slot: PropertySlot) -> ValueKind { kind == .json ? kind : slot.kind }

    /// Creates the hidden key column of a to-many relationship without an inverse.
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

/// A to-many relationship without an inverse: the destination's row holds the key of its owner.
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
    /// The column of primary keys.
    package let keyColumn: String
    /// The column of entity numbers, where the table has one.
    package let numberColumn: String
    /// The column of versions.
    package let versionColumn: String
    /// Whether a statement that changes a row also writes its version.
    package let writesVersions: Bool
    /// The columns in the order of their declaration.
    package private(set) var columns: [SQLColumn] = []
    /// The number of `columns` that come before the positions of ordered relationships.
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
            // The slots are sorted by name; a composite attribute is replaced by its elements.
            for slot in entity.layout.slots.prefix(entity.layout.storedCount) {
                if let column = byProperty[slot.identity] ?? inherited(slot, by: entity) {
                    entity.columns[slot.index] = column
                    continue
                }
                guard let type = SQLColumnType(slot.kind) else { continue }
                // Siblings that use one name have separate columns.
                let column = SQLColumn(
                    name: names.take(naming.column(slot)), type: type, slot: slot, keepsJSON: mapping.dialect.keepsJSON)
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

    /// Gives the companions of to-one columns unique names.
    ///
    /// They have precedence over attributes: if both would have the same name, the attribute gets a
    /// number.
    private func nameCompanions(of columns: [SQLColumn], _ names: inout SQLNames) {
        var attributes = Dictionary(
            columns.filter { $0.kind != .toOne }.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
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

    /// Returns the entities from the root down, siblings in their order. If a name repeats, the
    /// first entity gets it.
    private static func inOrder(_ family: [SQLEntity]) -> [SQLEntity] {
        let byLayout = Dictionary(family.map { ($0.layout.index, $0) }, uniquingKeysWith: { first, _ in first })
        func path(_ entity: SQLEntity) -> [Int] {
            (byLayout[entity.layout.superIndex].map(path) ?? []) + [entity.order]
        }
        return family.map { ($0, path($0)) }.sorted { $0.1.lexicographicallyPrecedes($1.1) }.map(\.0)
    }

    /// Returns the superentity's column for a property that a subentity redeclares with the same
    /// type.
    private func inherited(_ slot: PropertySlot, by entity: SQLEntity) -> SQLColumn? {
        guard let parent = family.first(where: { $0.layout.index == entity.layout.superIndex }),
            let column = parent.layout.slotByPath[slot.name].flatMap({ parent.columns[$0] }),
            column.type == SQLColumnType(slot.kind)
        else { return nil }
        return column
    }

    /// Adds the companions of a to-one column.
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

    /// The kinds of values whose columns follow the positions. A group is declared for all entities
    /// before the next group.
    private static let groups: [Set<ValueKind>] = [
        [.date, .double, .float], [.decimal], [.string], [.uri], [.uuid], [.transformable], [.data, .json],
    ]

    /// Sorts the columns into the order in which they are declared.
    ///
    /// - Parameter added: for each entity from the root down, the columns that it adds, in the
    ///   order of the top-level properties' names. Several columns of one property stay together
    ///   where they are of one group.
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
            /// The number of the entity that a key refers to.
            case entity
            /// The position in the ordered relationship that a key serves.
            case position
        }

        package let name: String
        package let type: SQLColumnType
        package let column: SQLColumn
        package let role: Role
    }

    /// All columns after the key, the entity number and the version, in the order of their
    /// declaration.
    package var declarations: [Declaration] {
        var result: [Declaration] = []
        func value(_ column: SQLColumn) -> Declaration {
            Declaration(name: column.name, type: column.type, column: column, role: .value)
        }
        func position(_ column: SQLColumn) -> [Declaration] {
            column.orderColumn.map { [Declaration(name: $0, type: .integer, column: column, role: .position)] } ?? []
        }
        for column in columns.prefix(countBeforePositions) {
            result.append(value(column))
            if let name = column.entityColumn {
                result.append(Declaration(name: name, type: .integer, column: column, role: .entity))
            }
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

    /// The columns that every row has before those of its properties, and that an INSERT writes.
    var systemColumns: [String] { [keyColumn, entityColumn, writesVersions ? versionColumn : nil].compactMap { $0 } }

    package var allColumnNames: [String] { systemColumns + declarations.map(\.name) }

    /// Replaces the element columns of each composite attribute by one column with its archived
    /// dictionary.
    ///
    /// Stores from earlier versions of this project have such columns.
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

    /// Removes a column: a hidden key whose pairs a store keeps in a separate table, or one that a
    /// store does not have.
    func remove(_ column: SQLColumn) {
        guard let index = columns.firstIndex(where: { $0 === column }) else { return }
        columns.remove(at: index)
        if index < countBeforePositions { countBeforePositions -= 1 }
    }
}

/// Assigns unique names: a name that is taken gets a number.
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
