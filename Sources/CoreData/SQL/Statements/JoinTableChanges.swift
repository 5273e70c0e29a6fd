/// The changes of one save to one join table: removed and added pairs, positions, and orders.
///
/// A pair is one row with two ends and counts once, whichever side reports it. A position belongs
/// to the side that declares the order. Members that this side adds follow its other members, in
/// the order in which it adds them.
package struct JoinTableChanges {
    package struct Pair: Hashable {
        package let first: Int64
        package let second: Int64
    }

    package struct Addition {
        package let pair: Pair
        /// The position in the first and in the second relationship; nil until assigned, or if
        /// unordered.
        package fileprivate(set) var firstPosition: Int64?
        package fileprivate(set) var secondPosition: Int64?
    }

    /// All members of one owner in a new order.
    package struct Order {
        package let isFirst: Bool
        package let owner: Int64
        package let members: [Int64]
    }

    package let join: SQLJoinTable
    package private(set) var removed: [Pair] = []
    package private(set) var added: [Addition] = []
    package private(set) var orders: [Order] = []
    private var removedPairs: Set<Pair> = []
    private var places: [Pair: Int] = [:]
    /// Indexes of the additions that each side itself reported, in order.
    private var reported: (first: [Int], second: [Int]) = ([], [])

    private init(_ join: SQLJoinTable) { self.join = join }

    /// Adds a change of one side to the changes of the table.
    package static func add(
        _ change: RelationshipChange, _ join: SQLJoinTable, isFirst: Bool, to tables: inout [JoinTableChanges]
    ) {
        let place = tables.firstIndex { $0.join === join } ?? tables.count
        if place == tables.count { tables.append(JoinTableChanges(join)) }
        tables[place].add(change, isFirst)
    }

    private mutating func add(_ change: RelationshipChange, _ isFirst: Bool) {
        func pair(_ key: Int64) -> Pair {
            isFirst ? Pair(first: change.ownerKey, second: key) : Pair(first: key, second: change.ownerKey)
        }
        for member in change.removed { remove(pair(member.key)) }
        for member in change.added {
            let place = place(of: pair(member.key))
            if isFirst { reported.first.append(place) } else { reported.second.append(place) }
        }
        if let order = change.order, join.orderColumn(isFirst: isFirst) != nil {
            orders.append(Order(isFirst: isFirst, owner: change.ownerKey, members: order.map(\.key)))
        }
    }

    private mutating func remove(_ pair: Pair) {
        if removedPairs.insert(pair).inserted { removed.append(pair) }
        let mirrored = Pair(first: pair.second, second: pair.first)
        if join.isReflexive, removedPairs.insert(mirrored).inserted { removed.append(mirrored) }
    }

    private mutating func place(of pair: Pair) -> Int {
        if let place = places[pair] { return place }
        let place = added.count
        places[pair] = place
        added.append(Addition(pair: pair))
        if join.isReflexive { _ = self.place(of: Pair(first: pair.second, second: pair.first)) }
        return place
    }

    /// The sorted keys of the owners that gain members.
    package func owners(isFirst: Bool) -> [Int64] {
        Set(added.lazy.map { isFirst ? $0.pair.first : $0.pair.second }).sorted()
    }

    /// Assigns the additions their positions in the order of one side.
    ///
    /// - Parameter last: the last position by owner; owners without members have no entry.
    package mutating func setPositions(isFirst: Bool, behind last: [Int64: Int64]) {
        var last = last
        func setPosition(_ place: Int) {
            let addition = added[place]
            if (isFirst ? addition.firstPosition : addition.secondPosition) != nil { return }
            let owner = isFirst ? addition.pair.first : addition.pair.second
            let position = last[owner, default: SaveStatements.Positions.step] + SaveStatements.Positions.step
            last[owner] = position
            if isFirst { added[place].firstPosition = position } else { added[place].secondPosition = position }
        }
        for place in isFirst ? reported.first : reported.second { setPosition(place) }
        // The additions that only the other side reported.
        for place in added.indices { setPosition(place) }
    }
}
