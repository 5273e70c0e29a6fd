extension Snapshot {
    /// Whether two states of a row have the same values, whatever their versions.
    ///
    /// - Parameters:
    ///   - isSame: whether two references refer to the same row.
    ///   - isSameArchived: whether two transformable values, in a slot of both rows, are equal
    ///     although their archives differ.
    package func hasSameValues(
        as other: Snapshot, comparesDerived: Bool = true,
        sameRow isSame: (RowReference, RowReference) -> Bool = { $0.key == $1.key },
        sameArchived isSameArchived: (Int) -> Bool = { _ in false }
    ) -> Bool {
        if row == other.row { return true }
        guard layout === other.layout else { return false }
        for slot in 0..<layout.storedCount {
            if !comparesDerived, layout.slots[slot].isDerived { continue }
            if isNull(slot) != other.isNull(slot) { return false }
            if isNull(slot) { continue }
            switch layout.slots[slot].kind {
            case .toOne:
                if !isSame(reference(slot), other.reference(slot)) { return false }
            case .string, .uri, .data, .json, .transformable, .decimal, .uuid:
                if page.bytes(row, slot).elementsEqual(other.page.bytes(other.row, slot)) { continue }
                if layout.slots[slot].kind != .transformable || !isSameArchived(slot) { return false }
            default:
                if row[slot] != other.row[slot] { return false }
            }
        }
        return true
    }
}
