/// The statements that convert the tables of one model's mapping to those of another's.
///
/// Rows keep their primary keys and versions. Hierarchies are never merged, so each new table gets
/// the rows of at most one former table. A table that does not change is kept. The others are
/// renamed, and their rows are copied.
package struct SQLMigrationPlan {
    package let source: SQLMapping
    package let target: SQLMapping
    let inference: MappingInference
    var dialect: any SQLDialect { target.dialect }
    package var naming: any TableNaming { target.naming }
    /// The former tables that stay in use.
    package private(set) var keptTables: Set<String> = []
    /// The former tables that are altered in place, without copying their rows, where the database
    /// supports it.
    package private(set) var alterations: [SQLTableAlteration] = []
    private(set) var copies: [SQLRowCopy] = []
    /// Hidden keys that were not in the rows before. They are set after the rows are copied.
    private(set) var hiddenKeys: [SQLHiddenKeyCopy] = []
    /// Positions of ordered relationships that were not ordered before.
    private(set) var positions: [SQLPositions] = []
    /// The entities of both mappings, by the target's layout index. Their rows are copied.
    package let members: [Int: Member]
    /// The entities whose objects are moved one by one afterwards, and keep their keys.
    private let movedAsObjects: [Member]
    /// Whether objects are moved one by one afterwards, which may complete what rows lack.
    package let isPart: Bool
    private let classValues = ClassValues()

    /// The values from classes for attributes that rows do not have yet. Each is evaluated once in
    /// a migration.
    private final class ClassValues {
        private var values: [ObjectIdentifier: StoredValue] = [:]

        func value(of slot: PropertySlot) throws -> StoredValue {
            // Entities that inherit an attribute have the description of the one that declares it.
            guard let attribute = slot.attribute, let make = attribute.valueForExistingRows else { return .null }
            if let known = values[ObjectIdentifier(attribute)] { return known }
            let value = try PropertyConversion.storeValue(
                PropertyConversion.value(from: make(), kind: slot.kind) ?? .null, slot: slot)
            values[ObjectIdentifier(attribute)] = value
            return value
        }
    }

    /// An entity in both mappings.
    package struct Member {
        package let target: SQLEntity
        package let source: SQLEntity
        package let sourceNames: [String: String]
    }

    /// Returns the name of a former table while its rows are copied.
    package static func formerName(_ table: String) -> String { "FORMER_" + table }

    /// - Parameters:
    ///   - source: the mapping of the former model, fitted to the store.
    ///   - columns: the store's tables, each with its columns in order.
    package init(
        from source: SQLMapping, to target: SQLMapping, _ migration: StoreMigration, columns: [String: [String]]
    ) throws {
        self.source = source
        self.target = target
        let inference = migration.inference
        self.inference = inference
        func member(_ pair: MappingInference.EntityPair) -> Member? {
            guard let former = source.layouts.layoutByName[pair.source.name ?? ""].flatMap({ source.entity($0) }),
                let entity = target.layouts.layoutByName[pair.destination.name ?? ""].flatMap({ target.entity($0) })
            else { return nil }
            return Member(target: entity, source: former, sourceNames: pair.sourceNames)
        }
        members = Dictionary(
            inference.pairs.values.compactMap(member).map { ($0.target.layout.index, $0) },
            uniquingKeysWith: { first, _ in first })
        movedAsObjects = migration.movedAsObjects?.compactMap(member) ?? []
        isPart = migration.movedAsObjects != nil
        hiddenKeys =
            target.hiddenKeys.compactMap(hiddenKeys) + target.entities.compactMap { $0 }.flatMap(keysOfFormerPairs)
        // Hidden keys are set when tables are altered already, so the tables that they read are
        // copied instead.
        let readLater = Set(hiddenKeys.map(\.source))
        for table in target.tables {
            guard let copy = try rows(of: table), let former = formerTable(of: table) else {
                continue
            }
            let statements = [table, former].map { dialect.createTable($0) + dialect.columnForms(of: $0) }
            if copy.changesNothing, isAsItWas(columns[table.name], table.allColumnNames, statements[0], statements[1]) {
                keptTables.insert(table.name)
            } else {
                if !readLater.contains(former.name),
                    let alteration = SQLTableAlteration(copy, from: former, to: table),
                    dialect.altersTables || alteration.onlyAddsColumns(to: columns[former.name] ?? [])
                {
                    alterations.append(alteration)
                } else {
                    copies.append(copy)
                }
                for column in table.columns {
                    guard let order = column.orderColumn, !keepsPositions(column, of: table) else { continue }
                    positions.append(
                        SQLPositions(table: table.name, owner: column.name, key: naming.key, position: order))
                }
            }
        }
        for join in target.joinTables {
            guard let copy = pairs(of: join) else { continue }
            let former = source.joinTables.first { $0.name == copy.source }
            let statements = (dialect.createTable(join), former.map { dialect.createTable($0) } ?? [])
            if copy.changesNothing, isAsItWas(columns[join.name], join.columnNames, statements.0, statements.1) {
                keptTables.insert(join.name)
            } else if dialect.altersTables, !readLater.contains(copy.source), let former,
                let alteration = SQLTableAlteration(copy, from: former, to: join)
            {
                alterations.append(alteration)
            } else {
                copies.append(copy)
            }
            let order = [join.firstOrderColumn, join.secondOrderColumn].compactMap { $0 }
            for column in order where !copy.targetColumns.contains(column) {
                let isFirst = column == join.firstOrderColumn
                positions.append(
                    SQLPositions(
                        table: join.name, owner: join.ownerColumn(isFirst: isFirst),
                        key: join.destinationColumn(isFirst: isFirst),
                        position: column))
            }
        }
        // Only now it is known which tables are read under their own names.
        let aside = Set(dialect.altersTables ? tablesPutAside : droppedTables)
        func name(_ table: String) -> String { aside.contains(table) ? Self.formerName(table) : table }
        copies = copies.map { $0.reading(name) }
        let altered = Dictionary(
            alterations.map { ($0.source, $0.target.name) }, uniquingKeysWith: { first, _ in first })
        hiddenKeys = hiddenKeys.map { $0.reading { altered[$0] ?? name($0) } }
    }

    /// Whether a former table already equals the new one. Added columns are the last ones.
    private func isAsItWas(_ columns: [String]?, _ wanted: [String], _ statements: [String], _ former: [String]) -> Bool
    {
        dialect.altersTables ? statements == former : columns.map(Set.init) == Set(wanted)
    }

    /// The former tables and join tables that are not kept as they are.
    package var tablesPutAside: [String] {
        (source.tables.map(\.name) + source.joinTables.map(\.name)).filter { !keptTables.contains($0) }
    }

    /// The former tables and join tables that are renamed and finally dropped.
    package var droppedTables: [String] {
        let altered = Set(alterations.map(\.source))
        return tablesPutAside.filter { !altered.contains($0) }
    }

    /// The new tables to create, with their statements; nil for a join table.
    package var createdTables: [(table: SQLTable?, statement: String)] {
        let there = keptTables.union(alterations.map(\.target.name))
        return target.tables.filter { !there.contains($0.name) }.flatMap { table in
            dialect.createTable(table).map { (table, $0) }
        }
            + target.joinTables.filter { !there.contains($0.name) }.flatMap {
                dialect.createTable($0).map { (nil, $0) }
            }
    }

    /// The new entity of each former one whose keys stay, by its former number; removed entities
    /// have none.
    package var successors: [Int: Member] {
        Dictionary(
            (members.values + movedAsObjects).map { ($0.source.number, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The new number of each former entity; removed entities have none.
    package var entityNumbers: [Int: Int] { successors.mapValues(\.target.number) }

    /// The former tables whose keys stay in a new one.
    package func formerTables(of table: SQLTable) -> [SQLTable] {
        (members.values + movedAsObjects).filter { $0.target.table === table }.map(\.source.table)
    }

    func members(of table: SQLTable) -> [Member] { table.family.compactMap { members[$0.layout.index] } }

    /// The former table whose rows a new one takes; nil for a table of new entities.
    func formerTable(of table: SQLTable) -> SQLTable? { members(of: table).first?.source.table }

    // MARK: Rows

    private func rows(of table: SQLTable) throws -> SQLRowCopy? {
        let members = members(of: table)
        guard let former = members.first?.source.table else { return nil }
        var copy = SQLRowCopy(target: table.name, source: former.name, target)
        copy.add(naming.key, .column(naming.key))
        let numbers = Dictionary(
            members.map { ($0.source.number, $0.target.number) }, uniquingKeysWith: { first, _ in first })
        let hasAll = former.family.allSatisfy { numbers[$0.number] != nil }
        if let column = table.entityColumn {
            if former.entityColumn == nil, let number = numbers.values.first {
                copy.add(column, .constant(.integer(Int64(number)), .int16))
            } else {
                copy.add(column, renumbered(column, numbers, alone: former.family.count == 1))
            }
        }
        copy.add(naming.version, .column(naming.version))
        // Where all rows are of one entity, no row is left out because of a wrong number.
        if former.family.count > 1 {
            copy.condition = .init("s.\(dialect.identifier(naming.entity)) IN (\(Self.list(numbers.keys)))")
        }
        copy.takesAllRows = hasAll
        for column in table.columns {
            if column.isHiddenKey {
                let link = hiddenLink(column, in: table)
                copy.add(column.name, link.key)
                if let name = column.orderColumn { copy.add(name, link.position) }
                continue
            }
            var values: [MemberValue] = []
            var entities: [MemberValue] = []
            var orders: [MemberValue] = []
            for member in members {
                guard let index = member.target.columns.firstIndex(where: { $0 === column }) else {
                    values.append(MemberValue(member: member))
                    entities.append(MemberValue(member: member))
                    orders.append(MemberValue(member: member))
                    continue
                }
                let slot = member.target.layout.slots[index]
                guard slot.kind == .toOne else {
                    values.append(MemberValue(member: member, value: try attribute(slot, column, member)))
                    continue
                }
                let link = link(slot, column, member)
                values.append(MemberValue(member: member, value: link.key))
                entities.append(MemberValue(member: member, value: link.entity))
                orders.append(MemberValue(member: member, value: link.position))
            }
            copy.add(column.name, Self.value(of: values))
            if let name = column.entityColumn { copy.add(name, Self.value(of: entities)) }
            if let name = column.orderColumn { copy.add(name, Self.value(of: orders)) }
        }
        return copy
    }

    /// The value of a member's rows in a column; nil where the member has no such property.
    private struct MemberValue {
        let member: Member
        var value: SQLRowCopy.Value?

        /// Whether the member's former rows may have a value in a former column.
        func hasFormerColumn(_ name: String) -> Bool {
            member.source.columns.contains { column in
                column.map { $0.name == name || $0.entityColumn == name || $0.orderColumn == name } ?? false
            }
        }
    }

    private static func value(of values: [MemberValue]) -> SQLRowCopy.Value {
        let present = values.filter { $0.value != nil }
        if case .column(let name)? = present.first?.value,
            present.allSatisfy({ if case .column(name)? = $0.value { true } else { false } }),
            !values.contains(where: { $0.value == nil && $0.hasFormerColumn(name) })
        {
            return .column(name)
        }
        return .choice(values.map { ($0.member.source.number, $0.value ?? .null) })
    }

    /// Returns an attribute's value: the former value, a default for nil if it is required now, or
    /// a default.
    private func attribute(_ slot: PropertySlot, _ column: SQLColumn, _ member: Member) throws -> SQLRowCopy.Value {
        if slot.isElement { return try element(slot, column, member) }
        let layout = member.source.layout
        let former = member.sourceNames[slot.name].flatMap { layout.slotByPath[$0] }
        // Evaluated only where rows need it, because a class may evaluate an expression for it.
        func standard() throws -> StoredValue? {
            slot.isDerived ? nil : try defaultValue(slot, column, member.target.layout)
        }
        if let former, layout.slots[former].isElement, let found = formerValue(layout.slots[former].name, member.source)
        {
            let value = widened(found, layout.slots[former], slot)
            keepJSON(of: member.source.columns[former], in: column)
            guard !slot.isOptional, let standard = try standard() else { return value }
            return self.value(value, orElse: standard, column.kind(of: slot))
        }
        guard let former, let formerColumn = member.source.columns[former], layout.slots[former].attribute != nil else {
            return try standard().map { .constant($0, column.kind(of: slot)) } ?? .null
        }
        keepJSON(of: formerColumn, in: column)
        // A derived attribute is computed again later. Until then, no value of another type may
        // remain.
        if slot.isDerived, formerColumn.type != column.type || dialect.altersTables && formerColumn.kind != column.kind
        {
            return .null
        }
        var value = SQLRowCopy.Value.column(formerColumn.name)
        switch (formerColumn.allowsExternalStorage, column.allowsExternalStorage) {
        case (false, true): value = dialect.externalValue(ofPlain: value.text(target)).map { .sql($0) } ?? value
        case (true, false): value = dialect.plainValue(ofExternal: value.text(target)).map { .sql($0) } ?? value
        default: break
        }
        value = widened(value, layout.slots[former], slot)
        guard !slot.isOptional, layout.slots[former].isOptional, let standard = try standard() else { return value }
        return self.value(value, orElse: standard, column.kind(of: slot))
    }

    /// Makes a column of bytes keep its former type.
    func keepJSON(of former: SQLColumn?, in column: SQLColumn) {
        let kinds: Set<ValueKind> = [.data, .json]
        if let former, kinds.contains(former.kind), kinds.contains(column.kind) { column.kind = former.kind }
    }

    /// Returns a former number converted to the present type of its attribute.
    func widened(_ value: SQLRowCopy.Value, _ former: PropertySlot, _ now: PropertySlot) -> SQLRowCopy.Value {
        guard former.kind != now.kind, !now.isDerived else { return value }
        return dialect.number(value.text(target), of: former.kind, as: now.kind).map { .sql($0) } ?? value
    }

    private func value(_ value: SQLRowCopy.Value, orElse standard: StoredValue, _ kind: ValueKind) -> SQLRowCopy.Value {
        if case .column(let name) = value { return .columnOrElse(name, standard, kind) }
        return .sql(dialect.value(value.text(target), orElse: SQLText(value: standard, kind: kind)))
    }

    /// Returns the default of a new attribute, or else the value from its class, in the store's
    /// form; nil for none.
    func defaultValue(_ slot: PropertySlot, _ column: SQLColumn, _ layout: EntityLayout) throws -> StoredValue? {
        var value = try PropertyConversion.storeValue(layout.defaultsBySlot[slot.index], slot: slot)
        if case .null = value { value = try classValues.value(of: slot) }
        switch value {
        case .null: return nil
        case .data(let data) where column.allowsExternalStorage && dialect.externalValue(ofPlain: SQLText("")) != nil:
            return .data(ExternalColumn.value(inline: data))
        default: return value
        }
    }

    // MARK: Numbers

    static func list(_ numbers: some Sequence<Int>) -> String {
        numbers.sorted().map(String.init).joined(separator: ", ")
    }

    /// Returns a column of entity numbers, with the former numbers replaced by new ones.
    ///
    /// - Parameter alone: whether all rows are of one entity, whatever number is stored in them.
    func renumbered(
        _ column: String, _ numbers: [Int: Int], alone: Bool, alias: String = "s"
    ) -> SQLRowCopy.Value {
        if numbers.allSatisfy({ $0.key == $0.value }) && alias == "s" { return .column(column) }
        if alone, let number = numbers.values.first { return .sql(SQLText(String(number))) }
        let cases = numbers.sorted { $0.key < $1.key }.map { " WHEN \($0.key) THEN \($0.value)" }.joined()
        return .sql(SQLText("CASE \(alias).\(dialect.identifier(column))\(cases) END"))
    }
}
