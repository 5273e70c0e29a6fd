import Foundation

struct SortValue {
    let value: Any?
    let comparable: ComparableValue
}

extension [NSSortDescriptor] {
    /// Sorts objects by the descriptors; the first descriptor takes precedence.
    func arrange(_ objects: [Any]) -> [Any] { order(of: objects).map { objects[$0] } }

    /// Returns the indices of the objects in the order of the descriptors. Objects that are the
    /// same under all descriptors keep their order. Reads each object's values once, unless a
    /// descriptor is of a subclass, which may compare in its own way.
    package func order(of objects: [Any]) -> [Int] {
        guard !isEmpty else { return Array<Int>(objects.indices) }
        guard allSatisfy({ type(of: $0) == NSSortDescriptor.self }) else {
            return objects.indices.sorted { left, right in
                isBefore { _, descriptor in descriptor.compare(objects[left], to: objects[right]) }
            }
        }
        let values = map { descriptor in objects.map { descriptor.sortValue(of: $0) } }
        return objects.indices.sorted { left, right in
            isBefore { index, descriptor in descriptor.order(values[index][left], values[index][right]) }
        }
    }

    private func isBefore(_ compare: (Int, NSSortDescriptor) -> ComparisonResult) -> Bool {
        for (index, descriptor) in enumerated() {
            switch compare(index, descriptor) {
            case .orderedAscending: return true
            case .orderedDescending: return false
            case .orderedSame: continue
            }
        }
        return false
    }
}
