import CoreData

/// A comparison of a store's tables with the model: the number of rows of each entity, problems,
/// and the statements that make a copy readable.
///
/// A person or another program may have changed a store in any way. Tables, columns, keys and
/// entity numbers that the engine needs are repaired in a private copy; missing ones are reported.
struct StoreSurvey {
    /// The number of rows of each entity itself, by entity number.
    private(set) var counts: [Int: Int64] = [:]
    private(set) var problems: [String] = []
    /// The statements that a private copy needs before the engine can read it; empty for a sound
    /// store.
    private(set) var mends: [String] = []
    private(set) var missingTables: [String: String] = [:]
    let tables: [StoreInspection.EntityTable]
    private(set) var damagedTables: Set<String> = []
    let links: [StoreInspection.ToManyLink]
    /// The join tables of many-to-many relationships.
    let joins: [StoreInspection.JoinTable]
    /// The tables of which only the first and the last rows were examined.
    private(set) var sampledTables: Set<String> = []

    private let contents: StoreCatalog
    private let reader: SQLiteReader
    private let countsRows: Bool
    private let isSampled: Bool

    /// The rows that a survey examines.
    enum Rows: Equatable {
        /// Those of all entities, which are counted too.
        case all
        /// Those of one entity.
        case of(String)
        case none

        func include(_ table: StoreInspection.EntityTable) -> Bool {
            if case .of(let name) = self { return table.entities.contains { $0.name == name } }
            return self == .all
        }
    }

    /// The names of the tables of entities and of the join tables.
    var tableNames: Set<String> { Set(tables.map(\.name) + joins.map(\.name)) }

    /// Examines all tables of the entities that the store holds.
    ///
    /// - Parameters:
    ///   - examined: the rows that are examined; counts and numbers of other rows are unknown.
    ///   - isSampled: whether rows in the middle of large tables are left out; see `RowSample`.
    init(_ contents: StoreCatalog, _ model: StoreModel, reader: SQLiteReader, rows examined: Rows, isSampled: Bool)
        throws
    {
        self.contents = contents
        self.reader = reader
        self.isSampled = isSampled
        countsRows = examined == .all
        let numbers = Dictionary(
            contents.entityNames(in: model.model).map { ($1, $0) },
            uniquingKeysWith: { first, second in min(first, second) })
        let planned = try StoreInspection.tables(
            of: model.model, columns: contents.columnNames, numbers: numbers, configuration: model.configuration)
        tables = planned.entities
        links = planned.links
        joins = planned.joins
        for table in tables { try survey(table, looksAtRows: examined.include(table)) }
        for join in joins { survey(join) }
        if !contents.isListed { mendEntityList() }
        if !contents.hasMetadata { mendMetadata() }
        if !mends.isEmpty { try removeTriggers() }
    }

    private mutating func mend(_ statement: String) { mends.append(statement) }

    // MARK: Tables

    private mutating func survey(_ table: StoreInspection.EntityTable, looksAtRows: Bool) throws {
        let root = table.entities.first?.name ?? ""
        guard let present = presentTable(table.name, owner: "the entity '\(root)'") else {
            for entity in table.entities { missingTables[entity.name] = table.name }
            create(table.name, table.columns)
            return
        }
        mendName(of: present, wanted: table.name)
        mendColumns(of: present, table.name, wanted: table.columns) { column in
            let cell = table.cells.first { $0.column == column }
            return cell.map { "of \($0.entity).\($0.property) " } ?? ""
        }
        guard looksAtRows else { return }
        let before = (counts, problems, mends)
        do {
            try surveyRows(of: present, table)
        } catch let failure as SQLiteReader.Failure where failure.isOfPages {
            (counts, problems, mends) = before
            try surveyDamaged(present, table, failure)
        }
    }

    /// Counts the rows of a table before and after its damaged pages.
    private mutating func surveyDamaged(
        _ present: String, _ table: StoreInspection.EntityTable, _ failure: SQLiteReader.Failure
    ) throws {
        let name = quoted(present)
        var rows: [[SQLiteReader.Value]] = []
        for order in ["ASC", "DESC"] {
            let (readable, failure) = try reader.readableRows(
                "SELECT Z_ENT FROM \(name) NOT INDEXED ORDER BY rowid \(order)")
            rows += readable
            // The table itself is sound; one of its indexes is damaged.
            if failure == nil { break }
        }
        let meanings = meanings(in: table)
        for row in rows {
            counts[row[0].integer.flatMap { meanings[$0] } ?? fallback(of: table).number, default: 0] += 1
        }
        damagedTables.insert(table.name)
        problems.append(
            "The table \(table.name) is damaged (\(failure.message)): \(self.rows(Int64(rows.count))) of it can be "
                + "read and \(rows.count == 1 ? "counts" : "count")."
        )
    }

    private mutating func surveyRows(of present: String, _ table: StoreInspection.EntityTable) throws {
        let columns = Set(contents.columns(of: present).map { $0.name.uppercased() })
        if columns.contains("Z_PK") {
            try surveyKeys(of: present, table.name)
        } else {
            mend("UPDATE \(quoted(table.name)) SET Z_PK = rowid")
        }
        if columns.contains("Z_ENT") {
            try surveyEntities(of: present, table)
        } else {
            counts[fallback(of: table).number] = try count(of: present)
            mend("UPDATE \(quoted(table.name)) SET Z_ENT = \(fallback(of: table).number)")
        }
    }

    private mutating func survey(_ join: StoreInspection.JoinTable) {
        guard let present = presentTable(join.name, owner: "the relationship \(join.entity).\(join.relationship)")
        else {
            create(join.name, join.columns)
            return
        }
        mendName(of: present, wanted: join.name)
        mendColumns(of: present, join.name, wanted: join.columns) { _ in "of \(join.entity).\(join.relationship) " }
    }

    /// Returns the table with a name, or the view in its place. Returns nil, and records a problem,
    /// if there is none that can be read.
    private mutating func presentTable(_ name: String, owner: String) -> String? {
        guard let present = contents.present(name) else {
            problems.append("The table \(name) of \(owner) is missing.")
            return nil
        }
        guard isView(present) else { return present }
        do {
            _ = try reader.rows("SELECT count(*) FROM \(quoted(present))")
            return present
        } catch {
            let reason = (error as? SQLiteReader.Failure)?.message ?? "\(error)"
            problems.append("\(present) of \(owner) is a view, not a table, and cannot be read: \(reason).")
            drop(name)
            return nil
        }
    }

    private func isView(_ name: String) -> Bool { contents.tables[name] == nil }

    private func quoted(_ name: String) -> String { SQLiteReader.identifier(name) }

    private mutating func create(_ table: String, _ columns: [String]) {
        let list = columns.map { $0 == "Z_PK" ? "Z_PK INTEGER PRIMARY KEY" : quoted($0) }.joined(separator: ", ")
        mend("CREATE TABLE \(quoted(table)) (\(list))")
    }

    /// Replaces the view or renamed table in a table's place by a table with the name that the
    /// engine expects.
    private mutating func mendName(of present: String, wanted: String) {
        let aside = quoted("coredata \(wanted)")
        if isView(present) {
            problems.append("\(present) is a view, not a table; what it shows is read.")
            mend("CREATE TABLE \(aside) AS SELECT * FROM \(quoted(present))")
            mend("DROP VIEW \(quoted(present))")
        } else if present != wanted {
            mend("ALTER TABLE \(quoted(present)) RENAME TO \(aside)")
        } else {
            return
        }
        mend("ALTER TABLE \(aside) RENAME TO \(quoted(wanted))")
    }

    private mutating func mendColumns(of present: String, _ table: String, wanted: [String], owner: (String) -> String)
    {
        let names = contents.columns(of: present).map(\.name)
        for column in wanted where !names.contains(column) {
            if let other = names.first(where: { $0.uppercased() == column.uppercased() }) {
                let aside = quoted("coredata \(column)")
                mend("ALTER TABLE \(quoted(table)) RENAME COLUMN \(quoted(other)) TO \(aside)")
                mend("ALTER TABLE \(quoted(table)) RENAME COLUMN \(aside) TO \(quoted(column))")
                continue
            }
            problems.append("The column \(table).\(column) \(owner(column))is missing.")
            mend("ALTER TABLE \(quoted(table)) ADD COLUMN \(quoted(column))")
        }
    }

    // MARK: Keys

    /// Returns SQL for the whole number in a column, even if it is stored as text.
    private func wholeNumber(_ column: String) -> String {
        "CASE WHEN typeof(\(column)) = 'integer' THEN \(column) WHEN typeof(\(column)) IN ('real', 'text') "
            + "AND CAST(\(column) AS TEXT) GLOB '*[0-9]*' AND CAST(\(column) AS TEXT) NOT GLOB '*[^0-9.-]*' "
            + "AND CAST(\(column) AS INTEGER) = CAST(\(column) AS NUMERIC) THEN CAST(\(column) AS INTEGER) END"
    }

    /// Repairs keys to the form of every table of Core Data: whole numbers, each occurring once.
    private mutating func surveyKeys(of present: String, _ table: String) throws {
        let columns = contents.columns(of: present)
        let keys = columns.filter(\.isKey)
        if keys.count == 1, keys[0].name.uppercased() == "Z_PK", keys[0].type == "INTEGER" { return }
        let key = wholeNumber("Z_PK")
        let row = try reader.rows(
            "SELECT count(*), count(DISTINCT \(key)), max(\(key)) FROM \(quoted(present))"
        ).first
        let bad = (row?[0].integer ?? 0) - (row?[1].integer ?? 0)
        let name = quoted(table)
        mend("UPDATE \(name) SET Z_PK = \(key) WHERE typeof(Z_PK) <> 'integer'")
        mend("CREATE INDEX \(quoted("coredata key of \(table)")) ON \(name) (Z_PK)")
        guard bad > 0, let greatest = Optional(row?[2].integer ?? 0), greatest < Int64.max / 2 else { return }
        problems.append(
            "\(rows(bad)) of \(table) \(bad == 1 ? "has" : "have") no key or that of another row; "
                + "\(bad == 1 ? "it is" : "they are") "
                + "shown with \(bad == 1 ? "a key" : "keys") above p\(greatest).")
        mend(
            "UPDATE \(name) SET Z_PK = \(greatest) + rowid WHERE rowid NOT IN "
                + "(SELECT min(rowid) FROM \(name) WHERE typeof(Z_PK) = 'integer' GROUP BY Z_PK)")
    }

    private func rows(_ count: Int64) -> String { count == 1 ? "1 row" : "\(count) rows" }

    // MARK: Entity numbers

    /// Returns the entity as which rows of an unknown entity are shown: the only one that can have
    /// rows, or else the root.
    func fallback(of table: StoreInspection.EntityTable) -> StoreInspection.EntityTable.Entity {
        let concrete = table.entities.filter { !$0.isAbstract }
        return concrete.count == 1 ? concrete[0] : table.entities[0]
    }

    /// The rows of a table by their entity number.
    private struct EntityRows {
        /// The entity number, or the value in its place, and the number of its rows.
        var groups: [(number: Int64?, value: SQLiteReader.Value, count: Int64)] = []
        /// The number of all rows; at least those of the groups.
        var total: Int64 = 0

        var counted: Int64 { groups.reduce(0) { $0 + $1.count } }
    }

    private func count(of present: String) throws -> Int64 {
        try reader.rows("SELECT count(*) FROM \(quoted(present))").first?[0].integer ?? 0
    }

    /// Groups the rows of a table: all, if they must be counted by entity, or those of the sample.
    private mutating func entityRows(of present: String, _ table: StoreInspection.EntityTable) throws -> EntityRows {
        var sample = isSampled ? contents.sample(of: present, reader: reader) : .all
        if !sample.isWhole { sampledTables.insert(table.name) }
        if countsRows, table.entities.count > 1 { sample = .all }
        let number = wholeNumber("Z_ENT")
        var rows = EntityRows()
        for condition in sample.conditions {
            // Without an expression in it, the inner query needs nothing but an index of Z_ENT.
            rows.groups += try reader.rows(
                "SELECT \(number), Z_ENT, rows FROM (SELECT Z_ENT, count(*) AS rows FROM \(quoted(present)) t "
                    + "WHERE \(condition) GROUP BY Z_ENT ORDER BY rows DESC LIMIT 1000)"
            ).map { ($0[0].integer, $0[1], $0[2].integer ?? 0) }
        }
        rows.total = countsRows || sample.isWhole ? try count(of: present) : rows.counted
        return rows
    }

    private mutating func surveyEntities(of present: String, _ table: StoreInspection.EntityTable) throws {
        let rows = try entityRows(of: present, table)
        var meanings = meanings(in: table)
        let unknown = Set(rows.groups.compactMap(\.number)).filter { meanings[$0] == nil }
        let unlisted = table.entities.filter { contents.unlisted.contains($0.name) }
        if unknown.count == 1, unlisted.count == 1 {
            // The unknown number belongs to the only entity that is not listed.
            for number in unknown { meanings[number] = unlisted[0].number }
        }
        let substitute = fallback(of: table)
        var (strays, texts): ([SQLiteReader.Value], [SQLiteReader.Value]) = ([], [])
        var (strayRows, textRows): (Int64, Int64) = (0, 0)
        var isPlain = true
        for group in rows.groups {
            let named = group.value.text.flatMap { name in table.entities.first { $0.name == name }?.number }
            let meant = group.number.flatMap { meanings[$0] } ?? named
            counts[meant ?? substitute.number, default: 0] += group.count
            if meant != group.value.integer.map({ Int(clamping: $0) }) || meant == nil { isPlain = false }
            if meant == nil {
                if !strays.contains(group.value) { strays.append(group.value) }
                strayRows += group.count
            } else if group.value.text != nil {
                texts.append(group.value)
                textRows += group.count
            }
        }
        if table.entities.count == 1 {
            counts[substitute.number] = rows.total
        } else if rows.total > rows.counted {
            counts[substitute.number, default: 0] += rows.total - rows.counted
            strayRows += rows.total - rows.counted
            isPlain = false
        }
        if textRows > 0 {
            problems.append(
                "\(self.rows(textRows)) of \(table.name) \(textRows == 1 ? "has its" : "have their") entity as text "
                    + "(Z_ENT \(list(texts))).")
        }
        // Without a list of entities the numbers have no meaning.
        if strayRows > 0,
            !contents.unlisted.contains(substitute.name) || contents.entities.count > contents.unlisted.count
        {
            problems.append(
                "\(self.rows(strayRows)) of \(table.name) \(strayRows == 1 ? "is" : "are") of no entity of this table "
                    + "(Z_ENT \(list(strays))); "
                    + "shown as '\(substitute.name)'.")
        }
        if !isPlain { mendEntities(of: table, meanings, substitute.number) }
    }

    private func list(_ values: [SQLiteReader.Value]) -> String {
        values.prefix(3).map(\.description).joined(separator: ", ") + (values.count > 3 ? ", …" : "")
    }

    /// Returns the entity numbers that the numbers in a table stand for, according to
    /// `Z_PRIMARYKEY`.
    private func meanings(in table: StoreInspection.EntityTable) -> [Int64: Int] {
        var meanings: [Int64: Int] = [:]
        for (number, name) in contents.otherNumbers {
            if let entity = table.entities.first(where: { $0.name == name }) { meanings[Int64(number)] = entity.number }
        }
        for entity in table.entities { meanings[Int64(entity.number)] = entity.number }
        return meanings
    }

    private mutating func mendEntities(
        of table: StoreInspection.EntityTable, _ meanings: [Int64: Int], _ substitute: Int
    ) {
        let number = entityNumber(in: table, meanings, substitute)
        mend("UPDATE \(quoted(table.name)) SET Z_ENT = \(number)")
    }

    /// Returns SQL for the entity number of a row, whatever is in its place.
    private func entityNumber(
        in table: StoreInspection.EntityTable, _ meanings: [Int64: Int], _ substitute: Int
    ) -> String {
        let number = wholeNumber("Z_ENT")
        var cases = meanings.sorted { $0.key < $1.key }.map { "WHEN \(number) = \($0.key) THEN \($0.value)" }
        cases += table.entities.map { "WHEN Z_ENT = \(SQLiteReader.text($0.name)) THEN \($0.number)" }
        return "CASE \(cases.joined(separator: " ")) ELSE \(substitute) END"
    }

    /// Returns SQL for the entity number that a row of a table should have.
    func entityNumber(in table: StoreInspection.EntityTable) -> String {
        entityNumber(in: table, meanings(in: table), fallback(of: table).number)
    }

    // MARK: Tables of Core Data's own

    private mutating func drop(_ name: String) {
        guard let present = contents.present(name) else { return }
        mend("DROP \(isView(present) ? "VIEW" : "TABLE") \(quoted(present))")
    }

    private mutating func mendEntityList() {
        drop("Z_PRIMARYKEY")
        mend(StoreTable.entities.definition)
        for entity in tables.flatMap(\.entities) {
            mend(
                "INSERT INTO Z_PRIMARYKEY VALUES (\(entity.number), \(SQLiteReader.text(entity.name)), "
                    + "\(entity.superNumber), 0)"
            )
        }
    }

    private mutating func mendMetadata() {
        drop("Z_METADATA")
        mend(StoreTable.metadata.definition)
        let uuid = (contents.metadata[NSStoreUUIDKey] as? String) ?? UUID().uuidString
        mend("INSERT INTO Z_METADATA VALUES (1, \(SQLiteReader.text(uuid)), NULL)")
    }

    /// Drops all triggers first: they would make unintended changes during the repair, and call
    /// functions that only Core Data has.
    private mutating func removeTriggers() throws {
        let names = try reader.rows("SELECT name FROM sqlite_master WHERE type = 'trigger'").compactMap(\.[0].text)
        mends = names.map { "DROP TRIGGER \(quoted($0))" } + mends
    }
}
