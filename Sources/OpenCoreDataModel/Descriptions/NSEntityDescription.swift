import Foundation

/// A kind of managed object: its name, class, properties and place in the hierarchy.
///
/// Build the hierarchy from the top by assigning `subentities`. An entity can be changed until its
/// model is in use by a persistent store coordinator; a later change of anything but `userInfo`
/// stops the program. Two descriptions are equal only when they are the same object.
/// (developer.apple.com/documentation/coredata/nsentitydescription)
///
/// ```swift
/// let item = NSEntityDescription()
/// item.name = "Item"
/// item.managedObjectClassName = "Item"
/// item.properties = [name, stockCount]
/// ```
open class NSEntityDescription: NSObject, NSCopying, @unchecked Sendable {
    // Sendable: `tables` is set, under the model's lock, before the model is shared. From then on
    // every setter but that of `userInfo`, which has a lock, stops the program, so that all other
    // stored values are constant. The link to the superentity is Sendable, and `layoutReference` is
    // set while the layouts are made and cleared when they are released.

    /// The tables computed when the model comes into use; constant from then on, nil before.
    private(set) var tables: EntityTables?

    package weak var owningModel: NSManagedObjectModel?

    @usableFromInline final let layoutCell = LayoutCell()

    /// A reference to this entity that does not keep it alive.
    final let reference = BackReference<NSEntityDescription>()

    /// Creates an entity without name or properties whose class is `NSManagedObject`.
    public required override init() {
        super.init()
        reference.lead(to: self)
    }

    deinit {
        reference.clear()
        layoutCell.deallocate()
    }

    /// The name, unique in the model.
    open var name: String? { willSet { requireEditable() } }

    /// Whether there are no objects of exactly this entity. False unless set.
    open var isAbstract: Bool = false { willSet { requireEditable() } }

    private var explicitClassName: String?

    /// The class name of the entity's objects, `NSManagedObject` unless set; nil restores that.
    ///
    /// ```swift
    /// item.managedObjectClassName = NSStringFromClass(Item.self)
    /// ```
    open var managedObjectClassName: String! {
        get { explicitClassName ?? "NSManagedObject" }
        set {
            requireEditable()
            explicitClassName = newValue
            givenClass = nil
        }
    }

    /// The modules that the entity's file may belong to, whose classes come first.
    package var classModules: [String] = []

    /// The class itself, if it was given, so that it need not be looked up by its name.
    package private(set) var givenClass: AnyClass?

    /// Sets the class of the entity's objects, and with it `managedObjectClassName`.
    package func give(_ objectClass: AnyClass) {
        managedObjectClassName = ClassLookup.name(of: objectClass)
        givenClass = objectClass
    }

    /// The application's own information about the entity. Not part of the version hash.
    open var userInfo: [AnyHashable: Any]? {
        get { userInfoLock.withLock { userInfoStorage } }
        set { userInfoLock.withLock { userInfoStorage = newValue } }
    }

    private let userInfoLock = NSLock()
    private var userInfoStorage: [AnyHashable: Any]? = [:]

    /// A text that makes the version hash differ although the entity looks the same.
    open var versionHashModifier: String? { willSet { requireEditable() } }

    private var explicitRenamingIdentifier: String?

    /// The name by which migration finds this entity's predecessor; the name unless set.
    ///
    /// ```swift
    /// article.renamingIdentifier = "Item"             // its rows become articles in a migration
    /// ```
    open var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? name }
        set {
            requireEditable()
            explicitRenamingIdentifier = newValue
        }
    }

    /// An expression for the text that Spotlight shows. Kept with the description only; has no
    /// effect here.
    open var coreSpotlightDisplayNameExpression: NSExpression? { willSet { requireEditable() } }

    // MARK: Hierarchy

    /// The entity that this one inherits from. Set by assigning that entity's `subentities`.
    public private(set) var superentity: NSEntityDescription? {
        get { superentityReference?.object }
        set { superentityReference = newValue?.reference }
    }
    private var superentityReference: BackReference<NSEntityDescription>?

    private var storedSubentities: [NSEntityDescription] = []

    /// The entities that inherit from this one. Assigning sets their `superentity` and drops the
    /// hierarchy's indexes.
    ///
    /// ```swift
    /// medium.isAbstract = true
    /// medium.subentities = [book, film]               // both have the properties of medium, too
    /// ```
    ///
    /// - Precondition: no entity becomes its own ancestor.
    open var subentities: [NSEntityDescription] {
        get { storedSubentities }
        set {
            requireEditable()
            for entity in newValue {
                entity.requireEditable("superentity")
                precondition(
                    !isKindOf(entity: entity),
                    "the entity '\(entity.name ?? "")' cannot inherit from itself through '\(name ?? "")'")
            }
            hierarchyDidChange()
            for entity in storedSubentities where entity.superentity === self { entity.superentity = nil }
            storedSubentities = []
            for entity in newValue where !storedSubentities.contains(where: { $0 === entity }) {
                if let previous = entity.superentity, previous !== self {
                    previous.storedSubentities.removeAll { $0 === entity }
                }
                entity.superentity = self
                storedSubentities.append(entity)
            }
            hierarchyDidChange()
        }
    }

    /// The direct subentities by name.
    open var subentitiesByName: [String: NSEntityDescription] {
        ModelTables.byName(storedSubentities)
    }

    /// Whether this is the given entity or inherits from it, directly or through others. O(depth of
    /// the hierarchy).
    ///
    /// ```swift
    /// let isBook = object.entity.isKindOf(entity: book)
    /// ```
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        var next: NSEntityDescription? = self
        while let current = next {
            if current === entity { return true }
            next = current.superentity
        }
        return false
    }

    // MARK: Properties

    /// The entity's own properties, without inherited ones, in the order in which they were given.
    package private(set) var ownProperties: [NSPropertyDescription] = []

    /// All properties, the inherited ones first. Assigning sets the entity's own and drops the
    /// hierarchy's indexes.
    ///
    /// Properties that belong to a superentity stay there when they are among the assigned ones, so
    /// that what was read can be extended and assigned. O(number of properties) until the model is
    /// in use, then constant.
    ///
    /// ```swift
    /// item.properties = [name, stockCount, supplier]
    /// item.properties.append(note)                            // the others stay
    /// ```
    ///
    /// - Precondition: no assigned property belongs to an unrelated entity.
    open var properties: [NSPropertyDescription] {
        get { tables?.properties ?? EntityTables.properties(of: self) }
        set {
            requireEditable()
            let own = newValue.filter { property in
                guard let owner = property.owningEntity, owner !== self else { return true }
                precondition(
                    isKindOf(entity: owner),
                    "the \(property.diagnosticName) cannot be given to entity '\(name ?? "")' too; copy it first")
                return false
            }
            for property in ownProperties { property.owningEntity = nil }
            for property in own {
                property.requireEditable("entity")
                property.owningEntity = self
            }
            ownProperties = own
            hierarchyDidChange()
        }
    }

    /// All properties, own and inherited, by name. Cost as for `properties`.
    open var propertiesByName: [String: NSPropertyDescription] {
        tables?.propertiesByName ?? EntityTables.byName(properties)
    }

    /// All attributes, own and inherited, by name. Cost as for `properties`.
    ///
    /// ```swift
    /// let type = item.attributesByName["name"]?.attributeType
    /// ```
    open var attributesByName: [String: NSAttributeDescription] {
        tables?.attributesByName ?? EntityTables.byName(properties.compactMap { $0 as? NSAttributeDescription })
    }

    /// All relationships, own and inherited, by name. Cost as for `properties`.
    ///
    /// ```swift
    /// let toMany = item.relationshipsByName.filter(\.value.isToMany).keys
    /// ```
    open var relationshipsByName: [String: NSRelationshipDescription] {
        tables?.relationshipsByName ?? EntityTables.byName(properties.compactMap { $0 as? NSRelationshipDescription })
    }

    /// The relationships, own and inherited, whose destination is the given entity or one that it
    /// inherits from.
    open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        properties.compactMap { $0 as? NSRelationshipDescription }.filter { relationship in
            relationship.destinationEntity.map { entity.isKindOf(entity: $0) } ?? false
        }
    }

    // MARK: Indexes and constraints

    private var storedIndexes: [NSFetchIndexDescription] = []

    /// The indexes a store keeps for this entity.
    ///
    /// Changing the properties or the hierarchy drops the indexes of the whole hierarchy: set them
    /// last.
    ///
    /// ```swift
    /// let name = NSFetchIndexElementDescription(
    ///     property: item.propertiesByName["name"]!, collationType: .binary)
    /// item.indexes = [NSFetchIndexDescription(name: "byName", elements: [name])]
    /// ```
    open var indexes: [NSFetchIndexDescription] {
        get { storedIndexes }
        set {
            requireEditable()
            for index in storedIndexes where index.entity === self { index.entity = nil }
            for index in newValue { index.entity = self }
            storedIndexes = newValue
        }
    }

    /// The uniqueness constraints, which readers of model files set before the attributes are
    /// known.
    package var uniquenessConstraintNames: [[String]] = []

    /// Combinations of attributes whose values no two objects may share.
    ///
    /// Accepts attribute descriptions or names; always returns names (`String`). Part of the
    /// version hash.
    ///
    /// ```swift
    /// item.uniquenessConstraints = [["code"], ["name", "size"]]       // two constraints
    /// ```
    ///
    /// - Precondition: every element is a `String` or an `NSPropertyDescription`.
    open var uniquenessConstraints: [[Any]] {
        get { uniquenessConstraintNames }
        set {
            requireEditable()
            uniquenessConstraintNames = newValue.map { constraint in
                constraint.map { element in
                    switch element {
                    case let name as String: return name
                    case let property as NSPropertyDescription: return property.name
                    default:
                        preconditionFailure(
                            "a uniqueness constraint of entity '\(name ?? "")' holds \(element), which is neither an "
                                + "attribute nor the name of one")
                    }
                }
            }
        }
    }

    /// Indexes over several properties, as lists of names. Superseded by `indexes`; kept, but no
    /// store makes them.
    open var compoundIndexes: [[Any]] = [] { willSet { requireEditable() } }

    // MARK: Model and version

    /// The model that lists this entity.
    ///
    /// - Precondition: the entity is in a model's `entities` and that model still exists.
    open var managedObjectModel: NSManagedObjectModel {
        guard let owningModel else {
            preconditionFailure(
                "the entity '\(name ?? "")' belongs to no model: put it into a model's 'entities' first")
        }
        return owningModel
    }

    /// The hash by which a store recognises this entity's version: 32 bytes.
    ///
    /// It depends only on name, abstract flag, superentity, properties, uniqueness constraints and
    /// modifier. Each call hashes all properties until the model is in use; then the cost is
    /// constant.
    open var versionHash: Data {
        Data(tables?.versionHash ?? VersionHash.entity(self))
    }

    // MARK: Copying

    /// Returns an editable copy with copies of its own properties and indexes.
    ///
    /// The copy belongs to no model and no hierarchy; its relationships still refer to the
    /// original's destinations. To copy entities together with their links, copy the model.
    open func copy(with zone: NSZone? = nil) -> Any {
        copyWithProperties().entity
    }

    /// Copies the entity, and returns the copy of each property by the identity of its original.
    func copyWithProperties() -> (entity: NSEntityDescription, properties: [ObjectIdentifier: NSPropertyDescription]) {
        let copy = type(of: self).init()
        copy.name = name
        copy.isAbstract = isAbstract
        copy.explicitClassName = explicitClassName
        copy.givenClass = givenClass
        copy.classModules = classModules
        copy.userInfo = userInfo
        copy.versionHashModifier = versionHashModifier
        copy.explicitRenamingIdentifier = explicitRenamingIdentifier
        copy.coreSpotlightDisplayNameExpression = coreSpotlightDisplayNameExpression
        copy.uniquenessConstraintNames = uniquenessConstraintNames
        copy.compoundIndexes = compoundIndexes
        var replacements: [ObjectIdentifier: NSPropertyDescription] = [:]
        copy.properties = ownProperties.compactMap { property in
            let replacement = property.copy() as? NSPropertyDescription
            replacements[ObjectIdentifier(property)] = replacement
            return replacement
        }
        copy.indexes = indexes.map { index in
            index.copy(replacing: { replacements[ObjectIdentifier($0)] ?? $0 })
        }
        return (copy, replacements)
    }

    // MARK: Freezing

    /// Forbids every further change and computes the tables that many threads then read.
    func freeze() {
        guard tables == nil else { return }
        for property in ownProperties { property.freeze() }
        for index in storedIndexes { index.freeze() }
        tables = EntityTables(of: self)
    }

    func requireEditable(_ member: StaticString = #function) {
        precondition(
            tables == nil,
            "\(type(of: self)).\(member): the entity '\(name ?? "")' is in use by a persistent store coordinator and "
                + "cannot be changed; copy its model first")
    }

    /// Drops the indexes of the whole hierarchy, which a change may have made wrong.
    private func hierarchyDidChange() { rootEntity.dropIndexes() }

    private func dropIndexes() {
        if !storedIndexes.isEmpty { indexes = [] }
        for entity in storedSubentities { entity.dropIndexes() }
    }

    /// The entity's class and name.
    open override var description: String { "<\(type(of: self)): entity '\(name ?? "")'>" }
}
