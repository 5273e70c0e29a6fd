import CSwiftRuntime
import Foundation

/// An object of a Core Data graph: one row of a store in one context, with its unsaved changes.
///
/// An object that is not loaded is a *fault*; it loads its row when a property is read. Reading a
/// property of a loaded, unchanged object costs a few nanoseconds. Objects belong to the queue of
/// their context and must not be used from another one.
///
/// Subclasses declare properties with `@Managed`. A subclass that adds designated initializers must
/// also implement `init(entity:insertInto:)`, with which the framework makes its objects.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmanagedobject>
open class NSManagedObject: NSObject, KeyValueCoding, KeyPathNaming {
    /// The state that every property access reads. Only transitions change it (see `ObjectState`).
    // Unchecked exclusivity: objects are confined to one queue, and no accessor keeps the state
    // open while it calls other code.
    @exclusivity(unchecked) @usableFromInline final var state: ObjectState
    /// Position in the context's list of inserted, updated or deleted objects, kept by that list.
    final var listIndex: Int32 = -1
    /// The position among the registry's waiting objects, guarded by the registry's lock; -1 for an
    /// object that is not waiting.
    final var registryPlace: Int32 = -1

    // MARK: - Making objects

    /// Makes an object of an entity and, with a context, inserts it there.
    ///
    /// If the entity's class adds no stored properties to the class on which this is called, the
    /// result is an instance of the entity's class, as on Apple's systems.
    // Never inlined: `reclassify` may change the class of the object, so the optimizer must not
    // assume the class.
    @inline(never)
    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        // Only this object may need the layouts: they must live until it retains them.
        var layouts: ModelLayout?
        defer { withExtendedLifetime(layouts) {} }
        let objects = entity.objectLayoutReference ?? entity.makeObjectLayout(keptAliveBy: &layouts)
        state = objects.withObject {
            ObjectState(accessorTable: $0.accessorTable, flags: $0.initialFlags)
        }
        // An object made for a context is complete here. Using it here would cost two changes of
        // its reference count.
        let isForContext =
            context == nil && opencoredata_makesObjectForContext(Unretained(entity).pointer) != 0
        super.init()
        if !isForContext { begin(in: context) }
    }

    // Never inlined: `reclassify` may change the class of the object, so the optimizer must not
    // assume the class.
    @inline(never)
    private final func begin(in context: NSManagedObjectContext?) {
        let isOfEntityClass = Swift.type(of: self) == layout.managedObjectClass
        guard let context else {
            if !isOfEntityClass { useAccessors(of: Swift.type(of: self)) }
            // An object that the program makes outside any context keeps its model alive itself.
            _ = makeExtras()
            return
        }
        if isOfEntityClass {
            context.insertNew(self)
        } else {
            becomeInstanceOfEntityClass()
            let object = withUnknownClass(self)
            useAccessors(of: Swift.type(of: object))
            context.insertNew(object)
        }
    }

    /// Makes an object of an entity's class for a context. The context at once gives the object its
    /// registry, and with it its model. The retained entity is consumed.
    @inline(__always)
    static func makeForContext(
        _ objectClass: NSManagedObject.Type, consuming entity: Retained<NSEntityDescription>
    ) -> NSManagedObject {
        opencoredata_willMakeObjectForContext(entity.pointer)
        return objectClass.init(entity: entity.take(), insertInto: nil)
    }

    /// Makes an object for a context, which at once gives it its registry, and with it its model.
    /// Called on the entity's class.
    @inline(__always)
    final class func forContext(_ entity: NSEntityDescription) -> Self {
        opencoredata_willMakeObjectForContext(Unretained(entity).pointer)
        return self.init(entity: entity, insertInto: nil)
    }

    /// Makes an object of the class's entity and inserts it into the context.
    ///
    /// The class must belong to exactly one entity of the context's model.
    // Required, so that generic code can call it on a class that is known only at run time, as it
    // can on a Mac.
    public required convenience init(context: NSManagedObjectContext) {
        self.init(entity: Self._entity(in: context), insertInto: context)
    }

    /// Called when an object is inserted, before `awakeFromInsert()`: generated code sets the
    /// initial values that the class declares.
    open func _setInitialValues() {}

    /// Called in the place of `_setInitialValues()` when a generated initializer inserts the
    /// object: generated code sets the initial values of the properties that the initializer does
    /// not take, or takes only where they are given.
    open func _setHiddenInitialValues() {}

    deinit {
        heldRegistry?.withObject { $0.forget(self) }
        state.releaseAll()
    }

    /// The entity of the class, found in the models that coordinators use.
    ///
    /// The class should belong to exactly one entity of exactly one model in use. Otherwise the
    /// result is an entity without a name that belongs to no model, from which no object can be
    /// made, and a message says so.
    open class func entity() -> NSEntityDescription {
        if let entity = ModelRegistry.shared.entity(for: self) { return entity }
        Warnings.sayOnce(about: "entity of \(String(reflecting: self))") {
            "No model in use has exactly one entity whose class is \(self), so that \(self).entity() gives one "
                + "without a name. Add the "
                + "model to a persistent store coordinator first, or name the entity with "
                + "NSEntityDescription.entity(forEntityName:in:)."
        }
        let entity = NSEntityDescription()
        entity.managedObjectClassName = String(reflecting: self)
        return entity
    }

    /// A fetch request for the entity of the class.
    @_disfavoredOverload
    open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        if let entity = ModelRegistry.shared.entity(for: self) {
            request.entity = entity
        } else {
            request.setEntityName(String(describing: self))
        }
        return request
    }

    private func becomeInstanceOfEntityClass() {
        let wanted: NSManagedObject.Type = layout.managedObjectClass
        let actual = Swift.type(of: self)
        if actual == wanted || wanted == NSManagedObject.self { return }
        if wanted.isSubclass(of: actual) { _ = reclassify(self, as: wanted) }
    }

    // MARK: - Identity

    /// The entity of the object.
    public final var entity: NSEntityDescription { layout.entity }

    /// The object's identity: temporary until its first save, permanent afterwards.
    public final var objectID: NSManagedObjectID {
        if let objectID = extras?.objectID { return objectID }
        if flags.contains(.inserted) && extras?.deletedRow == nil /* as which it comes back */ || storeNumber < 0
            || heldRegistry == nil
        {
            if let objectID = registry?.permanentID(ofNew: self) { return objectID }
            let identities = registry?.identities
            let objectID =
                identities.map { $0.objectID(ofSerial: $0.nextSerial(), layout) }
                ?? TemporaryIdentities.freeObjectID(layout)
            makeExtras().objectID = objectID
            registry?.noteTemporaryID(objectID, of: self)
            return objectID
        }
        if key < 0, let registry, registry.hasProvisionalKeys {
            // Saved to a parent context: the ID is the one that the object has there.
            return registry.identities.objectID(ofSerial: 0 &- key, layout)
        }
        guard let store = registry?.store(number: Int(storeNumber)) else {
            // An object keeps its identity whatever happened to its store.
            guard let token = registry?.formerStoreToken(number: Int(storeNumber)) else {
                preconditionFailure("\(layout.name) object p\(key) belongs to no store.")
            }
            return NSManagedObjectID(key: key, layout: layout, token: token)
        }
        return NSManagedObjectID(key: key, layout: layout, store: store)
    }

    public final override func isEqual(_ object: Any?) -> Bool {
        // Sets compare often, and a cast costs more. An `Any` holds its type in its fourth word
        // and, if that type is a class, the reference in its first. `==` of objects makes the `Any`
        // from an `NSObject`.
        let (reference, type) = withUnsafeBytes(of: object) {
            ($0.load(as: UInt.self), $0.load(fromByteOffset: 3 * MemoryLayout<UInt>.stride, as: UInt.self))
        }
        if type == unsafeBitCast(NSObject.self, to: UInt.self) {
            return reference == UInt(bitPattern: ObjectIdentifier(self))
        }
        return (object as? NSManagedObject) === self
    }

    public final override var hash: Int {
        // Objects never move, and are at least 16 bytes apart.
        Int(bitPattern: ObjectIdentifier(self)) >> 4
    }

    /// The entity, the identity and, for a loaded object, the values. Does not fire the fault.
    open override var description: String {
        if flags.contains(.probe) { return "<\(layout.name) probe>" }
        let address = String(UInt(bitPattern: ObjectIdentifier(self)), radix: 16)
        let head = "<\(Swift.type(of: self)): 0x\(address)> (entity: \(layout.name); id: \(descriptionOfIdentity)"
        if flags.contains(.fault) { return head + "; data: <fault>)" }
        let values = layout.propertySlots.compactMap { slot -> String? in
            switch slot.kind {
            case .toMany, .orderedToMany:
                guard let state = extras?.toMany(slot.index), state.isLoaded else {
                    return "\(slot.name) = <relationship fault>"
                }
                return "\(slot.name) = \(state.members.count) objects"
            case .toOne:
                if let destination = extras?.toOne(slot.index) {
                    return "\(slot.name) = \(destination.descriptionOfIdentity)"
                }
                return "\(slot.name) = \(currentValue(slot.index).isNull ? "nil" : "<relationship fault>")"
            case .fetched: return nil
            default:
                let value = currentValue(slot.index)
                // Foundation stops the program when it describes a date that is not a number.
                if value.isNotANumber { return "\(slot.name) = NaN" }
                return "\(slot.name) = \(value.object(kind: slot.kind).map { "\($0)" } ?? "nil")"
            }
        }
        return head + "; data: {\(values.joined(separator: "; "))})"
    }

    /// The URI of the identity; does not make an ID for an object whose store is gone.
    final var descriptionOfIdentity: String {
        if storeNumber >= 0, registry?.store(number: Int(storeNumber)) == nil { return "\(layout.name)/p\(key)" }
        return objectID.description
    }

    /// Whether a change of a property that the model does not describe leaves `hasChanges` as it
    /// is.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    // MARK: - Life cycle

    /// Called once when the object is first inserted into a context. Call `super` first.
    open func awakeFromInsert() {}

    /// Called each time the object's values are filled from the store. Changes made here are not
    /// tracked.
    open func awakeFromFetch() {}

    /// Called when the object's values were replaced by undo, rollback, refresh or a merge policy.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called before a save for every inserted, updated or deleted object, and again for objects
    /// that change meanwhile.
    open func willSave() {}

    /// Called after a save for every object that took part, including deleted ones.
    open func didSave() {}

    /// Called when the object is about to be deleted, while all its relationships are intact.
    open func prepareForDeletion() {}

    /// Called before the object's values are dropped.
    open func willTurnIntoFault() {}

    /// Called when the object's values have been dropped.
    open func didTurnIntoFault() {}

    // MARK: - Validation

    /// Checks whether the object may be deleted: its relationships with the deny rule must be
    /// empty. Throws 1600, or 1560 for several errors.
    open func validateForDelete() throws {
        try throwCombined(validationErrorsForDelete())
    }

    /// Checks every property against its description before the object is first saved. Throws 1550
    /// to 1680.
    ///
    /// An override calls `super` and combines its errors with those of `super`. A program may also
    /// call the method itself, even on a fault, which fires.
    open func validateForInsert() throws {
        try validateProperties()
    }

    /// Checks every property against its description; a save checks only the changed ones. Throws
    /// 1550 to 1680, and errors of the store.
    open func validateForUpdate() throws {
        try validateProperties()
    }

    /// Checks a value for a property: its type, then the description's rules. Override this for
    /// rules of your own by key (there is no run-time search for `validate<Key>` methods off
    /// Apple's platforms).
    ///
    /// - Throws: an error in `NSCocoaErrorDomain`, codes 1550 to 1680, whose user info names
    ///   object, key and value.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateAgainstDescription(value.pointee, forKey: key)
    }

    // MARK: - Key-value coding

    /// Returns the value of a property by name: NSNumber, String, Date, …, an object or a set of
    /// objects; nil for nil.
    ///
    /// An unknown key is a programming error and stops the program with a message that names entity
    /// and key.
    open func value(forKey key: String) -> Any? {
        guard let slot = layout.slotByName[key] else { return valueForUndefinedKey(key) }
        return objectValue(slot)
    }

    /// Sets a property by name, as its accessor would.
    ///
    /// A value of the wrong type is a programming error and stops the program with a message that
    /// names entity, key, the expected type and the given one. `validateValue(_:forKey:)` checks a
    /// value beforehand.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let slot = layout.slotByName[key] else {
            setValue(value, forUndefinedKey: key)
            return
        }
        if layout.slots[slot].kind.isScalar, PropertyConversion.present(value) == nil {
            return setNilValueForKey(key)
        }
        setObjectValue(value, slot: slot)
    }

    /// Called by `setValue(_:forKey:)` for nil in place of a number or a Boolean, which a class may
    /// declare as a scalar (`Int32`, `Bool`). An override may set another value, such as 0, with
    /// `setValue(_:forKey:)`.
    ///
    /// The default sets nil: how a class declares a property is not known when the program runs. A
    /// scalar property then reads 0 or false, and a required attribute is missing when the object
    /// is saved.
    open func setNilValueForKey(_ key: String) {
        guard let slot = layout.slotByName[key] else { return setValue(nil, forUndefinedKey: key) }
        setObjectValue(nil, slot: slot)
    }

    /// Called for a key that the entity does not have; the default stops the program with a
    /// message.
    open func value(forUndefinedKey key: String) -> Any? { stopForUndefined(key) }

    /// Called for a key that the entity does not have; the default stops the program with a
    /// message.
    open func setValue(_ value: Any?, forUndefinedKey key: String) { stopForUndefined(key) }

    private func stopForUndefined(_ key: String) -> Never {
        preconditionFailure(
            "The entity \(layout.name) has no property named \"\(key)\" "
                + "(\(layout.propertySlots.map(\.name).joined(separator: ", ")))."
        )
    }

    private func valueForUndefinedKey(_ key: String) -> Any? {
        switch key {
        case "objectID": return objectID
        case "self": return self
        case "entity": return entity
        case "managedObjectContext": return managedObjectContext
        case "hasChanges": return hasChanges
        case "isInserted", "inserted": return isInserted
        case "isUpdated", "updated": return isUpdated
        case "isDeleted", "deleted": return isDeleted
        case "isFault", "fault": return isFault
        case "hasPersistentChangedValues": return hasPersistentChangedValues
        case "description": return description
        default: return value(forUndefinedKey: key)
        }
    }

    /// Reads and writes a property by name.
    public final subscript(key: String) -> Any? {
        get { value(forKey: key) }
        set { setValue(newValue, forKey: key) }
    }

    /// Whether the object has no values and only records which properties a key path reads.
    public final var _isKeyPathProbe: Bool { flags.contains(.probe) }

    /// The name of the property that a key path of the class reads.
    public class func keyName(for keyPath: AnyKeyPath) -> String? {
        if let name = (self as? any _SelfDescribingClass.Type)?._propertyName(for: keyPath) { return name }
        return KeyPathProbe.name(of: keyPath, in: self)
    }
}
