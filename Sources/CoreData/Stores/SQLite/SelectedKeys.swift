/// Keys in the form in which a statement takes them.
struct SelectedKeys {
    enum Form: Hashable, Sendable {
        /// One key.
        case one
        /// A JSON text of keys.
        case list
        /// The first and the last of keys without a gap, which are read faster than single ones.
        case range

        /// What follows the column in the statement.
        var condition: String {
            switch self {
            case .one: "= ?"
            case .list: "IN (SELECT value FROM json_each(?))"
            case .range: "BETWEEN ? AND ?"
            }
        }
    }

    let count: Int
    let form: Form
    /// The arguments of each run of the statement: one for each range.
    let arguments: [[PropertyValue]]

    init(_ keys: [Int64]) {
        count = keys.count
        if keys.count == 1 {
            form = .one
            arguments = [[.integer(keys[0])]]
        } else if let ranges = Self.ranges(of: keys) {
            form = .range
            arguments = ranges.map { [.integer($0.lowerBound), .integer($0.upperBound)] }
        } else {
            form = .list
            arguments = [[.string(SQLList.json(keys))]]
        }
    }

    /// Keys as ranges without gaps, in ascending order; nil for keys that are too scattered for reading them so to be faster.
    private static func ranges(of keys: [Int64]) -> [ClosedRange<Int64>]? {
        var ranges: [ClosedRange<Int64>] = []
        let mostRanges = max(1, keys.count / 8)
        for key in keys.sorted() {
            if let last = ranges.last, last.upperBound == key || last.upperBound == key &- 1 {
                ranges[ranges.count - 1] = last.lowerBound...key
            } else {
                if ranges.count == mostRanges { return nil }
                ranges.append(key...key)
            }
        }
        return ranges
    }
}

extension SQLiteConnection {
    /// Runs one statement for keys and lets `body` step through the rows of each run. All runs see the same state of the store.
    func read(_ sql: String, _ keys: SelectedKeys, _ body: (SQLiteStatement) throws -> Void) throws {
        func run() throws {
            for arguments in keys.arguments { try read(sql, arguments, body) }
        }
        if keys.arguments.count == 1 { try run() } else { try transaction(.deferred, run) }
    }
}
