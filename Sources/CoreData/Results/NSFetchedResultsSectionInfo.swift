/// A section of a fetched results controller.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsfetchedresultssectioninfo>
///
/// ```swift
/// for section in controller.sections ?? [] { print(section.name, section.numberOfObjects) }
/// ```
public protocol NSFetchedResultsSectionInfo: AnyObject {
    /// The section's name: the value of the section key path of its objects, as text.
    var name: String { get }
    /// The title of the section in an index.
    var indexTitle: String? { get }
    /// The number of objects in the section.
    var numberOfObjects: Int { get }
    /// The objects of the section, in order.
    ///
    /// Takes time for each of them; `NSFetchedResultsController.object(at:)` finds a single one.
    var objects: [Any]? { get }
}
