/// Keys in the form in which a statement binds them.
package struct SQLKeys {
    package enum Form: Hashable, Sendable {
        case one
        /// One value that holds all keys.
        case list
        /// The first and the last of consecutive keys, which are read faster than single ones.
        case range
    }

    let count: Int
    package let form: Form
    /// The arguments of each execution of the statement: one execution for each range.
    package let arguments: [[SQLArgument]]

    package init(_ keys: [Int64], _ dialect: any SQLDialect) {
        count = keys.count
        if keys.count == 1 {
            form = .one
            arguments = [[SQLArgument(.integer(keys[0]))]]
        } else if let ranges = Self.ranges(of: keys) {
            form = .range
            arguments = ranges.map { [SQLArgument(.integer($0.lowerBound)), SQLArgument(.integer($0.upperBound))] }
        } else {
            form = .list
            arguments = [[dialect.keyList(keys)]]
        }
    }

    /// Returns keys as ranges without gaps, in ascending order; nil if the keys are too scattered
    /// for ranges to be faster.
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
