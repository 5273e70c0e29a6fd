import Foundation

// Errors of fetched results controllers. The code is 134060, as on a Mac for objects that are not
// in the order of their sections. Cases that raise an exception on a Mac have the same code.
extension CoreDataErrors {
    static func resultsWithoutOrder(of entity: String?) -> NSError {
        misuse(
            "The fetch request for \(entity ?? "?") of a fetched results controller has no sort descriptors.",
            recovery:
                "Set sortDescriptors: sections and index paths need an order; an empty array leaves it to the store.")
    }

    static func resultsAsCount(_ request: String) -> NSError {
        misuse(
            "A fetched results controller cannot show a count (\(request)).",
            recovery: "Use the result type of managed objects, or count(for:) of the context.")
    }

    static func resultOfOtherType(
        _ found: Any.Type, at place: Int, of entity: String?, as resultType: NSFetchRequestResultType, wanted: Any.Type
    ) -> NSError {
        misuse(
            "A fetched results controller for \(wanted) has fetched an object of the class \(found) at index "
                + "\(place) (entity "
                + "\(entity ?? "?"), result type \(resultType.rawValue)).",
            recovery:
                "Fetch an entity, and a result type, whose results are of the controller's type, or make the "
                + "controller for theirs."
        )
    }

    static func sectionsOfObjectIDs(_ request: String, by keyPath: String) -> NSError {
        misuse(
            "Object IDs cannot be put into sections by \"\(keyPath)\" (\(request)).",
            recovery: "Use the result type of managed objects, or no section key path.")
    }

    static func sectionOutOfOrder(
        _ problem: ResultsContents.SectionOutOfOrder, _ request: String, by keyPath: String, first: String
    ) -> NSError {
        let reason =
            "The fetched object at index \(problem.place) is in the section \"\(problem.name)\", which had ended "
            + "before it"
        return misuse(
            reason + " (\(request), section key path \"\(keyPath)\", first sort descriptor \(first)).",
            recovery:
                "The first sort descriptor must have the key of the section key path, or another that gives the same "
                + "order.",
            userInfo: ["reason": reason])
    }

    static func cacheOfOtherRequest(_ cache: String, for entity: String?) -> NSError {
        misuse(
            "The fetch request for \(entity ?? "?") of a fetched results controller has changed, but its cache "
                + "\"\(cache)\" was made for the "
                + "former one.",
            recovery:
                "Call NSFetchedResultsController.deleteCache(withName:) before you change entity, predicate or sort "
                + "descriptors, "
                + "or make the controller without a cache.")
    }
}
