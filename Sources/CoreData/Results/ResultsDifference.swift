import Foundation

/// The changes between two states of results, found by comparing them.
///
/// For requests with a limit or an offset, where one change moves other objects in and out. The
/// work grows with the number of results.
struct ResultsDifference {
    private let old: ResultsContents
    private let new: ResultsContents
    private let touched: TouchedObjects

    init(from old: ResultsContents, to new: ResultsContents, touched: TouchedObjects) {
        self.old = old
        self.new = new
        self.touched = touched
    }

    func changes() -> ResultsChanges {
        var changes = ResultsChanges()
        let (oldSections, newSections) = (old.sections.array, new.sections.array)
        // Sections that stay have the same order; others are deleted and inserted again.
        var oldIndexes: [LiteralText: Int] = [:]
        for (index, section) in oldSections.enumerated() { oldIndexes[section.key] = index }
        let common = newSections.indices.filter { oldIndexes[newSections[$0].key] != nil }
        let kept = Set(
            Self.longestRise(common.map { oldIndexes[newSections[$0].key] ?? 0 }).map { newSections[common[$0]].key })
        for (index, section) in oldSections.enumerated() where !kept.contains(section.key) {
            changes.sections.append(ResultsChanges.SectionChange(section: section, kind: .delete, index: index))
        }
        for (index, section) in newSections.enumerated() where !kept.contains(section.key) {
            changes.sections.append(ResultsChanges.SectionChange(section: section, kind: .insert, index: index))
        }
        compareObjects(oldSections, newSections, keptSections: kept, &changes)
        changes.sort()
        return changes
    }

    private struct Place {
        let object: NSManagedObject
        let path: ResultsPath
        let section: LiteralText
    }

    private func compareObjects(
        _ oldSections: [FetchedSection], _ newSections: [FetchedSection], keptSections: Set<LiteralText>,
        _ changes: inout ResultsChanges
    ) {
        func places(_ sections: [FetchedSection]) -> [Place] {
            sections.enumerated().flatMap { index, section in
                section.items.array.enumerated().compactMap { row, object in
                    (object as? NSManagedObject).map {
                        Place(object: $0, path: ResultsPath(section: index, row: row), section: section.key)
                    }
                }
            }
        }
        let (before, after) = (places(oldSections), places(newSections))
        var positions: [ObjectIdentifier: Int] = [:]
        for (position, place) in before.enumerated() { positions[ObjectIdentifier(place.object)] = position }
        var reasons: [ObjectIdentifier: TouchedObjects.Reason] = [:]
        for (object, reason) in touched.objects { reasons[ObjectIdentifier(object)] = reason }
        func mayStay(_ place: Place, _ position: Int) -> Bool {
            place.section == before[position].section && keptSections.contains(place.section)
                && reasons[ObjectIdentifier(place.object)] != .placed
        }
        let stationary = after.compactMap { place in
            positions[ObjectIdentifier(place.object)].flatMap { mayStay(place, $0) ? $0 : nil }
        }
        let staying = Set(Self.longestRise(stationary).map { stationary[$0] })
        var remaining = Set(positions.values)
        for place in after {
            guard let position = positions[ObjectIdentifier(place.object)] else {
                changes.objects.append(
                    ResultsChanges.ObjectChange(object: place.object, kind: .insert, old: nil, new: place.path))
                continue
            }
            remaining.remove(position)
            let isUpdated = reasons[ObjectIdentifier(place.object)] != nil
            if staying.contains(position), !isUpdated { continue }
            changes.objects.append(
                ResultsChanges.ObjectChange(
                    object: place.object, kind: staying.contains(position) ? .update : .move,
                    old: before[position].path, new: place.path))
        }
        for position in remaining {
            changes.objects.append(
                ResultsChanges.ObjectChange(
                    object: before[position].object, kind: .delete, old: before[position].path, new: nil))
        }
    }

    /// The places of a longest rising subsequence of different numbers.
    static func longestRise(_ numbers: [Int]) -> [Int] {
        // By length: the place of the smallest number that ends a rise of that length.
        var ends: [Int] = []
        var previous = Array(repeating: -1, count: numbers.count)
        for (place, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var result: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            result.append(place)
            place = previous[place]
        }
        return result.reversed()
    }
}
