import Foundation

/// The order of results.
struct ResultsOrder {
    let descriptors: [NSSortDescriptor]

    /// Whether an object comes after another by the sort descriptors.
    func isAfter(_ object: NSManagedObject, _ other: NSManagedObject) -> Bool {
        compare(object, other) == .orderedDescending
    }

    /// Compares by the sort descriptors, then by key; new objects come last.
    func compareFully(_ object: NSManagedObject, _ other: NSManagedObject) -> ComparisonResult {
        let result = compare(object, other)
        if result != .orderedSame { return result }
        let (left, right) = (Self.rank(object), Self.rank(other))
        if left == right { return .orderedSame }
        return left < right ? .orderedAscending : .orderedDescending
    }

    /// The objects in order; equal ones keep their order.
    func sorted(_ objects: [NSManagedObject]) -> [NSManagedObject] {
        objects.sorted { compareFully($0, $1) == .orderedAscending }
    }

    private func compare(_ object: NSManagedObject, _ other: NSManagedObject) -> ComparisonResult {
        for descriptor in descriptors {
            let result = descriptor.compare(object, to: other)
            if result != .orderedSame { return result }
        }
        return .orderedSame
    }

    private static func rank(_ object: NSManagedObject) -> (Int, Int64) {
        object.storeNumber < 0 ? (.max, 0) : (Int(object.storeNumber), object.key)
    }
}
