/// Values without an order that no `Set` can hold.
///
/// A `Set` treats texts that differ only in how a letter is composed as equal.
struct DistinctValues: Collection {
    let values: [Any]

    var startIndex: Int { 0 }
    var endIndex: Int { values.count }

    subscript(index: Int) -> Any { values[index] }

    func index(after index: Int) -> Int { index + 1 }

    /// Returns a value in the form that programs get: an array in place of these values.
    static func listed(_ value: Any?) -> Any? {
        if let values = value as? DistinctValues { return values.values }
        return value
    }
}
