import CSwiftRuntime
import Foundation

/// An object of a Core Data graph: one row of a store as it is in one context, with its unsaved changes.
///
/// An object that is not loaded is a *fault*; it loads its row when a property is read. Reading a property of a loaded,
/// unchanged object costs a few nanoseconds. Objects belong to the queue of their context and must not be used from
/// another one.
///
/// Subclasses declare properties with `@Managed`. A subclass that adds designated initializers must also implement
/// `init(entity:insertInto:)`, with which the framework makes its objects.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmanagedobject>
open class NSManagedObject: NSObject, KeyValueCoding, PredicateComparable, KeyPathNaming {
    struct Flags: OptionSet {
        let rawValue: UInt16
        /// Pending insertion.
        static let inserted = Flags(rawValue: 1 << 0)
        /// Has pending changes and is in the context's list of updated objects.
        static let updated = Flags(rawValue: 1 << 1)
        /// Pending deletion.
        static let deleted = Flags(rawValue: 1 << 2)
        /// Values are not loaded.
        static let fault = Flags(rawValue: 1 << 3)
        /// Listed in the context's changes of the current event.
        static let inEvent = Flags(rawValue: 1 << 4)
        /// Change tracking is off: in `awakeFromFetch`, and while the framework sets values.
        static let silent = Flags(rawValue: 1 << 5)
        /// `inserted`, `updated`, `deleted` and `discarded`: any of them says that the context knows of a change.
        static let known = Flags(rawValue: 1 << 0 | 1 << 1 | 1 << 2 | 1 << 11)
        /// Its row is gone; reads give nil.
        static let inaccessible = Flags(rawValue: 1 << 6)
        /// Only records which properties are read (see `KeyPathProbe`).
        static let probe = Flags(rawValue: 1 << 7)
        /// Changed since its last `willSave`.
        static let changedInSave = Flags(rawValue: 1 << 8)
        /// Its deletion was propagated along its relationships.
        static let propagated = Flags(rawValue: 1 << 9)
        /// Its context was reset or deallocated, or its store removed: reads are errors.
        static let invalid = Flags(rawValue: 1 << 10)
        /// Was new in this context and deleted before its first save.
        static let discarded = Flags(rawValue: 1 << 11)
        /// In the event list as inserted.
        static let insertedInEvent = Flags(rawValue: 1 << 12)
        /// Deletion was committed.
        static let deletionSaved = Flags(rawValue: 1 << 13)
        /// Deleted by another context, whose save was merged: pending here, but nothing is left to write.
        static let deletedElsewhere = Flags(rawValue: 1 << 14)
        /// The row is gone: a save of the deletion has nothing to write.
        static let rowIsGone: Flags = [.inaccessible, .deletedElsewhere]

        /// Whether the object was inserted in the current event and is still to be.
        @inline(__always)
        var isNew: Bool {
            rawValue & (Self.insertedInEvent.rawValue | Self.discarded.rawValue | Self.deleted.rawValue)
                == Self.insertedInEvent.rawValue
        }
        /// Each access checks the queue (see `ConcurrencyDebug`).
        static let checked = Flags(rawValue: 1 << 15)
        /// Either of them says that a value cannot just be read.
        static let attention: Flags = [.fault, .checked]
    }

    // Dynamic exclusivity checks are off for the fields that every property access reads: objects are confined to one
    // queue, and no accessor below keeps a field open while it calls other code.

    // What reading needs comes first, so that it lies in one or two cache lines.

    /// The committed row when it may be read directly: the object is loaded. Nil for faults and new objects.
    @exclusivity(unchecked) @usableFromInline final var row: RowPointer?
    /// The layout's table for accessors. Unretained: the registry, the page or the extras of an object own the model's layouts.
    @exclusivity(unchecked) @usableFromInline final var accessorTable: AccessorTable
    @exclusivity(unchecked) final var flags: Flags = []
    /// Number of the store that holds the object; -1 before it has one.
    @exclusivity(unchecked) final var storeNumber: Int16 = -1
    /// Position in the context's list of inserted, updated or deleted objects.
    @exclusivity(unchecked) final var listIndex: Int32 = -1
    /// The committed row whether or not the fault has fired.
    @exclusivity(unchecked) final var committedRow: RowPointer?
    /// Unsaved values and which properties changed. Owned: read without counting references by the accessors.
    @exclusivity(unchecked) final var pendingReference: Unmanaged<PendingValues>?
    /// Owned, as above.
    @exclusivity(unchecked) final var extrasReference: Unmanaged<ObjectExtras>?
    /// The registry of the object's context: retained by this object.
    @exclusivity(unchecked) final var heldRegistry: Unmanaged<ObjectRegistry>?
    /// Keeps `committedRow` alive: retained by this object.
    @exclusivity(unchecked) final var heldPage: Unmanaged<RowPage>?
    /// Primary key; 0 before one is reserved.
    @exclusivity(unchecked) final var key: Int64 = 0
    /// Place among the registry's waiting objects, guarded by the registry's lock; -1 for an object that does not wait.
    @exclusivity(unchecked) final var registryPlace: Int32 = -1

    /// Where the object's properties lie.
    @inline(__always)
    final var layout: EntityLayout {
        get { accessorTable.owner._withUnsafeGuaranteedRef { $0 } }
        set { accessorTable = newValue.objects.accessorTable(for: Swift.type(of: self)) }
    }

    /// Keeps `committedRow` alive.
    final var page: RowPage? {
        get { heldPage?.takeUnretainedValue() }
        set {
            let old = heldPage
            heldPage = newValue.map { .passRetained($0) }
            old?.release()
        }
    }

    /// The registry of the object's context.
    final var registry: ObjectRegistry? {
        get { heldRegistry?.takeUnretainedValue() }
        set {
            let old = heldRegistry
            heldRegistry = newValue.map { .passRetained($0) }
            old?.release()
        }
    }

    // MARK: - Making objects

    /// Makes an object of an entity and, with a context, inserts it there.
    ///
    /// On an entity whose class adds no stored properties to the class this is called on, the result is of the entity's
    /// class, as on Apple's systems.
    // Never inlined: `reclassify` may change the class of the object, which the optimizer must not think it knows.
    @inline(never)
    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        // Nobody but this object may want the layouts: they must live until it keeps them.
        var layouts: ModelLayout?
        defer { withExtendedLifetime(layouts) {} }
        let objects = entity.objectLayoutReference ?? entity.makeObjectLayout(keptAliveBy: &layouts)
        accessorTable = objects._withUnsafeGuaranteedRef { $0.accessorTable }
        flags = objects._withUnsafeGuaranteedRef { $0.initialFlags }
        // For a context nothing is left to do. Using the object here would cost two changes of its reference count.
        let isForContext =
            context == nil && opencoredata_makesObjectForContext(Unmanaged.passUnretained(entity).toOpaque()) != 0
        super.init()
        if !isForContext { begin(in: context) }
    }

    // Never inlined: `reclassify` may change the class of the object, which the optimizer must not think it knows.
    @inline(never)
    private final func begin(in context: NSManagedObjectContext?) {
        let isOfEntityClass = Swift.type(of: self) == layout.managedObjectClass
        guard let context else {
            if !isOfEntityClass { accessorTable = layout.objects.accessorTable(for: Swift.type(of: self)) }
            // An object of the program's own, outside any context, keeps its model alive itself.
            _ = makeExtras()
            return
        }
        if isOfEntityClass {
            context.insertNew(self)
        } else {
            becomeInstanceOfEntityClass()
            let object = withUnknownClass(self)
            accessorTable = layout.objects.accessorTable(for: Swift.type(of: object))
            context.insertNew(object)
        }
    }

    /// Makes an object of an entity's class for a context, which gives it its registry, and with it its model, at once. The
    /// retained entity is consumed.
    @inline(__always)
    static func makeForContext(
        _ objectClass: NSManagedObject.Type, consuming entity: Unmanaged<NSEntityDescription>
    ) -> NSManagedObject {
        opencoredata_willMakeObjectForContext(entity.toOpaque())
        return objectClass.init(entity: entity.takeRetainedValue(), insertInto: nil)
    }

    /// Makes an object for a context, which gives it its registry, and with it its model, at once. Called on the entity's class.
    @inline(__always)
    final class func forContext(_ entity: NSEntityDescription) -> Self {
        opencoredata_willMakeObjectForContext(Unmanaged.passUnretained(entity).toOpaque())
        return self.init(entity: entity, insertInto: nil)
    }

    /// Makes an object of the class's entity and inserts it into the context.
    ///
    /// The class must stand for exactly one entity of the context's model.
    // Required, so that generic code can call it on a class that is not known until run time, as it can on a Mac.
    public required convenience init(context: NSManagedObjectContext) {
        self.init(entity: Self._entity(in: context), insertInto: context)
    }

    /// Called when an object is inserted, before `awakeFromInsert()`: generated code sets the initial values that the
    /// class declares.
    open func _setInitialValues() {}

    /// Called in the place of `_setInitialValues()` when a generated initializer inserts the object: generated code sets the
    /// initial values of the properties that the initializer does not take, or takes only where they are given.
    open func _setHiddenInitialValues() {}

    deinit {
        if let heldRegistry {
            heldRegistry._withUnsafeGuaranteedRef { $0.forget(self) }
            heldRegistry.release()
        }
        heldPage?.release()
        pendingReference?.release()
        extrasReference?.release()
    }

    /// Makes a new object the fault of a fetched row. The row's page and the registry were retained for it.
    @inline(__always)
    final func becomeFault(of row: RowPointer, store: Int16, registry: Unmanaged<ObjectRegistry>) {
        flags.insert(.fault)
        key = row.rowKey
        storeNumber = store
        committedRow = row
        heldPage = row.rowPage
        heldRegistry = registry
    }

    /// Unsaved values of stored properties, in memory form; in a new object a missing slot has its default value.
    @inline(__always)
    final var pending: PendingValues? {
        get { pendingReference?.takeUnretainedValue() }
        set {
            let former = pendingReference
            pendingReference = newValue.map { .passRetained($0) }
            former?.release()
        }
    }

    /// What an object needs only once its relationships or its temporary ID are used.
    @inline(__always)
    final var extras: ObjectExtras? {
        get { extrasReference?.takeUnretainedValue() }
        set {
            let former = extrasReference
            extrasReference = newValue.map { .passRetained($0) }
            former?.release()
        }
    }

    /// The entity that the class stands for, found in the models that coordinators use.
    ///
    /// The class should stand for exactly one entity of exactly one model in use. Otherwise the result is an entity without a
    /// name that belongs to no model, of which no object can be made, and a message says so.
    open class func entity() -> NSEntityDescription {
        if let entity = ModelRegistry.shared.entity(for: self) { return entity }
        Warnings.sayOnce(about: "entity of \(String(reflecting: self))") {
            "No model in use has exactly one entity whose class is \(self), so that \(self).entity() gives one without a name. Add the "
                + "model to a persistent store coordinator first, or name the entity with "
                + "NSEntityDescription.entity(forEntityName:in:)."
        }
        let entity = NSEntityDescription()
        entity.managedObjectClassName = String(reflecting: self)
        return entity
    }

    /// A fetch request for the entity that the class stands for.
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
        if flags.contains(.inserted) || storeNumber < 0 {
            if let objectID = registry?.permanentID(ofNew: self) { return objectID }
            let extras = makeExtras()
            let serial = registry?.nextTemporarySerial() ?? ObjectRegistry.nextFreeSerial()
            let objectID = NSManagedObjectID(
                temporary: serial, in: registry?.temporarySpace ?? ObjectRegistry.freeSpace, layout: layout)
            extras.objectID = objectID
            registry?.noteTemporaryID(objectID, of: self)
            return objectID
        }
        guard let store = registry?.store(number: Int(storeNumber)) else {
            // An object keeps its identity whatever became of its store.
            guard let token = registry?.formerStoreToken(number: Int(storeNumber)) else {
                preconditionFailure("\(layout.name) object p\(key) belongs to no store.")
            }
            return NSManagedObjectID(key: key, layout: layout, token: token)
        }
        return NSManagedObjectID(key: key, layout: layout, store: store)
    }

    public final override func isEqual(_ object: Any?) -> Bool {
        guard let object else { return false }
        if Swift.type(of: object) == Swift.type(of: self) {
            // Sets compare often, and a cast costs more: an `Any` that holds an object has the reference in its first word.
            let reference = withUnsafeBytes(of: object) { $0.load(as: UInt.self) }
            return reference == UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())
        }
        return (object as? NSManagedObject) === self
    }

    public final override var hash: Int {
        // Objects never move, and are at least 16 bytes apart.
        Int(bitPattern: Unmanaged.passUnretained(self).toOpaque()) >> 4
    }

    /// Entity, identity and, for a loaded object, its values. Does not fire the fault.
    open override var description: String {
        if flags.contains(.probe) { return "<\(layout.name) probe>" }
        let address = String(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()), radix: 16)
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
                return "\(slot.name) = \(PropertyConversion.object(from: value, kind: slot.kind).map { "\($0)" } ?? "nil")"
            }
        }
        return head + "; data: {\(values.joined(separator: "; "))})"
    }

    /// The URI of the identity, without making one for an object whose store is gone.
    final var descriptionOfIdentity: String {
        if storeNumber >= 0, registry?.store(number: Int(storeNumber)) == nil { return "\(layout.name)/p\(key)" }
        return objectID.description
    }

    // MARK: - State

    /// Whether the object's values are not loaded yet.
    public final var isFault: Bool { flags.contains(.fault) }

    /// Whether the object is new in its context and not saved yet.
    public final var isInserted: Bool { flags.contains(.inserted) && !flags.contains(.deleted) }

    /// Whether the object has unsaved changes (and is neither new nor deleted).
    public final var isUpdated: Bool { flags.contains(.updated) && !flags.contains(.deleted) }

    /// Whether the object will be deleted by the next save.
    public final var isDeleted: Bool { flags.contains(.deleted) }

    /// Whether the object is inserted, updated or deleted.
    public final var hasChanges: Bool { !flags.isDisjoint(with: [.inserted, .updated, .deleted]) }

    /// Whether a persistent property differs from its committed value, or the object is new or deleted.
    public final var hasPersistentChangedValues: Bool {
        guard flags.isDisjoint(with: [.inserted, .deleted]) else {
            return flags.contains(.inserted) ? !changedValues().isEmpty : true
        }
        return hasPersistentChanges
    }

    /// 0 for a loaded object that is not being turned into a fault, another number otherwise.
    public final var faultingState: Int { flags.contains(.fault) ? 1 : 0 }

    /// Whether changes of properties that the model does not describe leave `hasChanges` alone.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    // MARK: - Life cycle

    /// Called once when the object is first inserted into a context. Call `super` first.
    open func awakeFromInsert() {}

    /// Called each time the object's values are filled from the store. Changes made here are not tracked.
    open func awakeFromFetch() {}

    /// Called when the object's values were replaced by undo, rollback, refresh or a merge policy.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called before a save for every inserted, updated or deleted object, and again for those that change meanwhile.
    open func willSave() {}

    /// Called after a save for every object that took part, also deleted ones.
    open func didSave() {}

    /// Called when the object is about to be deleted, while all its relationships are intact.
    open func prepareForDeletion() {}

    /// Called before the object's values are dropped.
    open func willTurnIntoFault() {}

    /// Called when the object's values have been dropped.
    open func didTurnIntoFault() {}

    // MARK: - Validation

    /// Checks whether the object may be deleted: its relationships with the deny rule must be empty.
    open func validateForDelete() throws {
        try throwCombined(validationErrorsForDelete())
    }

    /// Checks the object before it is saved for the first time: every property against its description.
    ///
    /// An override calls `super` and combines its errors with those of `super`.
    open func validateForInsert() throws {
        try validateProperties()
    }

    /// Checks the changed object before it is saved: every property against its description.
    open func validateForUpdate() throws {
        try validateProperties()
    }

    /// Checks a value for a property: its type, then the description's rules. Override this for rules of your own by key
    /// (there is no run-time search for `validate<Key>` methods off Apple's platforms).
    ///
    /// - Throws: an error in `NSCocoaErrorDomain`, codes 1550 to 1680, whose user info names object, key and value.
    open func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try validateAgainstDescription(value.pointee, forKey: key)
    }

    // MARK: - Key-value coding

    /// The value of a property by name: NSNumber, String, Date, …, an object or a set of objects; nil for nil.
    ///
    /// An unknown key is a programming error and stops the program with a message that names entity and key.
    open func value(forKey key: String) -> Any? {
        guard let slot = layout.slotByName[key] else { return valueForUndefinedKey(key) }
        return objectValue(slot)
    }

    /// Sets a property by name, as its accessor would.
    ///
    /// A value of the wrong type is a programming error and stops the program with a message that names entity, key, the
    /// type expected and the one given. `validateValue(_:forKey:)` tells beforehand.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let slot = layout.slotByName[key] else {
            setValue(value, forUndefinedKey: key)
            return
        }
        setObjectValue(value, slot: slot)
    }

    /// Called for a key that the entity does not have; the default stops the program with a message.
    open func value(forUndefinedKey key: String) -> Any? {
        preconditionFailure(
            "The entity \(layout.name) has no property named \"\(key)\" (\(layout.propertySlots.map(\.name).joined(separator: ", ")))."
        )
    }

    /// Called for a key that the entity does not have; the default stops the program with a message.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        preconditionFailure(
            "The entity \(layout.name) has no property named \"\(key)\" (\(layout.propertySlots.map(\.name).joined(separator: ", ")))."
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

    /// Whether the object only records which properties a key path reads, and has no values.
    public final var _isKeyPathProbe: Bool { flags.contains(.probe) }

    // MARK: - Predicates

    /// Objects equal their IDs in predicates.
    public final func isEqualInPredicate(to other: Any) -> Bool {
        switch other {
        case let object as NSManagedObject: self === object || objectID == object.objectID
        case let objectID as NSManagedObjectID: self.objectID == objectID
        default: false
        }
    }

    /// The name of the property that a key path of the class reads.
    public class func keyName(for keyPath: AnyKeyPath) -> String? {
        if let name = (self as? any _SelfDescribingClass.Type)?._propertyName(for: keyPath) { return name }
        return KeyPathProbe.name(of: keyPath, in: self)
    }
}

/// A pointer to a value that a method may replace: what `AutoreleasingUnsafeMutablePointer` is where there is an
/// Objective-C runtime, so that overrides of `validateValue(_:forKey:)` read the same.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>

/// Why an object's values were replaced, for `awake(fromSnapshotEvents:)`.
public struct NSSnapshotEventType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
    public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
    public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
    public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
    public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
    public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}
