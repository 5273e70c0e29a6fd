import Foundation

/// Results in their sections: finding objects and places, and changes, take logarithmic time.
final class ResultsContents {
    /// The sections, in order.
    private(set) var sections: RankedList<FetchedSection>
    private var named: [LiteralText: FetchedSection] = [:]
    private let places: PlaceTable
    private weak var titles: (any SectionTitles)?
    /// The number of objects.
    private(set) var count: Int
    /// Grows with each change.
    private(set) var version = 0

    /// The leaves of objects, filled when a place is first looked up.
    private final class PlaceTable {
        // Unretained: the sections keep the leaves.
        var leaves: [ObjectIdentifier: Unretained<RankedNode<NSObject>>]?

        func place(_ object: NSObject, _ leaf: RankedNode<NSObject>) {
            leaves?[ObjectIdentifier(object)] = Unretained(leaf)
        }
    }

    /// - Parameters:
    ///   - objects: the results, in order.
    ///   - sectionName: the name of an object's section; nil for a single section.
    /// - Throws: `SectionOutOfOrder` for the first object whose section has ended before it.
    init(_ objects: [NSObject], titles: (any SectionTitles)?, sectionName: ((NSObject) throws -> LiteralText)?) throws {
        let places = PlaceTable()
        self.places = places
        self.titles = titles
        count = objects.count
        var made: [FetchedSection] = []
        func append(_ name: LiteralText, _ range: Range<Int>) throws {
            let section = FetchedSection(key: name, objects[range], titles: titles, placed: places.place)
            made.append(section)
            if named.updateValue(section, forKey: name) != nil {
                throw SectionOutOfOrder(name: name.text, place: range.lowerBound)
            }
        }
        sections = RankedList(placed: { $0.leaf = $1 })
        if let sectionName {
            var start = 0
            var name = LiteralText("")
            for (place, object) in objects.enumerated() {
                let next = try sectionName(object)
                if next == name, place > 0 { continue }
                if place > start { try append(name, start..<place) }
                (name, start) = (next, place)
            }
            if start < objects.count { try append(name, start..<objects.count) }
        } else {
            try append(LiteralText(""), 0..<objects.count)
        }
        sections = RankedList(made[...], placed: { $0.leaf = $1 })
        sections.forEachLeaf { leaf in for section in leaf.elements { section.leaf = leaf } }
    }

    struct SectionOutOfOrder: Error {
        let name: String
        let place: Int
    }

    /// Creates results from objects of any kind, in order, without sections.
    convenience init(_ objects: [NSObject], titles: (any SectionTitles)?) {
        // One section is never out of order.
        do { try self.init(objects, titles: titles, sectionName: nil) } catch { preconditionFailure("\(error)") }
    }

    /// Returns results in sections, whatever the order of the objects. A section is at the place of
    /// its first object, and has all other objects of its name.
    static func grouped(
        _ objects: [NSObject], titles: (any SectionTitles)?, by name: @escaping (NSObject) -> LiteralText
    )
        -> ResultsContents
    {
        do {
            return try ResultsContents(objects, titles: titles, sectionName: name)
        } catch {
            var names: [LiteralText] = []
            var groups: [LiteralText: [NSObject]] = [:]
            for object in objects {
                let name = name(object)
                if groups[name] == nil { names.append(name) }
                groups[name, default: []].append(object)
            }
            let sorted = names.flatMap { groups[$0] ?? [] }
            // Each name has one run of objects now.
            do { return try ResultsContents(sorted, titles: titles, sectionName: name) } catch {
                preconditionFailure("\(error)")
            }
        }
    }

    /// All objects, in order.
    var objects: [NSObject] {
        let sections = sections.array
        if sections.count == 1 { return sections[0].items.array }
        return sections.flatMap(\.items.array)
    }

    func section(named name: LiteralText) -> FetchedSection? { named[name] }

    // MARK: Places

    func object(at path: ResultsPath) -> NSObject { sections[path.section].items[path.row] }

    func contains(_ object: NSObject) -> Bool { leaf(of: object) != nil }

    private func leaf(of object: NSObject) -> RankedNode<NSObject>? {
        if places.leaves == nil { fillPlaces() }
        return places.leaves?[ObjectIdentifier(object)]?.object
    }

    private func fillPlaces() {
        var leaves: [ObjectIdentifier: Unretained<RankedNode<NSObject>>] = [:]
        leaves.reserveCapacity(count)
        for section in sections.array {
            section.items.forEachLeaf { leaf in
                for object in leaf.elements { leaves[ObjectIdentifier(object)] = Unretained(leaf) }
            }
        }
        places.leaves = leaves
    }

    /// The section of an object, and its row there.
    func place(of object: NSObject) -> (section: FetchedSection, row: Int)? {
        guard let leaf = leaf(of: object), let section = RankedList.list(of: leaf)?.owner as? FetchedSection else {
            return nil
        }
        return (section, RankedList.place(of: object, in: leaf))
    }

    func path(of object: NSObject) -> ResultsPath? {
        place(of: object).map { ResultsPath(section: index(of: $0.section), row: $0.row) }
    }

    /// The number of a section.
    func index(of section: FetchedSection) -> Int { section.leaf.map { RankedList.place(of: section, in: $0) } ?? 0 }

    // MARK: Changing

    func remove(_ object: NSObject) {
        guard let (section, row) = place(of: object) else { return }
        section.items.remove(at: row)
        forget(object)
    }

    private func forget(_ object: NSObject) {
        places.leaves?[ObjectIdentifier(object)] = nil
        count -= 1
        version += 1
    }

    func insert(_ object: NSObject, in section: FetchedSection, at row: Int) {
        if places.leaves == nil { fillPlaces() }
        section.items.insert(object, at: row)
        count += 1
        version += 1
    }

    func makeSection(named name: LiteralText, at index: Int) -> FetchedSection {
        let section = FetchedSection(key: name, titles: titles, placed: places.place)
        insert(section, at: index)
        return section
    }

    func insert(_ section: FetchedSection, at index: Int) {
        sections.insert(section, at: index)
        named[section.key] = section
        version += 1
    }

    func remove(_ section: FetchedSection) {
        sections.remove(at: index(of: section))
        if named[section.key] === section { named[section.key] = nil }
        section.leaf = nil
        version += 1
    }

    /// Makes changes by their places alone, as a listener does.
    func replay(_ changes: ResultsChanges) {
        let left = changes.objects.compactMap { change in change.leaves ? change.old.map { ($0, change.object) } : nil }
        for (path, object) in left.sorted(by: { $0.0 > $1.0 }) {
            sections[path.section].items.remove(at: path.row)
            forget(object)
        }
        for change in changes.sections.filter({ $0.kind == .delete }).sorted(by: { $0.index > $1.index }) {
            remove(change.section)
        }
        for change in changes.sections.filter({ $0.kind == .insert }).sorted(by: { $0.index < $1.index }) {
            insert(change.section, at: change.index)
        }
        let came = changes.objects.compactMap { change in change.comes ? change.new.map { ($0, change.object) } : nil }
        for (path, object) in came.sorted(by: { $0.0 < $1.0 }) {
            insert(object, in: sections[path.section], at: path.row)
        }
    }
}
