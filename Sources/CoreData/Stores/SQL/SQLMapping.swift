import Foundation

/// Where the entities of a model lie in tables: what `STORE-FORMAT` calls the relational mapping.
///
/// It is made from a model alone, then fitted to an existing store by `adjust(to:)`: entity numbers, join tables and
/// columns that the store names otherwise are taken from there.
final class SQLMapping: @unchecked Sendable {
    // Sendable: set up completely before a store shares it, then only read.

    let layouts: ModelLayout
    private(set) var tables: [SQLTable] = []
    private(set) var joinTables: [SQLJoinTable] = []
    /// By layout index; nil for an entity that the store does not hold.
    private(set) var entities: [SQLEntity?]
    /// Layout index by entity number; -1 where a number means nothing.
    private(set) var layoutByNumber: [Int] = []

    /// Maps a configuration's entities, root by root in ascending order of name.
    ///
    /// - Parameter included: whether the store holds an entity.
    /// - Throws: an error that names a property whose type has no column.
    init(layouts: ModelLayout, numbers: [String: Int] = [:], including included: (EntityLayout) -> Bool) throws {
        self.layouts = layouts
        entities = Array(repeating: nil, count: layouts.layouts.count)
        // A table holds a whole hierarchy: one included entity brings its family.
        let roots = Set(layouts.layouts.filter(included).map(\.rootIndex))
        let held = layouts.layouts.filter { roots.contains($0.rootIndex) }
        // A renamed entity keeps the number that the store gave it under its former name.
        let names = Set(held.map(\.name))
        func storedNumber(_ layout: EntityLayout) -> Int? {
            if let number = numbers[layout.name] { return number }
            guard let former = layout.entity.renamingIdentifier, !names.contains(former) else { return nil }
            return numbers[former]
        }
        var taken = Set(held.compactMap(storedNumber))
        var next = 1
        for (position, layout) in held.enumerated() {
            var number = storedNumber(layout)
            if number == nil, !taken.contains(position + 1) { number = position + 1 }
            if number == nil {
                while taken.contains(next) { next += 1 }
                number = next
            }
            taken.insert(number ?? next)
            entities[layout.index] = SQLEntity(layout: layout, number: number ?? next)
        }
        for layout in held where layout.rootIndex == layout.index {
            let family = layout.familyIndexes.compactMap { entities[$0] }
            tables.append(try SQLTable(root: layout, family: family, mapping: self))
        }
        try checkTableNames()
        layoutByNumber = Array(repeating: -1, count: (entities.compactMap { $0?.number }.max() ?? 0) + 1)
        for case let entity? in entities { layoutByNumber[entity.number] = entity.layout.index }
        makeToManyMappings()
    }

    /// - Throws: an error that names the entities whose tables would have the same name.
    private func checkTableNames() throws {
        var owners = ["Z_PRIMARYKEY": "Core Data", "Z_METADATA": "Core Data", "Z_MODELCACHE": "Core Data"]
        for table in tables {
            if let other = owners.updateValue("the entity '\(table.root.name)'", forKey: table.name) {
                throw CoreDataErrors.make(
                    .coreData,
                    "The entity '\(table.root.name)' cannot be kept in a SQLite store: \(other) has the table \(table.name) already. "
                        + "Tables are named after entities, in upper case.", recovery: "Rename the entity.")
            }
        }
    }

    func entity(_ layout: EntityLayout) -> SQLEntity? { entities[layout.index] }

    /// The mapping of an entity that the store must have.
    func requiredEntity(_ layout: EntityLayout) throws -> SQLEntity {
        guard let entity = entity(layout) else {
            throw CoreDataErrors.make(
                .coreData,
                "The entity '\(layout.name)' is not kept in this store. Check the store's configuration.")
        }
        return entity
    }

    /// The layout of a row by its entity number; nil for a number the store's model does not know.
    @inline(__always)
    func layoutIndex(forNumber number: Int64) -> Int? {
        guard number >= 0, number < Int64(layoutByNumber.count) else { return nil }
        let index = layoutByNumber[Int(number)]
        return index >= 0 ? index : nil
    }

    // MARK: To-many relationships

    private func makeToManyMappings() {
        var joins: [String: SQLJoinTable] = [:]
        for case let entity? in entities {
            for slot in entity.layout.slots where slot.kind.isToMany && !slot.isTransient {
                guard let relationship = slot.relationship, slot.destinationIndex >= 0,
                    let destination = entities[slot.destinationIndex]
                else { continue }
                if slot.inverseSlot >= 0, !slot.inverseIsToMany {
                    guard let columns = destination.columns[slot.inverseSlot] else { continue }
                    entity.toMany[slot.index] = .inverse(
                        columns, of: destination, isOrdered: slot.kind == .orderedToMany)
                } else {
                    let join = joinTable(for: relationship, in: &joins)
                    guard let join else { continue }
                    entity.toMany[slot.index] = .join(join, isFirst: join.firstRelationship === relationship)
                }
            }
        }
        joinTables = joins.values.sorted { $0.name < $1.name }
    }

    /// The join table of a many-to-many pair, or of a to-many relationship without inverse.
    ///
    /// The relationship whose name sorts last names the table; its owner's column comes first.
    private func joinTable(
        for relationship: NSRelationshipDescription, in joins: inout [String: SQLJoinTable]
    ) -> SQLJoinTable? {
        let inverse = relationship.inverseRelationship
        func place(_ relationship: NSRelationshipDescription) -> String {
            relationship.name + "\u{0}" + (relationship.entity.name ?? "")
        }
        let first: NSRelationshipDescription
        if let inverse, place(inverse) > place(relationship) { first = inverse } else { first = relationship }
        let key = place(first)
        if let known = joins[key] { return known }
        guard let owner = first.entity.name.flatMap({ layouts.layoutByName[$0] }).flatMap({ entities[$0.index] }),
            let destination = first.destinationEntity?.name.flatMap({ layouts.layoutByName[$0] }).flatMap({
                entities[$0.index]
            })
        else { return nil }
        let second = first.inverseRelationship
        // The second side's number is that of the entity that declares the inverse.
        let otherNumber =
            second?.entity.name.flatMap { layouts.layoutByName[$0] }.flatMap { entities[$0.index]?.number }
            ?? destination.number
        let join = SQLJoinTable(
            ownerNumber: owner.number, destinationNumber: otherNumber, first: first, second: second, owner: owner,
            destination: destination)
        joins[key] = join
        return join
    }

    // MARK: Fitting to a store

    /// Takes over what an existing store names otherwise.
    ///
    /// - Parameter columns: the store's tables, each with its columns in order.
    func adjust(to columns: [String: [String]]) {
        for table in tables {
            guard let present = columns[table.name] else { continue }
            table.adjust(to: Set(present))
        }
        for join in joinTables { join.adjust(to: columns) }
    }

    /// Tables and columns of this mapping that a store lacks, as `TABLE` or `TABLE.COLUMN`.
    func missing(from columns: [String: [String]]) -> [String] {
        var missing: [String] = []
        for table in tables {
            guard let present = columns[table.name].map(Set.init) else {
                missing.append(table.name)
                continue
            }
            for column in table.allColumnNames where !present.contains(column) {
                missing.append(table.name + "." + column)
            }
        }
        for join in joinTables where columns[join.name] == nil { missing.append(join.name) }
        return missing
    }
}

/// One entity's place in its table.
final class SQLEntity {
    let layout: EntityLayout
    /// `Z_ENT` of its rows.
    let number: Int
    fileprivate(set) unowned var table: SQLTable!
    /// By slot; nil for properties that are not kept in a column.
    var columns: [SQLColumn?]
    /// By slot; nil for properties that are no to-many relationships.
    var toMany: [SQLToMany?]

    init(layout: EntityLayout, number: Int) {
        self.layout = layout
        self.number = number
        columns = Array(repeating: nil, count: layout.slots.count)
        toMany = Array(repeating: nil, count: layout.slots.count)
    }
}

/// The type a column is declared with.
enum SQLColumnType: String {
    case integer = "INTEGER"
    case float = "FLOAT"
    case timestamp = "TIMESTAMP"
    case decimal = "DECIMAL"
    case varchar = "VARCHAR"
    case blob = "BLOB"

    init?(_ kind: ValueKind) {
        switch kind {
        case .int16, .int32, .int64, .boolean, .toOne: self = .integer
        case .double, .float: self = .float
        case .date: self = .timestamp
        case .decimal: self = .decimal
        case .string, .uri: self = .varchar
        case .data, .uuid, .transformable, .composite: self = .blob
        case .toMany, .orderedToMany, .fetched, .undefined: return nil
        }
    }
}

/// The column of one property, with its companions.
final class SQLColumn {
    fileprivate(set) var name: String
    let type: SQLColumnType
    let kind: ValueKind
    let propertyName: String
    /// Holds the destination's entity number, where that can vary.
    fileprivate(set) var entityColumn: String?
    /// Holds the position in the inverse ordered relationship.
    fileprivate(set) var orderColumn: String?
    /// Whether large values may lie in files of their own.
    let allowsExternalStorage: Bool
    /// The property that the column was made for; entities that inherit it share the column.
    let property: NSPropertyDescription

    init(name: String, type: SQLColumnType, slot: PropertySlot) {
        self.name = name
        self.type = type
        kind = slot.kind
        propertyName = slot.name
        property = slot.property
        allowsExternalStorage = slot.attribute?.allowsExternalBinaryDataStorage ?? false
    }
}

/// The table of a root entity and all its subentities.
final class SQLTable {
    let root: EntityLayout
    let name: String
    let family: [SQLEntity]
    /// In the order of their declaration.
    private(set) var columns: [SQLColumn] = []

    init(root: EntityLayout, family: [SQLEntity], mapping: SQLMapping) throws {
        self.root = root
        self.family = family
        name = "Z" + root.name.uppercased()
        var used: Set<String> = []
        var columnByProperty: [ObjectIdentifier: SQLColumn] = [:]
        var byEntity: [(rank: Int, columns: [SQLColumn])] = []
        for (rank, entity) in family.enumerated() {
            entity.table = self
            var own: [SQLColumn] = []
            for slot in entity.layout.slots.sorted(by: { $0.name < $1.name }) where slot.isStored {
                if let column = columnByProperty[ObjectIdentifier(slot.property)] {
                    entity.columns[slot.index] = column
                    continue
                }
                guard let type = SQLColumnType(slot.kind) else { continue }
                // A property that a subentity declares again keeps the superentity's column.
                if let parent = family.first(where: { $0.layout.index == entity.layout.superIndex }),
                    let inherited = parent.layout.slotByName[slot.name].flatMap({ parent.columns[$0] }),
                    inherited.type == type
                {
                    entity.columns[slot.index] = inherited
                    continue
                }
                // Siblings that use one name have columns of their own: ZTEXT, ZTEXT1.
                let base = "Z" + slot.name.uppercased()
                var name = base
                var suffix = 0
                while used.contains(name) {
                    suffix += 1
                    name = base + String(suffix)
                }
                used.insert(name)
                let column = SQLColumn(name: name, type: type, slot: slot)
                let tail = name.dropFirst()
                if slot.kind == .toOne {
                    if slot.entityWord >= 0 {
                        let root = mapping.layouts.layouts[slot.destinationIndex].rootIndex
                        let number = mapping.entities[root]?.number ?? 0
                        column.entityColumn = "Z\(number)_\(tail)"
                    }
                    if slot.inverseSlot >= 0, slot.inverseIsToMany,
                        mapping.layouts.layouts[slot.destinationIndex].slots[slot.inverseSlot].kind == .orderedToMany
                    {
                        column.orderColumn = "Z_FOK_\(tail)"
                    }
                }
                columnByProperty[ObjectIdentifier(slot.property)] = column
                entity.columns[slot.index] = column
                own.append(column)
            }
            byEntity.append((rank, own))
        }
        // Groups by type; within a group the hierarchy from its root down, then the name.
        func add(_ matches: (SQLColumn) -> Bool) {
            for (_, own) in byEntity { columns += own.filter(matches) }
        }
        for (_, own) in byEntity {
            columns += own.filter { $0.type == .integer && $0.kind != .toOne }
            columns += own.filter { $0.kind == .toOne }
        }
        add { $0.type == .timestamp || $0.type == .float }
        add { $0.type == .decimal }
        add { $0.type == .varchar }
        add { $0.kind == .uuid }
        add { $0.type == .blob && $0.kind != .uuid }
    }

    /// Names and types of all columns after `Z_PK`, `Z_ENT`, `Z_OPT`, in the order of their declaration.
    var declarations: [(name: String, type: SQLColumnType)] {
        var result: [(String, SQLColumnType)] = []
        var pendingOrder: [String] = []
        for (index, column) in columns.enumerated() {
            result.append((column.name, column.type))
            if let entityColumn = column.entityColumn { result.append((entityColumn, .integer)) }
            if let orderColumn = column.orderColumn { pendingOrder.append(orderColumn) }
            // Order columns follow the relationships of their entity's group.
            let next = index + 1 < columns.count ? columns[index + 1] : nil
            if column.kind == .toOne, next?.kind != .toOne {
                result += pendingOrder.map { ($0, .integer) }
                pendingOrder = []
            }
        }
        return result
    }

    var allColumnNames: [String] { ["Z_PK", "Z_ENT", "Z_OPT"] + declarations.map(\.name) }

    fileprivate func adjust(to present: Set<String>) {
        for column in columns {
            if !present.contains(column.name), column.name.last?.isNumber == true {
                // A store that lets siblings share a column has only the name without a number.
                let base = "Z" + column.propertyName.uppercased()
                if present.contains(base) { column.name = base }
            }
            if let wanted = column.entityColumn, !present.contains(wanted) {
                // Kept from a model in which the destination had another number.
                let tail = "_" + column.name.dropFirst()
                column.entityColumn = present.first { name in
                    name.hasPrefix("Z") && name.hasSuffix(tail)
                        && name.dropFirst().dropLast(tail.count).allSatisfy(\.isNumber)
                        && name.count > tail.count + 1
                }
            }
            if let order = column.orderColumn, !present.contains(order) { column.orderColumn = nil }
        }
    }
}

/// Where the destinations of a to-many relationship are found.
enum SQLToMany {
    /// In a to-one column of the destination's table.
    case inverse(SQLColumn, of: SQLEntity, isOrdered: Bool)
    /// In a join table; `isFirst` when the owner is the table's first side.
    case join(SQLJoinTable, isFirst: Bool)
}

/// A table of pairs for a many-to-many relationship, or for a to-many relationship without an inverse.
final class SQLJoinTable {
    private(set) var name: String
    /// Holds the key of the row that owns `firstRelationship`.
    private(set) var firstColumn: String
    /// Holds the key of the row that `firstRelationship` leads to.
    private(set) var secondColumn: String
    /// Position within `firstRelationship`, where that is ordered.
    private(set) var firstOrderColumn: String?
    /// Position within the inverse relationship, where that is ordered.
    private(set) var secondOrderColumn: String?
    let firstRelationship: NSRelationshipDescription
    let secondRelationship: NSRelationshipDescription?
    let owner: SQLEntity
    let destination: SQLEntity
    /// Whether the relationship is its own inverse: each pair stands in the table in both directions.
    var isReflexive: Bool { secondRelationship === firstRelationship }

    init(
        ownerNumber: Int, destinationNumber: Int, first: NSRelationshipDescription, second: NSRelationshipDescription?,
        owner: SQLEntity, destination: SQLEntity
    ) {
        firstRelationship = first
        secondRelationship = second
        self.owner = owner
        self.destination = destination
        name = "Z_\(ownerNumber)\(first.name.uppercased())"
        if second === first {
            secondColumn = "Z_\(destinationNumber)\(first.name.uppercased())"
            firstColumn = "REFLEXIVE"
        } else {
            // A column is named by the relationship that leads to its rows.
            let ownerSide = second?.name.uppercased() ?? (first.entity.name ?? "").uppercased()
            firstColumn = "Z_\(ownerNumber)\(ownerSide)"
            secondColumn = "Z_\(destinationNumber)\(first.name.uppercased())"
            if firstColumn == secondColumn { secondColumn += "1" }
        }
        if first.isOrdered { firstOrderColumn = "Z_FOK_" + secondColumn.dropFirst(2) }
        if let second, second !== first, second.isOrdered { secondOrderColumn = "Z_FOK_" + firstColumn.dropFirst(2) }
    }

    /// All columns in the order of their declaration.
    var columnNames: [String] { [firstColumn, secondColumn] + [firstOrderColumn, secondOrderColumn].compactMap { $0 } }

    func ownerColumn(isFirst: Bool) -> String { isFirst ? firstColumn : secondColumn }
    func destinationColumn(isFirst: Bool) -> String { isFirst ? secondColumn : firstColumn }
    func orderColumn(isFirst: Bool) -> String? { isFirst ? firstOrderColumn : secondOrderColumn }
    func otherOrderColumn(isFirst: Bool) -> String? { isFirst ? secondOrderColumn : firstOrderColumn }

    /// Finds the table in a store that numbers entities otherwise.
    func adjust(to columns: [String: [String]]) {
        if let present = columns[name], present.contains(firstColumn), present.contains(secondColumn) {
            fitOrderColumns(to: present)
            return
        }
        /// The part of a name after `Z_` and its number.
        func tail(_ name: String) -> Substring {
            guard name.hasPrefix("Z_") else { return name[...] }
            return name.dropFirst(2).drop(while: \.isNumber)
        }
        func withoutSuffix(_ tail: Substring) -> Substring {
            var tail = tail
            while let last = tail.last, last.isNumber { tail = tail.dropLast() }
            return tail
        }
        let wantedFirst = withoutSuffix(tail(firstColumn))
        let wantedSecond = withoutSuffix(tail(secondColumn))
        for (candidate, present) in columns.sorted(by: { $0.key < $1.key }) {
            guard candidate.hasPrefix("Z_"),
                tail(candidate) == tail(name)
                    || secondRelationship.map({ tail(candidate) == $0.name.uppercased() }) == true
            else { continue }
            let plain = present.filter { !$0.hasPrefix("Z_FOK_") }
            guard plain.count >= 2 else { continue }
            let firsts = plain.filter { withoutSuffix(tail($0)) == wantedFirst }
            let seconds = plain.filter { withoutSuffix(tail($0)) == wantedSecond }
            guard let first = firsts.first, let second = seconds.first(where: { $0 != first }) else { continue }
            name = candidate
            firstColumn = first
            secondColumn = second
            if firstOrderColumn != nil { firstOrderColumn = "Z_FOK_" + second.dropFirst(2) }
            if secondOrderColumn != nil { secondOrderColumn = "Z_FOK_" + first.dropFirst(2) }
            fitOrderColumns(to: present)
            return
        }
    }

    private func fitOrderColumns(to present: [String]) {
        if let order = firstOrderColumn, !present.contains(order) { firstOrderColumn = nil }
        if let order = secondOrderColumn, !present.contains(order) { secondOrderColumn = nil }
    }
}
