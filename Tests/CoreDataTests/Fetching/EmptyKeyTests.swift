import CoreData
import TestSupport
import Testing

/// Key paths with an empty key name nothing, and are refused wherever they stand.
struct EmptyKeyTests {
    static let keyPaths = ["", ".", "title.", ".title", "author..name", "author.name."]

    @Test(arguments: StoreKind.allCases, keyPaths)
    func everyPartOfARequestRefusesAnEmptyKey(kind: StoreKind, keyPath: String) throws {
        let library = try Library(kind)
        library.context.book("Notes", pages: 1).author = library.context.author("Ada")
        try library.context.save()
        let context = library.newContext()
        func isRefused(_ change: (NSFetchRequest<any NSFetchRequestResult>) -> Void) -> Bool {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            change(request)
            return errorThrown { _ = try context.fetch(request) as [Any] } != nil
        }
        for hasChanges in [false, true] {
            if hasChanges { context.book("New", pages: 2) }
            let path = NSExpression(forKeyPath: keyPath)
            #expect(
                isRefused {
                    $0.predicate = NSComparisonPredicate(
                        leftExpression: path, rightExpression: NSExpression(forConstantValue: "Notes"),
                        modifier: .direct, type: .equalTo)
                })
            #expect(isRefused { $0.sortDescriptors = [NSSortDescriptor(key: keyPath, ascending: true)] })
            if hasChanges { continue }
            #expect(
                isRefused {
                    $0.resultType = .dictionaryResultType
                    $0.propertiesToFetch = [keyPath]
                })
            #expect(
                isRefused {
                    $0.resultType = .dictionaryResultType
                    $0.propertiesToFetch = ["title", keyPath]
                    $0.propertiesToGroupBy = ["title", keyPath]
                })
            #expect(
                isRefused { $0.relationshipKeyPathsForPrefetching = [keyPath == "author.name." ? "author." : keyPath] })
        }
    }
}
