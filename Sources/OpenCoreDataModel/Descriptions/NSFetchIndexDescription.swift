import Predicates

/// An index of an entity that a store keeps for faster fetches. Not part of the version hash.
///
/// (developer.apple.com/documentation/coredata/nsfetchindexdescription)
///
/// ```swift
/// let element = NSFetchIndexElementDescription(property: name, collationType: .binary)
/// entity.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
/// ```
open class NSFetchIndexDescription: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: as for NSPropertyDescription, everything is constant once `isFrozen` is set.

    /// Whether the model is in use, after which nothing in this object changes.
    var isFrozen = false

    /// The entity that lists this index.
    public internal(set) final var entity: NSEntityDescription? {
        get { owner?.object }
        set { owner = newValue?.reference }
    }
    private var owner: BackReference<NSEntityDescription>?

    /// The index's name, unique in its entity.
    open var name: String { willSet { requireEditable() } }

    private var storedElements: [NSFetchIndexElementDescription] = []

    /// The elements of the index, most significant first.
    ///
    /// - Precondition: all elements have the same collation type (all binary or all R-tree).
    open var elements: [NSFetchIndexElementDescription] {
        get { storedElements }
        set {
            requireEditable()
            if let problem = Self.problem(in: newValue) { preconditionFailure("index '\(name)': \(problem)") }
            for element in storedElements where element.indexDescription === self { element.indexDescription = nil }
            for element in newValue { element.indexDescription = self }
            storedElements = newValue
        }
    }

    /// The condition on the rows that the index holds; all rows when nil.
    ///
    /// ```swift
    /// index.partialIndexPredicate = NSPredicate(format: "isOpen == YES")
    /// ```
    open var partialIndexPredicate: NSPredicate? { willSet { requireEditable() } }

    /// Creates an index that belongs to no entity.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        self.name = name
        super.init()
        self.elements = elements ?? []
    }

    /// Returns an editable copy with copies of the elements.
    ///
    /// The copy refers to the same entity, which does not list it.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = copy(replacing: { $0 })
        copy.owner = owner
        return copy
    }

    func copy(replacing replacement: (NSPropertyDescription) -> NSPropertyDescription) -> NSFetchIndexDescription {
        let copy = NSFetchIndexDescription(name: name, elements: elements.map { $0.copy(replacing: replacement) })
        copy.partialIndexPredicate = partialIndexPredicate
        return copy
    }

    /// Returns the reason why these elements cannot form one index; nil when they can.
    static func problem(in elements: [NSFetchIndexElementDescription]) -> String? {
        guard let first = elements.first, elements.contains(where: { $0.collationType != first.collationType }) else {
            return nil
        }
        return "R-tree and binary elements cannot be mixed; make two indexes"
    }

    func freeze() {
        isFrozen = true
        for element in storedElements { element.freeze() }
    }

    private func requireEditable(_ member: StaticString = #function) {
        precondition(
            !isFrozen,
            "\(type(of: self)).\(member): the index '\(name)' of entity '\(entity?.name ?? "")' is in use by a "
                + "persistent store coordinator and cannot be changed; copy its model first")
    }
}
