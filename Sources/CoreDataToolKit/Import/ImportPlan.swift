/// The plan for each row: its place in the file, its object in the store, and its state.
///
/// Takes about 100 bytes for each row.
struct ImportPlan {
    enum State: UInt8 {
        case pending
        /// In the store, with all relationships.
        case written
        /// In the store, without references to rows that came later.
        case incomplete
        case refused
    }

    struct Row {
        let line: Int
        let file: Int32
        /// The place of the entity in the schema; -1 for a row that could not be read.
        let entity: Int32
        /// The key in the file; 0 without one.
        let key: Int64
        /// The key of the row in the store; until keys are assigned, the ordinal of a new one.
        var target: Int64 = 0
        /// Whether the object is inserted. Otherwise it is in the store already.
        var isNew = true
        var state = State.pending
    }

    private(set) var rows: [Row] = []
    /// The number of rows in each state.
    private var counts: [State: Int] = [:]
    private var numbers: [ImportSchema.RowName: Int] = [:]

    /// Adds the next row of the files.
    ///
    /// - Returns: the number of an earlier row with the same identity.
    mutating func add(_ row: ImportRow) -> Int? {
        counts[.pending, default: 0] += 1
        guard case .success(let content) = row.content else {
            rows.append(Row(line: row.line, file: Int32(clamping: row.file), entity: -1, key: 0))
            return nil
        }
        rows.append(
            Row(
                line: row.line, file: Int32(clamping: row.file), entity: Int32(clamping: content.entity.index),
                key: content.key ?? 0))
        guard let key = content.key else { return nil }
        let name = ImportSchema.RowName(root: content.entity.root, key: key)
        if let first = numbers[name] { return first }
        numbers[name] = row.number
        return nil
    }

    /// Whether a row that is read once more is the same object as before.
    func contains(_ row: ImportRow) -> Bool {
        guard rows.indices.contains(row.number), rows[row.number].line == row.line else { return false }
        guard case .success(let content) = row.content else { return rows[row.number].entity < 0 }
        return rows[row.number].entity == content.entity.index && rows[row.number].key == content.key ?? 0
    }

    func number(of name: ImportSchema.RowName) -> Int? { numbers[name] }

    func count(of state: State) -> Int { counts[state] ?? 0 }

    mutating func set(_ state: State, of number: Int) {
        counts[rows[number].state, default: 0] -= 1
        counts[state, default: 0] += 1
        rows[number].state = state
    }

    mutating func setTarget(_ key: Int64, of number: Int, isNew: Bool) {
        rows[number].target = key
        rows[number].isNew = isNew
    }

    /// Makes all rows but the refused ones pending again.
    mutating func restart() {
        for number in rows.indices where rows[number].state != .refused { set(.pending, of: number) }
    }
}
