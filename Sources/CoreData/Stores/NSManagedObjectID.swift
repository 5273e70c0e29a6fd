import Foundation

/// The identity of a managed object: its store, its entity and its row.
///
/// The identity is temporary until the first save.
///
/// Object IDs are immutable and may cross threads. They are equal in all contexts of one
/// coordinator, and in contexts of other coordinators that have the same store open. They are
/// created on demand; the framework itself works with primary keys.
///
/// Source: <https://developer.apple.com/documentation/coredata/nsmanagedobjectid>
///
/// ```swift
/// let text = item.objectID.uriRepresentation().absoluteString
/// let objectID = coordinator.managedObjectID(forURIRepresentation: URL(string: text)!)
/// ```
public final class NSManagedObjectID: NSObject, NSCopying, Sendable {
    enum Identity: Hashable {
        case permanent(StoreToken, table: Int, key: Int64)
        case temporary(UUID, serial: Int64)
    }

    let identity: Identity
    // unowned(unsafe): the model's layouts own it.
    unowned(unsafe) let layout: EntityLayout
    private let modelLayout: ModelLayout

    /// An ID of a row of a store.
    package convenience init(key: Int64, layout: EntityLayout, store: NSPersistentStore) {
        self.init(key: key, layout: layout, token: store.token)
    }

    init(key: Int64, layout: EntityLayout, token: StoreToken) {
        identity = .permanent(token, table: layout.rootIndex, key: key)
        self.layout = layout
        modelLayout = layout.model
    }

    /// An ID of an object that was never saved.
    init(temporary serial: Int64, in space: UUID, layout: EntityLayout) {
        identity = .temporary(space, serial: serial)
        self.layout = layout
        modelLayout = layout.model
    }

    private var store: NSPersistentStore? {
        if case .permanent(let token, _, _) = identity { return token.store }
        return nil
    }

    /// The entity of the object.
    public var entity: NSEntityDescription { layout.entity }

    /// The store that holds the object; nil for an object that was never saved, and once the store
    /// is gone.
    public var persistentStore: NSPersistentStore? {
        guard let store, store.persistentStoreCoordinator != nil else { return nil }
        return store
    }

    /// The store, also after it was removed from its coordinator.
    var anyStore: NSPersistentStore? { store }

    /// The number of the store, also after it was removed from its coordinator; nil for a temporary
    /// ID, and once the store is gone.
    var storeNumber: Int? {
        if case .permanent(let token, _, _) = identity { return token.numberInUse }
        return nil
    }

    /// Whether the object has not been saved yet. The ID is replaced by a permanent one when it is.
    ///
    /// ```swift
    /// if item.objectID.isTemporaryID { try context.obtainPermanentIDs(for: [item]) }
    /// ```
    public var isTemporaryID: Bool {
        if case .temporary = identity { return true }
        return false
    }

    /// Whether the ID is of a row of a store that another coordinator opened; that store's number
    /// has no meaning here.
    ///
    /// - Parameter coordinator: the serial of the caller's own coordinator.
    @inline(__always)
    func isForeign(to coordinator: Int) -> Bool {
        if case .permanent(let token, _, _) = identity { return token.coordinatorSerial != coordinator }
        return false
    }

    /// The primary key of a permanent ID, nil for a temporary one.
    var key: Int64? {
        if case .permanent(_, _, let key) = identity { return key }
        return nil
    }

    /// A URI that names the object: `x-coredata://STORE-UUID/Entity/p12`.
    ///
    /// If the ID is permanent, the URI is valid in other processes too, and after a relaunch.
    ///
    /// ```swift
    /// let uri = item.objectID.uriRepresentation()             // permanent once the item was saved
    /// let id = coordinator.managedObjectID(forURIRepresentation: uri)
    /// ```
    public func uriRepresentation() -> URL {
        let text =
            switch identity {
            case .permanent(let token, _, let key):
                "x-coredata://\(token.uuid)/\(escapedEntityName)/"
                    + (token.store?.uriText(forKey: key, of: layout) ?? "p\(key)")
            case .temporary(let space, let serial): "x-coredata:///\(escapedEntityName)/t\(space.uuidString)\(serial)"
            }
        // Entity names are letters, digits and underscores, or escaped above, so the text is always
        // a URL.
        return URL(string: text) ?? URL(fileURLWithPath: "/")
    }

    private var escapedEntityName: String {
        let name = layout.name
        // Most names have nothing to escape.
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: byte == UInt8(ascii: "_")
            }
        }
        if isPlain { return name }
        return name.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(CharacterSet(charactersIn: "_")))
            ?? name
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectID else { return false }
        return self === other || identity == other.identity
    }

    public override var hash: Int {
        switch identity {
        case .permanent(_, let table, let key): Int(truncatingIfNeeded: key) &* 31 &+ table
        case .temporary(_, let serial): Int(truncatingIfNeeded: ~serial)
        }
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public override var description: String { "<\(uriRepresentation().absoluteString)>" }
}

extension NSManagedObjectID: RowIdentity {
    func rowReference(in store: AnyObject) -> RowReference? {
        guard case .permanent(let token, _, let key) = identity else { return nil }
        if let own = token.store, own === store { return RowReference(key: key, layoutIndex: layout.index) }
        return (store as? NSPersistentStore).flatMap(rowReference(inTwin:))
    }

    /// Returns the row in a store with the UUID of the ID's own store.
    ///
    /// Another coordinator may have opened that store.
    ///
    /// Nil in any other store, and where the model there lacks the entity.
    func rowReference(inTwin store: NSPersistentStore) -> RowReference? {
        guard case .permanent(let token, _, let key) = identity, token.uuid == store.identifier,
            let layout = store.modelLayout?.layoutByName[layout.name]
        else { return nil }
        if store.namesRowsByKey { return RowReference(key: key, layoutIndex: layout.index) }
        // Each store of such a class assigns its own keys.
        guard let text = token.store?.referenceText(forKey: key, of: self.layout),
            let key = store.key(forReferenceText: text, of: layout)
        else { return nil }
        return RowReference(key: key, layoutIndex: layout.index)
    }
}

extension NSManagedObjectID: RankedIdentity {
    package var identityRank: IdentityRank {
        switch identity {
        case .permanent(let token, let table, let key): IdentityRank(store: token.number, table: table, key: key)
        case .temporary(_, let serial): IdentityRank(newWithSerial: serial)
        }
    }
}

/// The part of a store that its object IDs hold: its UUID, and the store itself while it exists.
final class StoreToken: Hashable, Sendable {
    let uuid: String
    /// The store's number among all that its coordinator ever had; -1 where it was never added.
    let number: Int
    private let reference: BackReference<NSPersistentStore>
    /// The serial of the coordinator that opened the store; kept after the store was removed.
    let coordinatorSerial: Int

    init(_ store: BackReference<NSPersistentStore>, uuid: String, number: Int, coordinatorSerial: Int) {
        self.uuid = uuid
        self.number = number
        reference = store
        self.coordinatorSerial = coordinatorSerial
    }

    var store: NSPersistentStore? { reference.object }

    /// The store's number; nil once the store is gone.
    var numberInUse: Int? { reference.hasObject ? number : nil }

    static func == (first: StoreToken, second: StoreToken) -> Bool {
        first === second || first.uuid == second.uuid
    }

    func hash(into hasher: inout Hasher) { hasher.combine(uuid) }
}
