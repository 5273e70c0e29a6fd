import Foundation

/// A property of an entity: the common base of attributes, relationships and fetched properties.
///
/// A property belongs to at most one entity. It can be changed until its model is in use by a
/// persistent store coordinator; a later change stops the program.
/// (developer.apple.com/documentation/coredata/nspropertydescription)
///
/// ```swift
/// for property in entity.properties where !property.isOptional && !property.isTransient {
///     print(property.entity.name ?? "", property.name)
/// }
/// ```
open class NSPropertyDescription: NSObject, NSCopying, KeyValueCoding, @unchecked Sendable {
    // Sendable: `isFrozen` is set, under the model's lock, before the model is shared. From then on
    // every setter but that of `userInfo`, which has a lock, stops the program, so that all other
    // stored values are constant. The link to the entity is Sendable.

    /// Whether the model is in use, after which nothing in this object changes.
    var isFrozen = false

    /// The entity that lists this property as its own.
    package final var owningEntity: NSEntityDescription? {
        get { owner?.object }
        set { owner = newValue?.reference }
    }
    private var owner: BackReference<NSEntityDescription>?

    /// Creates a property without name or entity.
    public required override init() {
        super.init()
    }

    /// The property's name, unique in its entity.
    open var name: String = "" { willSet { requireEditable() } }

    /// Whether the property may be without a value when the object is saved. True unless set.
    ///
    /// ```swift
    /// name.isOptional = false                                 // a save without a name throws 1570
    /// ```
    open var isOptional: Bool = true { willSet { requireEditable() } }

    /// Whether the property is kept in memory only and never stored. False unless set.
    ///
    /// ```swift
    /// fullName.isTransient = true             // set by the class, for example in awakeFromFetch()
    /// ```
    open var isTransient: Bool = false { willSet { requireEditable() } }

    /// Whether a store should index the property. Superseded by `NSEntityDescription.indexes`.
    open var isIndexed: Bool = false { willSet { requireEditable() } }

    /// Whether Spotlight should index the property; has no effect here.
    ///
    /// Stored with the model, but not read from models that Xcode compiled.
    open var isIndexedBySpotlight: Bool = false { willSet { requireEditable() } }

    /// The application's own information about the property. Not part of the version hash.
    ///
    /// It is the only part of a property that may be changed while its model is in use.
    ///
    /// ```swift
    /// let label = property.userInfo?["label"] as? String
    /// ```
    open var userInfo: [AnyHashable: Any]? {
        get { userInfoLock.withLock { userInfoStorage } }
        set {
            userInfoLock.withLock {
                userInfoStorage = newValue
                userInfoChanges += 1
            }
        }
    }

    /// Guards the two values below.
    private let userInfoLock = NSLock()
    private var userInfoStorage: [AnyHashable: Any]? = [:]
    private var userInfoChanges = 0

    /// The number of times that `userInfo` was set.
    package var userInfoVersion: Int { userInfoLock.withLock { userInfoChanges } }

    /// A text that makes the version hash differ although the property looks the same.
    ///
    /// ```swift
    /// total.versionHashModifier = "rounded"  // stores with the former meaning do not fit any more
    /// ```
    open var versionHashModifier: String? { willSet { requireEditable() } }

    private var explicitRenamingIdentifier: String?

    /// The name by which migration finds this property's predecessor in an older model.
    ///
    /// It is the name of the property unless set.
    ///
    /// ```swift
    /// stockCount.renamingIdentifier = "amount"                // called so in the former version
    /// ```
    open var renamingIdentifier: String? {
        get { explicitRenamingIdentifier ?? name }
        set {
            requireEditable()
            explicitRenamingIdentifier = newValue
        }
    }

    /// The entity that has this property.
    ///
    /// - Precondition: the property has been put into an entity's `properties` and that entity
    ///   still exists.
    open var entity: NSEntityDescription {
        guard let owningEntity else {
            preconditionFailure("\(diagnosticName) belongs to no entity: put it into an entity's 'properties' first")
        }
        return owningEntity
    }

    /// Predicates that a value must satisfy; `SELF` is the value.
    ///
    /// They have the same order as `validationWarnings`.
    public private(set) var validationPredicates: [NSPredicate] = []

    /// For each validation predicate, the error code (`NSNumber`) or text that reports a failure.
    public private(set) var validationWarnings: [Any] = []

    /// Sets the validation predicates and, in the same order, the texts of their failures.
    ///
    /// ```swift
    /// let isLong = NSPredicate(format: "length >= 3")
    /// name.setValidationPredicates(
    ///     [isLong], withValidationWarnings: ["A name has three letters."])
    /// ```
    ///
    /// - Precondition: both arrays have the same number of elements.
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        setValidation(predicates: validationPredicates ?? [], warnings: validationWarnings ?? [])
    }

    /// Sets the validation predicates and, in the same order, codes or texts of their failures.
    ///
    /// A text is reported with the code 1550 (`NSManagedObjectValidationError`). The limits that a
    /// model file sets have codes, as in this example:
    ///
    /// ```swift
    /// let isShort = NSPredicate(format: "length <= 20")
    /// name.setValidationPredicates(
    ///     [isShort], withValidationWarnings: [NSValidationStringTooLongError])
    /// ```
    ///
    /// - Parameter validationWarnings: Texts and codes (`NSNumber` or `Int`), mixed at will.
    /// - Precondition: both arrays have the same number of elements, and each warning is a text or
    ///   a number.
    @_disfavoredOverload
    public final func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [Any]
    ) {
        let warnings = validationWarnings.map { warning -> Any in
            if let text = warning as? String { return text }
            if let code = warning as? NSNumber { return code }
            preconditionFailure(
                "\(diagnosticName) is given the validation warning \(warning), which is neither a text nor an "
                    + "error code"
            )
        }
        setValidation(predicates: validationPredicates ?? [], warnings: warnings)
    }

    package func setValidation(predicates: [NSPredicate], warnings: [Any]) {
        requireEditable("validationPredicates")
        precondition(
            predicates.count == warnings.count,
            "\(diagnosticName) is given \(predicates.count) validation predicates but \(warnings.count) warnings")
        validationPredicates = predicates
        validationWarnings = warnings
    }

    /// The hash by which a store recognises this property's version: 32 bytes.
    ///
    /// It depends on name, optional and transient flags and the modifier. Computed at each call:
    /// O(length of the name).
    open var versionHash: Data {
        Data(VersionHash.propertyBase(of: self))
    }

    /// Returns an editable copy that belongs to no entity.
    ///
    /// ```swift
    /// film.properties = book.properties.compactMap { $0.copy() as? NSPropertyDescription }
    /// ```
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.takeState(of: self)
        return copy
    }

    /// Copies everything except the owner from a property of the same class.
    func takeState(of other: NSPropertyDescription) {
        name = other.name
        isOptional = other.isOptional
        isTransient = other.isTransient
        isIndexed = other.isIndexed
        isIndexedBySpotlight = other.isIndexedBySpotlight
        userInfo = other.userInfo
        versionHashModifier = other.versionHashModifier
        explicitRenamingIdentifier = other.explicitRenamingIdentifier
        validationPredicates = other.validationPredicates
        validationWarnings = other.validationWarnings
    }

    /// Returns `name`, `entity` or `userInfo`, for predicates that use `$FETCHED_PROPERTY`.
    ///
    /// nil for any other key.
    open func value(forKey key: String) -> Any? {
        switch key {
        case "name": name
        case "entity": owningEntity
        case "userInfo": userInfo
        default: nil
        }
    }

    /// Stops the program: descriptions are not set by name.
    open func setValue(_ value: Any?, forKey key: String) {
        preconditionFailure("\(diagnosticName) cannot be set by name: use the property \(key) itself.")
    }

    func freeze() { isFrozen = true }

    var kindName: String { "property" }

    /// The property in a sentence: kind, name and entity.
    var diagnosticName: String {
        let own = "\(kindName) '\(name)'"
        guard let entityName = owningEntity?.name else { return own }
        return "\(own) of entity '\(entityName)'"
    }

    func requireEditable(_ member: StaticString = #function) {
        precondition(
            !isFrozen,
            "\(type(of: self)).\(member): \(diagnosticName) is in use by a persistent store coordinator and cannot be "
                + "changed; copy its model first")
    }

    /// The property's class, kind, name and entity.
    open override var description: String { "<\(type(of: self)): \(diagnosticName)>" }
}
