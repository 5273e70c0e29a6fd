import Foundation

/// An object's value for one sort criterion.
struct SortValue {
    let value: Any?
    let comparable: ComparableValue
}

/// Sorting by several criteria.
enum SortOrder {
    /// Sorts objects by the descriptors; the first descriptor takes precedence.
    ///
    /// Objects that are the same under all descriptors keep their order.
    ///
    /// Reads each object's values once, unless a descriptor is of a subclass, which may compare in
    /// its own way.
    static func sorted(_ objects: [Any], by descriptors: [NSSortDescriptor]) -> [Any] {
        descriptors.order(of: objects).map { objects[$0] }
    }

    fileprivate static func isBefore(
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

extension [NSSortDescriptor] {
    /// Returns the indices of the objects in the order of the descriptors.
    ///
    /// See `SortOrder.sorted(_:by:)`.
    package func order(of objects: [Any]) -> [Int] {
        guard !isEmpty else { return Array<Int>(objects.indices) }
        guard allSatisfy({ type(of: $0) == NSSortDescriptor.self }) else {
            return objects.indices.sorted { left, right in
                SortOrder.isBefore(self) { _, descriptor in descriptor.compare(objects[left], to: objects[right]) }
            }
        }
        let values = map { descriptor in objects.map { descriptor.sortValue(of: $0) } }
        return objects.indices.sorted { left, right in
            SortOrder.isBefore(self) { index, descriptor in
                descriptor.order(values[index][left], values[index][right])
            }
        }
    }
}
