import Foundation

/// The way in which an element of an index is stored.
///
/// ```swift
/// let name = NSFetchIndexElementDescription(property: nameAttribute, collationType: .binary)
/// ```
public enum NSFetchIndexElementType: UInt, Sendable, Hashable, CaseIterable {
    /// In order of value.
    case binary = 0
    /// In an R-tree, for ranges in several dimensions.
    ///
    /// Stored with the model, but SQLite stores make no index of such elements here.
    case rTree = 1
}

/// One property (or expression) in an index.
///
/// (developer.apple.com/documentation/coredata/nsfetchindexelementdescription)
///
/// ```swift
/// let date = NSFetchIndexElementDescription(property: dateAttribute, collationType: .binary)
/// date.isAscending = false                                // the latest first
/// entity.indexes = [NSFetchIndexDescription(name: "byDate", elements: [date])]
/// ```
open class NSFetchIndexElementDescription: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: as for NSPropertyDescription, everything is constant once `isFrozen` is set.

    /// Whether the model is in use, after which nothing in this object changes.
    var isFrozen = false

    /// The attribute, to-one relationship or expression that is indexed.
    public let property: NSPropertyDescription?

    /// The index that lists this element.
    public internal(set) weak var indexDescription: NSFetchIndexDescription?

    /// The way in which the element is stored; binary unless set.
    open var collationType: NSFetchIndexElementType {
        willSet { requireEditable() }
        didSet {
            if let index = indexDescription, let problem = NSFetchIndexDescription.problem(in: index.elements) {
                preconditionFailure("index '\(index.name)': \(problem)")
            }
        }
    }

    /// Whether values ascend. True unless set.
    open var isAscending: Bool = true { willSet { requireEditable() } }

    /// Creates an element for a property of an entity or an expression.
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        self.property = property
        self.collationType = collationType
        super.init()
    }

    /// The name of the property.
    open var propertyName: String? { property?.name }

    /// Returns an editable copy that belongs to no index, with the same property.
    open func copy(with zone: NSZone? = nil) -> Any {
        copy(replacing: { $0 })
    }

    func copy(
        replacing replacement: (NSPropertyDescription) -> NSPropertyDescription
    ) -> NSFetchIndexElementDescription {
        let copy = NSFetchIndexElementDescription(
            property: replacement(property ?? NSPropertyDescription()), collationType: collationType)
        copy.isAscending = isAscending
        return copy
    }

    func freeze() {
        isFrozen = true
        if let expression = property as? NSExpressionDescription { expression.freeze() }
    }

    private func requireEditable(_ member: StaticString = #function) {
        precondition(
            !isFrozen,
            "\(type(of: self)).\(member): the element '\(propertyName ?? "")' of index "
                + "'\(indexDescription?.name ?? "")' of entity '\(indexDescription?.entity?.name ?? "")' is in use "
                + "by a persistent store coordinator and "
                + "cannot be changed; copy its model first")
    }
}
