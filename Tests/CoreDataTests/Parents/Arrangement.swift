import CoreData

/// One change of an ordered relationship.
struct Arrangement {
    private enum Kind { case insert(Int, Int), remove(Int), move(Int, Int), exchange(Int, Int), replace }

    let before: [Int]
    private(set) var after: [Int]
    private let kind: Kind

    /// - Parameter other: what may come to it.
    init(_ members: [Int], _ other: Int?, _ numbers: [Int]) {
        before = members
        after = members
        let count = members.count
        if let other, !members.contains(other), numbers[2] % 2 == 0 || count == 0 {
            kind = .insert(other, numbers[3] % (count + 1))
            after.insert(other, at: numbers[3] % (count + 1))
            return
        }
        guard count > 0 else {
            kind = .replace
            return
        }
        let (first, second) = (numbers[1] % count, numbers[3] % count)
        switch numbers[2] % 5 {
        case 0:
            kind = .remove(first)
            after.remove(at: first)
        case 1:
            kind = .exchange(first, second)
            after.swapAt(first, second)
        case 2:
            kind = .replace
            after.reverse()
            if numbers[3] % 3 == 0 { after.removeFirst() }
        default:
            kind = .move(first, second)
            after.insert(after.remove(at: first), at: second)
        }
    }

    func apply(
        to object: NSManagedObject, _ key: String, _ find: (Int, NSManagedObjectContext) throws -> NSManagedObject
    ) throws {
        guard let context = object.managedObjectContext else { return }
        let members = object.mutableOrderedSetValue(forKey: key)
        switch kind {
        case .insert(let id, let index): members.insert(try find(id, context), at: index)
        case .remove(let index): members.removeObject(at: index)
        case .move(let from, let to): members.moveObjects(at: IndexSet(integer: from), to: to)
        case .exchange(let first, let second): members.exchangeObject(at: first, withObjectAt: second)
        case .replace: object.setValue(NSOrderedSet(array: try after.map { try find($0, context) }), forKey: key)
        }
    }
}
