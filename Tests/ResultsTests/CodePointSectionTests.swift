import CoreData
import TestSupport
import Testing

/// Sections whose names differ only in how a letter is composed are two.
struct CodePointSectionTests {
    private static let short = "caf\u{e9}"
    private static let long = "cafe\u{301}"

    private func lengths(_ shelf: BookShelf) -> [Int] {
        (shelf.controller.sections ?? []).map { $0.name.unicodeScalars.count }
    }

    @Test(arguments: [StoreKind.sqlite, .inMemory]) func eachHasItsSection(kind: StoreKind) throws {
        let shelf = try BookShelf([Self.short, "caff", Self.long], sections: "title", kind: kind)
        #expect(lengths(shelf) == [5, 4, 4])
        #expect(shelf.controller.sections?.map(\.numberOfObjects) == [1, 1, 1])
        #expect(shelf.controller.sections?.map(\.name.unicodeScalars.last) == ["\u{301}", "f", "\u{e9}"])
    }

    @Test func anObjectMovesFromOneToTheOther() throws {
        let shelf = try BookShelf([Self.short, "caff", "tea"], sections: "title")
        try shelf.book("tea").title = Self.long
        shelf.process()
        #expect(lengths(shelf) == [5, 4, 4])
        try shelf.book("caff").title = Self.short
        shelf.process()
        #expect(lengths(shelf) == [5, 4])
        #expect(shelf.controller.sections?.map(\.numberOfObjects) == [1, 2])
    }

    @Test func changesOfALimitedFetchTellThemApart() throws {
        let shelf = try BookShelf([Self.short, "caff", "tea"], sections: "title", limit: 5)
        try shelf.book("tea").title = Self.long
        shelf.process()
        #expect(lengths(shelf) == [5, 4, 4])
    }

    @Test func aSnapshotHasBoth() throws {
        var snapshot = NSDiffableDataSourceSnapshot<String, Int>()
        snapshot.appendSections([Self.short, Self.long])
        snapshot.appendItems([1], toSection: Self.short)
        snapshot.appendItems([2], toSection: Self.long)
        #expect(snapshot.itemIdentifiers(inSection: Self.short) == [1])
        #expect(snapshot.indexOfSection(Self.long) == 1)
        #expect(snapshot.sectionIdentifier(containingItem: 2)?.unicodeScalars.count == 5)
        let copy = (snapshot as NSDiffableDataSourceSnapshotReference) as NSDiffableDataSourceSnapshot<String, Int>
        #expect(copy.sectionIdentifiers.map(\.unicodeScalars.count) == [4, 5])
        snapshot.deleteSections([Self.short])
        #expect(snapshot.sectionIdentifiers.map(\.unicodeScalars.count) == [5])
    }
}
