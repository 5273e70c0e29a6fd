import CoreData

/// An order of writes for tables in which foreign keys are checked with each statement.
struct ExternalOrder {
    private var all: [Int: Set<Int>] = [:]
    private var required: [Int: Set<Int>] = [:]

    mutating func add(_ number: Int) {
        all[number, default: []].formUnion([])
        required[number, default: []].formUnion([])
    }

    mutating func add(_ other: Int, for number: Int, isRequired: Bool) {
        if other == number { return }
        all[number, default: []].insert(other)
        if isRequired { required[number, default: []].insert(other) }
    }

    /// An optional relationship.
    struct Optional {
        /// The root of the table that has its column.
        let root: Int
        /// The root of the table that it refers to.
        let destination: Int
        let column: SQLColumn
    }

    /// Returns the references between tables with deleted rows, by the tables' roots, and the
    /// optional relationships among them.
    static func ofDeletions(_ roots: Set<Int>, _ mapping: SQLMapping) -> (order: ExternalOrder, optional: [Optional]) {
        let layouts = mapping.layouts.layouts
        var order = ExternalOrder()
        var optional: [Optional] = []
        for root in roots.sorted() {
            order.add(root)
            for index in layouts[root].familyIndexes {
                guard let entity = mapping.entities[index] else { continue }
                for slot in entity.layout.slots where slot.kind == .toOne && slot.destinationIndex >= 0 {
                    let destination = layouts[slot.destinationIndex].rootIndex
                    guard roots.contains(destination), let column = entity.columns[slot.index] else { continue }
                    order.add(destination, for: root, isRequired: !slot.isOptional)
                    if slot.isOptional {
                        optional.append(Optional(root: root, destination: destination, column: column))
                    }
                }
            }
            for key in mapping.hiddenKeys
            where key.destination.layout.rootIndex == root && roots.contains(key.owner.layout.rootIndex) {
                order.add(key.owner.layout.rootIndex, for: root, isRequired: false)
            }
        }
        return (order, optional)
    }

    /// Returns the numbers in an order in which each comes after those that it needs. Where no such
    /// order exists, only required ones count.
    func inTurn() -> (numbers: [Int], isCircular: Bool) {
        let numbers = Self.inTurn(all)
        let turns = Dictionary(uniqueKeysWithValues: zip(numbers, numbers.indices))
        let isCircular = all.contains { number, others in others.contains { (turns[$0] ?? -1) > (turns[number] ?? 0) } }
        return isCircular ? (Self.inTurn(required), true) : (numbers, false)
    }

    private static func inTurn(_ needs: [Int: Set<Int>]) -> [Int] {
        var order: [Int] = []
        var seen: Set<Int> = []
        func add(_ number: Int) {
            guard needs[number] != nil, seen.insert(number).inserted else { return }
            for other in needs[number]?.sorted() ?? [] { add(other) }
            order.append(number)
        }
        for number in needs.keys.sorted() { add(number) }
        return order
    }
}
