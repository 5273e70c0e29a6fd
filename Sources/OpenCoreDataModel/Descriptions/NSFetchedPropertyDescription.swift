import Foundation

/// A property whose value is the result of a fetch request.
///
/// (developer.apple.com/documentation/coredata/nsfetchedpropertydescription)
///
/// ```swift
/// let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
/// request.predicate = NSPredicate(format: "category == $FETCH_SOURCE.category")
/// let similar = NSFetchedPropertyDescription()
/// similar.name = "similar"
/// similar.fetchRequest = request
/// item.properties.append(similar)
/// ```
open class NSFetchedPropertyDescription: NSPropertyDescription, @unchecked Sendable {
    package var fetchRequestTemplate: FetchRequestTemplate? { willSet { requireEditable("fetchRequest") } }

    override func takeState(of other: NSPropertyDescription) {
        super.takeState(of: other)
        guard let other = other as? NSFetchedPropertyDescription else { return }
        fetchRequestTemplate = other.fetchRequestTemplate
    }

    override var kindName: String { "fetched property" }
}
