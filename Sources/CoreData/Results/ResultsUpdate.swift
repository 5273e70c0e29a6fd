import Foundation

/// Updates results with the changes of an event.
///
/// The work grows with the number of objects of the event and the logarithm of the number of
/// results. Untouched objects keep their order, so that places among them are found by bisection.
/// The touched objects are removed first, and then inserted at their places.
struct ResultsUpdate {
    private let contents: ResultsContents
    private let query: ResultsQuery
    private let touched: TouchedObjects

    /// An object of the former results, with its place.
    private struct Candidate {
        let object: NSManagedObject
        let old: ResultsPath
    }

    private var changes = ResultsChanges()
    private var deleted: [Candidate] = []
    private var updated: [Candidate] = []
    /// Objects that may have lost their place.
    private var doubtful: [Candidate] = []
    private var moved: [Candidate] = []
    private var inserted: [NSManagedObject] = []
    /// Sections that lost objects, with their former numbers.
    private var left: [ObjectIdentifier: (section: FetchedSection, index: Int)] = [:]

    init(_ contents: ResultsContents, _ query: ResultsQuery, _ touched: TouchedObjects) {
        self.contents = contents
        self.query = query
        self.touched = touched
    }

    mutating func run() -> ResultsChanges {
        sortOut()
        take(deleted)
        take(moved)
        decideDoubtful()
        if !moved.isEmpty || !inserted.isEmpty || !deleted.isEmpty { place() }
        report()
        return changes
    }

    private mutating func sortOut() {
        for (object, reason) in touched.objects {
            let old = contents.path(of: object)
            let matches = touched.matches(object)
            switch (old, matches) {
            case (nil, false): continue
            case (nil, true): inserted.append(object)
            case (let old?, false): deleted.append(Candidate(object: object, old: old))
            case (let old?, true):
                let candidate = Candidate(object: object, old: old)
                switch reason {
                case .changed: updated.append(candidate)
                case .placed: moved.append(candidate)
                case .unknown: doubtful.append(candidate)
                }
            }
        }
    }

    private mutating func take(_ candidates: [Candidate]) {
        for candidate in candidates {
            guard let section = contents.place(of: candidate.object)?.section else { continue }
            left[ObjectIdentifier(section)] = (section, candidate.old.section)
            contents.remove(candidate.object)
        }
    }

    // MARK: Objects that may have lost their place

    /// Lets stay as many doubtful objects as are in order between the nearest sure ones.
    private mutating func decideDoubtful() {
        if doubtful.isEmpty { return }
        doubtful.sort { $0.old < $1.old }
        let places = doubtful.map { contents.place(of: $0.object) }
        let isDoubtful = Set(doubtful.map { ObjectIdentifier($0.object) })
        // A doubtful neighbour is beside it among the doubtful ones: its own neighbours count.
        var next: [NSManagedObject?] = Array(repeating: nil, count: doubtful.count)
        for index in doubtful.indices.reversed() {
            guard let (section, row) = places[index] else { continue }
            let neighbour = neighbour(of: row, section, 1)
            let isSure = neighbour.map { !isDoubtful.contains(ObjectIdentifier($0)) } ?? true
            next[index] = isSure || index + 1 == doubtful.count ? neighbour : next[index + 1]
        }
        var previous: NSManagedObject?
        var between: [Int] = []
        for (index, candidate) in doubtful.enumerated() {
            guard let (section, row) = places[index] else { continue }
            let neighbour = neighbour(of: row, section, -1)
            if neighbour.map({ !isDoubtful.contains(ObjectIdentifier($0)) }) ?? true { previous = neighbour }
            if sectionName(of: candidate.object) == section.key,
                !(previous.map { query.order.isAfter($0, candidate.object) } ?? false),
                !(next[index].map { query.order.isAfter(candidate.object, $0) } ?? false)
            {
                between.append(index)
            }
        }
        let inOrder = between.indices.sorted { left, right in
            let (first, second) = (doubtful[between[left]].object, doubtful[between[right]].object)
            if query.order.isAfter(second, first) { return true }
            return left < right && !query.order.isAfter(first, second)
        }
        var ranks = Array(repeating: 0, count: between.count)
        for (rank, place) in inOrder.enumerated() { ranks[place] = rank }
        let staying = Set(ResultsDifference.longestRise(ranks).map { between[$0] })
        var movers: [Candidate] = []
        for (index, candidate) in doubtful.enumerated() {
            if staying.contains(index) { updated.append(candidate) } else { movers.append(candidate) }
        }
        moved += movers
        take(movers)
    }

    /// - Parameter step: 1 for the object after a row, -1 for the one before it.
    private func neighbour(of row: Int, _ section: FetchedSection, _ step: Int) -> NSManagedObject? {
        if (0..<section.items.count).contains(row + step) { return section.items[row + step] as? NSManagedObject }
        var index = contents.index(of: section) + step
        while (0..<contents.sections.count).contains(index) {
            let items = contents.sections[index].items
            if items.count > 0 { return items[step < 0 ? items.count - 1 : 0] as? NSManagedObject }
            index += step
        }
        return nil
    }

    private func sectionName(of object: NSManagedObject) -> LiteralText {
        query.sectionName?.of(object) ?? LiteralText("")
    }

    // MARK: Places

    private mutating func place() {
        let coming = query.order.sorted(moved.map(\.object) + inserted)
        var emptied = left.values.filter { $0.section.items.count == 0 && query.sectionName != nil }
        var homeless: [(name: LiteralText, objects: [NSManagedObject])] = []
        var homelessIndex: [LiteralText: Int] = [:]
        func wait(_ object: NSManagedObject, _ name: LiteralText) {
            if let index = homelessIndex[name] {
                homeless[index].objects.append(object)
            } else {
                homelessIndex[name] = homeless.count
                homeless.append((name, [object]))
            }
        }
        for object in coming {
            let name = sectionName(of: object)
            if let section = contents.section(named: name) { insert(object, section) } else { wait(object, name) }
        }
        // A section that has objects again stays where it is, if that is still its place.
        emptied.removeAll { section, _ in section.items.count > 0 && isInPlace(section) }
        for (section, index) in emptied {
            for object in section.items.array {
                contents.remove(object)
                if let object = object as? NSManagedObject { wait(object, section.key) }
            }
            contents.remove(section)
            changes.sections.append(ResultsChanges.SectionChange(section: section, kind: .delete, index: index))
        }
        var made: [FetchedSection] = []
        for (name, objects) in homeless {
            guard let first = objects.first else { continue }
            let index = contents.sections.firstPlace { section in
                (section.items[0] as? NSManagedObject).map { query.order.isAfter($0, first) } ?? true
            }
            let section = contents.makeSection(named: name, at: index)
            for object in objects { insert(object, section) }
            made.append(section)
        }
        changes.sections += made.map {
            ResultsChanges.SectionChange(section: $0, kind: .insert, index: contents.index(of: $0))
        }
    }

    private func insert(_ object: NSManagedObject, _ section: FetchedSection) {
        let row = section.items.firstPlace { other in
            (other as? NSManagedObject).map { query.order.compareFully($0, object) == .orderedDescending } ?? true
        }
        contents.insert(object, in: section, at: row)
    }

    private func isInPlace(_ section: FetchedSection) -> Bool {
        guard let first = section.items[0] as? NSManagedObject,
            let last = section.items[section.items.count - 1] as? NSManagedObject
        else { return true }
        if let before = neighbour(of: 0, section, -1), query.order.isAfter(before, first) { return false }
        if let after = neighbour(of: section.items.count - 1, section, 1), query.order.isAfter(last, after) {
            return false
        }
        return true
    }

    // MARK: Reporting

    private mutating func report() {
        func change(_ candidate: Candidate, _ kind: NSFetchedResultsChangeType) -> ResultsChanges.ObjectChange {
            ResultsChanges.ObjectChange(
                object: candidate.object, kind: kind, old: candidate.old,
                new: kind == .delete ? nil : contents.path(of: candidate.object))
        }
        changes.objects = deleted.map { change($0, .delete) }
        changes.objects += inserted.map {
            ResultsChanges.ObjectChange(object: $0, kind: .insert, old: nil, new: contents.path(of: $0))
        }
        changes.objects += moved.map { change($0, .move) }
        changes.objects += updated.map { change($0, .update) }
        changes.sort()
    }
}
