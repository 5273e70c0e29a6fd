import Foundation

// Adapting a mapping to a store with other names: one that Apple's framework migrated and that kept
// old entity numbers in its names, or one that this project created with former rules for join
// tables.
extension SQLMapping {
    /// Adapts the mapping to stores with one column for a composite attribute's archived
    /// dictionary.
    ///
    /// Former versions of this project created such stores.
    func archiveComposites() {
        for table in tables { table.archiveComposites() }
    }

    /// Adopts the names of an existing store where they differ.
    ///
    /// - Parameter columns: the store's tables, each with its columns in order.
    func adjust(to columns: [String: [String]]) {
        for table in tables {
            guard let present = columns[table.name] else { continue }
            table.adjust(to: Set(present))
        }
        var stored = StoredJoinTable.all(in: columns, except: Set(tables.map(\.name)))
        adoptJoinTables(&stored)
        adoptHiddenKeys(stored, columns)
    }

    // MARK: Join tables

    /// Finds the join table of each many-to-many relationship.
    ///
    /// Each table belongs to one relationship. Tables with the expected names are matched first.
    /// The other tables are matched where their columns fit. Where several fit equally well, only
    /// their numbers can decide; otherwise none is chosen.
    private func adoptJoinTables(_ stored: inout [StoredJoinTable]) {
        var open: [SQLJoinTable] = []
        for join in joinTables {
            guard let index = stored.firstIndex(where: { $0.name == join.name && $0.fit(join)?.isExact == true }) else {
                open.append(join)
                continue
            }
            stored.remove(at: index).become(join)
        }
        // Only numbers can tell apart join tables with the same two names.
        while let join = open.first {
            let group = open.filter { $0.hasSameNames(as: join) }
            open.removeAll { $0.hasSameNames(as: join) }
            let candidates = stored.filter { $0.fit(join) != nil }
            for (join, table) in Self.pairs(group, candidates) {
                table.become(join)
                stored.removeAll { $0.name == table.name }
            }
        }
    }

    /// The unambiguous matches of relationships and tables.
    private static func pairs(
        _ joins: [SQLJoinTable], _ tables: [StoredJoinTable]
    ) -> [(SQLJoinTable, StoredJoinTable)] {
        var joins = joins
        var tables = tables
        var result: [(SQLJoinTable, StoredJoinTable)] = []
        // Best fits first, as long as they are the only ones of their quality on both sides.
        for quality in stride(from: 3, through: 0, by: -1) {
            for join in joins {
                let fitting = tables.filter { ($0.fit(join)?.quality ?? -1) >= quality }
                guard fitting.count == 1, let table = fitting.first,
                    joins.filter({ (table.fit($0)?.quality ?? -1) >= quality }).count == 1
                else { continue }
                result.append((join, table))
                joins.removeAll { $0 === join }
                tables.removeAll { $0.name == table.name }
            }
        }
        guard joins.count == tables.count else { return result }
        // All numbers differ. Entities are numbered by name in every version, so their order is the
        // same.
        let ordered = tables.sorted { $0.number < $1.number }
        guard Set(ordered.map(\.number)).count == ordered.count else { return result }
        return result + zip(joins, ordered)
    }

    // MARK: Hidden keys

    /// Finds the join tables of to-many relationships without an inverse, where a store has them.
    private func adoptHiddenKeys(_ stored: [StoredJoinTable], _ columns: [String: [String]]) {
        for key in hiddenKeys {
            guard let table = key.destination.table, columns[table.name]?.contains(key.column.name) == false,
                let relationship = key.slot.relationship
            else { continue }
            let name = key.slot.name.uppercased()
            let fitting = stored.filter { $0.tail == name && $0.hiddenKeyColumns(name) != nil }
            let exact = fitting.filter { $0.number == key.owner.number }
            guard let found = exact.count == 1 ? exact.first : fitting.count == 1 ? fitting.first : nil,
                let names = found.hiddenKeyColumns(name)
            else { continue }
            let join = SQLJoinTable(
                name: found.name, firstColumn: names.owner, secondColumn: names.destination, first: relationship,
                second: nil,
                owner: key.owner, destination: key.destination, naming: naming)
            join.adopt(
                found.name, firstColumn: names.owner, secondColumn: names.destination, present: found.columns)
            joinTables.append(join)
            table.remove(key.column)
            hiddenKeys.removeAll { $0.column === key.column }
            for case let entity? in entities {
                for (slot, toMany) in entity.toMany.enumerated() {
                    guard case .inverse(let column, _, _)? = toMany, column === key.column else { continue }
                    entity.toMany[slot] = .join(join, isFirst: true)
                }
            }
        }
    }
}

/// A join table that exists in a store.
private struct StoredJoinTable {
    let name: String
    /// All columns in order.
    let columns: [String]
    /// The two key columns, in order.
    let keys: [String]
    let number: Int
    /// The name after `Z_` and the number.
    let tail: String

    struct Fit {
        let first: String
        let second: String
        /// The number of expected numbers among three: the table's and those of both columns.
        let quality: Int
        /// Whether both columns have the names of a new store.
        let isExact: Bool
    }

    static func all(in columns: [String: [String]], except tables: Set<String>) -> [StoredJoinTable] {
        columns.sorted { $0.key < $1.key }.compactMap { name, columns in
            let keys = columns.filter { !$0.hasPrefix(CoreDataNaming.positionPrefix) }
            guard !tables.contains(name), let (number, tail) = parts(name), keys.count == 2 else { return nil }
            return StoredJoinTable(name: name, columns: columns, keys: keys, number: number, tail: tail)
        }
    }

    /// The number and the name of a table such as `Z_4CARS`.
    static func parts(_ name: String) -> (number: Int, tail: String)? {
        guard name.hasPrefix("Z_") else { return nil }
        let rest = name.dropFirst(2)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), digits.count < rest.count else { return nil }
        return (number, String(rest.dropFirst(digits.count)))
    }

    /// How well a column's name matches the name of a relationship.
    ///
    /// 2 for the name itself, 1 for the name with a number after it that makes it unique; nil for
    /// another name.
    private static func match(_ column: String, _ name: String) -> Int? {
        guard let tail = parts(column)?.tail else { return nil }
        if tail == name { return 2 }
        guard tail.hasPrefix(name), tail.dropFirst(name.count).allSatisfy({ $0.isASCII && $0.isNumber }) else {
            return nil
        }
        return 1
    }

    /// The columns of each side, if the table can be the relationship's.
    func fit(_ join: SQLJoinTable) -> Fit? {
        let (toOwner, toDestination) = join.sideNames
        guard tail == toDestination || tail == toOwner else { return nil }
        if join.isReflexive {
            guard let other = keys.first(where: { $0 != CoreDataNaming.reflexive }),
                keys.contains(CoreDataNaming.reflexive),
                Self.match(other, toDestination) != nil
            else { return nil }
            // The table stores each pair in both directions; a position counts the destinations in
            // the second column.
            return makeFit(join, keys[0], keys[1])
        }
        func quality(_ first: String, _ second: String) -> Int? {
            guard let one = Self.match(first, toOwner), let other = Self.match(second, toDestination) else {
                return nil
            }
            return one + other
        }
        // The names show which side a column belongs to. Where both are the same except for case,
        // the table's first relationship owns the first column, in all stores.
        let forward = quality(keys[0], keys[1])
        let backward = toOwner == toDestination ? nil : quality(keys[1], keys[0])
        switch (forward, backward) {
        case (nil, nil): return nil
        case (let forward?, let backward?) where backward > forward: return makeFit(join, keys[1], keys[0])
        case (.some, _): return makeFit(join, keys[0], keys[1])
        case (nil, .some): return makeFit(join, keys[1], keys[0])
        }
    }

    private func makeFit(_ join: SQLJoinTable, _ first: String, _ second: String) -> Fit {
        let other = join.secondRelationship.flatMap {
            $0 === join.firstRelationship ? nil : Self.parts(join.secondColumn)?.number
        }
        let isNamedByFirst = tail == join.sideNames.toDestination
        var quality = number == (isNamedByFirst ? join.owner.number : other) ? 1 : 0
        if Self.parts(first)?.number == Self.parts(join.firstColumn)?.number { quality += 1 }
        if Self.parts(second)?.number == Self.parts(join.secondColumn)?.number { quality += 1 }
        return Fit(
            first: first, second: second, quality: quality,
            isExact: first == join.firstColumn && second == join.secondColumn)
    }

    func become(_ join: SQLJoinTable) {
        guard let fit = fit(join) else { return }
        join.adopt(name, firstColumn: fit.first, secondColumn: fit.second, present: columns)
    }

    /// The columns of a to-many relationship without an inverse.
    ///
    /// One is named by the relationship, one by the owner.
    func hiddenKeyColumns(_ name: String) -> (owner: String, destination: String)? {
        // Where both match the name, the owner's column is the first.
        guard let destination = keys.last(where: { Self.match($0, name) != nil }),
            let owner = keys.first(where: { $0 != destination }), Self.parts(owner) != nil
        else { return nil }
        return (owner, destination)
    }
}

extension SQLJoinTable {
    /// The names from which the columns are named.
    ///
    /// The name of the relationship that refers to the owner's rows, and that of the one that
    /// refers to the destination's rows.
    fileprivate var sideNames: (toOwner: String, toDestination: String) {
        let first = firstRelationship.name.uppercased()
        return (secondRelationship?.name.uppercased() ?? first, first)
    }

    fileprivate func hasSameNames(as other: SQLJoinTable) -> Bool {
        let (own, others) = (sideNames, other.sideNames)
        return own == others || own == (others.toDestination, others.toOwner)
    }
}

extension SQLTable {
    fileprivate func adjust(to present: Set<String>) {
        for column in columns where !column.isHiddenKey {
            if !present.contains(column.name), column.name.last?.isNumber == true {
                // In a store where sibling entities share a column, only the name without a number
                // exists.
                let base = "Z" + column.columnName.uppercased()
                if present.contains(base) { column.name = base }
            }
        }
        adjustHiddenKeys(to: present)
        for column in columns {
            let tail = "_" + column.name.dropFirst()
            if column.entityColumn.map({ !present.contains($0) }) ?? column.isHiddenKey {
                // The store kept the name from a model with another entity number, or used the
                // number of the root entity.
                column.entityColumn = present.filter { Self.number(in: $0, tail: tail) != nil }.min()
            }
            if let order = column.orderColumn, !present.contains(order) { column.orderColumn = nil }
        }
    }

    /// The number in a column name such as `Z10_QUOTE`.
    private static func number(in name: String, tail: String) -> Int? {
        guard name.hasPrefix("Z"), name.hasSuffix(tail), name.count > tail.count + 1 else { return nil }
        return Int(name.dropFirst().dropLast(tail.count))
    }

    /// Finds hidden keys whose owners had other entity numbers.
    private func adjustHiddenKeys(to present: Set<String>) {
        let others = Set(columns.filter { !$0.isHiddenKey || present.contains($0.name) }.map(\.name))
        let open = columns.filter { $0.isHiddenKey && !present.contains($0.name) }
        for name in Set(open.map { $0.columnName.uppercased() }) {
            let keys = open.filter { $0.columnName.uppercased() == name }
            let found = present.subtracting(others).compactMap { column in
                Self.number(in: column, tail: name).map { (column: column, number: $0) }
            }.sorted { $0.number < $1.number }
            // Entities are numbered by name in every version, so their order is the same.
            guard found.count == keys.count else { continue }
            for (key, column) in zip(keys, found) {
                if key.orderColumn != nil { key.orderColumn = naming.positionColumn(ofKey: column.column) }
                key.name = column.column
            }
        }
    }
}
