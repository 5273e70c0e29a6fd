import Foundation

/// An object's value for a criterion.
struct SortValue {
    let value: Any?
    let comparable: ComparableValue
}

/// Sorting by several criteria.
enum SortOrder {
    /// Sorts objects by the descriptors, the first deciding most. Objects that are the same under all keep their order.
    ///
    /// Reads each object's values once, unless a descriptor is of a subclass, which may compare in its own way.
    static func sorted(_ objects: [Any], by descriptors: [NSSortDescriptor]) -> [Any] {
        guard !descriptors.isEmpty else { return objects }
        guard descriptors.allSatisfy({ type(of: $0) == NSSortDescriptor.self }) else {
            return objects.sorted { left, right in
                isBefore(descriptors) { _, descriptor in descriptor.compare(left, to: right) }
            }
        }
        let values = descriptors.map { descriptor in objects.map { descriptor.sortValue(of: $0) } }
        let order = objects.indices.sorted { left, right in
            isBefore(descriptors) { index, descriptor in
                descriptor.order(values[index][left], values[index][right])
            }
        }
        return order.map { objects[$0] }
    }

    private static func isBefore(
        _ descriptors: [NSSortDescriptor], _ compare: (Int, NSSortDescriptor) -> ComparisonResult
    ) -> Bool {
        for (index, descriptor) in descriptors.enumerated() {
            switch compare(index, descriptor) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return false
    }
}
