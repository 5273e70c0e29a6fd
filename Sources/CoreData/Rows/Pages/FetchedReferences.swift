/// The references to the rows that a fetch has found, in order.
///
/// There may be very many. So the keys are in one array, and entities are kept only where they
/// differ.
package struct FetchedReferences: RandomAccessCollection, Sendable {
    /// The keys in the order of the result.
    private(set) var keys: [Int64] = []
    /// Index in the model of the entity of all rows; meaningless where entities differ.
    private let layoutIndex: Int
    /// The index of each row's entity if entities differ; empty otherwise.
    private var layoutIndexes: [Int32] = []
    /// Whether no key occurs twice.
    package var areDistinct = false

    /// - Parameter layoutIndex: index in the model of the entity that most rows will be of.
    package init(of layoutIndex: Int) { self.layoutIndex = layoutIndex }

    init(_ references: some Collection<RowReference>) {
        self.init(of: references.first?.layoutIndex ?? 0)
        for reference in references { append(reference) }
    }

    package mutating func append(_ reference: RowReference) {
        if reference.layoutIndex != layoutIndex, layoutIndexes.isEmpty {
            layoutIndexes = Array(repeating: Int32(truncatingIfNeeded: layoutIndex), count: keys.count)
        }
        if reference.layoutIndex != layoutIndex || !layoutIndexes.isEmpty {
            layoutIndexes.append(Int32(truncatingIfNeeded: reference.layoutIndex))
        }
        keys.append(reference.key)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { keys.count }

    package subscript(position: Int) -> RowReference {
        RowReference(key: keys[position], layoutIndex: layoutIndex(at: position))
    }

    /// Returns the index in the model of the entity of the row at a position.
    func layoutIndex(at position: Int) -> Int { layoutIndexes.isEmpty ? layoutIndex : Int(layoutIndexes[position]) }

    /// Returns the end of the rows, from a position up to a limit, that have the same entity as the
    /// first of them.
    func end(ofEntityAt start: Int, upTo limit: Int) -> Int {
        if layoutIndexes.isEmpty { return limit }
        var end = start + 1
        while end < limit, layoutIndexes[end] == layoutIndexes[start] { end += 1 }
        return end
    }
}
