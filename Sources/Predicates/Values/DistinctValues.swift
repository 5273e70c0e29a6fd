/// Values without an order that no `Set` can hold. A `Set` treats texts that differ only in how a
/// letter is composed as equal.
struct DistinctValues: Collection {
    let values: [Any]

    var startIndex: Int { 0 }
    var endIndex: Int { values.count }

    subscript(index: Int) -> Any { values[index] }

    func index(after index: Int) -> Int { index + 1 }
}
