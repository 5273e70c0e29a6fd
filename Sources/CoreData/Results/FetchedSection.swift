import Foundation

/// A section of results: an `NSObject`, so that Foundation's collections find it.
final class FetchedSection: NSObject, NSFetchedResultsSectionInfo {
    /// The name, which identifies the section.
    let key: LiteralText
    private(set) var items: RankedList<NSObject>
    /// The leaf with the section, which the list keeps while the section is in it.
    unowned var leaf: RankedNode<FetchedSection>?
    private weak var titles: (any SectionTitles)?

    init(
        key: LiteralText, _ objects: ArraySlice<NSObject> = [], titles: (any SectionTitles)?,
        placed: @escaping (NSObject, RankedNode<NSObject>) -> Void
    ) {
        self.key = key
        self.titles = titles
        items = RankedList(objects, placed: placed)
        super.init()
        items.owner = self
    }

    var name: String { key.text }

    var indexTitle: String? { titles.map { $0.indexTitle(ofSection: name) } ?? Self.defaultIndexTitle(name) }

    var numberOfObjects: Int { items.count }

    var objects: [Any]? { items.array }

    /// The first letter, as a capital.
    static func defaultIndexTitle(_ name: String) -> String? { name.first.map { String($0).uppercased() } }
}

/// Makes the titles of sections.
protocol SectionTitles: AnyObject {
    func indexTitle(ofSection name: String) -> String?
    /// Fetches the results again.
    func performFetch() throws
}

/// A place in results: a section, and a row in it.
struct ResultsPath: Comparable {
    var section: Int
    var row: Int

    static func < (left: ResultsPath, right: ResultsPath) -> Bool {
        left.section == right.section ? left.row < right.row : left.section < right.section
    }

    var indexPath: IndexPath { IndexPath(item: row, section: section) }
}
