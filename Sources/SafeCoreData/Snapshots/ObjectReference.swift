/// The identity of a managed object as a value. A snapshot uses it for its own object and for the
/// destinations of relationships.
///
/// It may be passed to other threads and processes, and is encoded as the object's URI. A reference
/// to an unsaved object is valid in the context that made it, until the save; `new(_:)` creates one
/// for an object that does not exist yet.
///
/// ```swift
/// var item = Item.Snapshot()
/// // to one that is stored, or to ObjectReference.new(Supplier.self)
/// item.supplier = supplier.objectID
/// ```
public struct ObjectReference: Hashable, Sendable {
    @usableFromInline
    enum Local: Hashable, Sendable {
        case key(Int64)
        case text(String)
    }

    /// The store and entity, shared by the references to objects of one entity that were read
    /// together.
    @usableFromInline let origin: RowOrigin
    @usableFromInline let local: Local

    /// The name of the object's entity.
    public var entityName: String { origin.entityName }
    /// The UUID of the object's store; empty for an object that was never saved.
    var store: String { origin.store }

    init(entityName: String, store: String, local: Local) {
        origin = RowOrigin(store: store, entityName: entityName)
        self.local = local
    }

    /// A reference to no object.
    static let nowhere = ObjectReference(entityName: "", store: "", local: .text(""))

    /// Creates a reference to an object. Cost: that of its object ID.
    public init(_ object: NSManagedObject) { self.init(object.objectID) }

    /// Creates a reference from an object ID.
    public init(_ objectID: NSManagedObjectID) {
        let uri = objectID.uriRepresentation()
        // The engine creates the URI, which has the form that is parsed here.
        self = ObjectReference(uri: uri) ?? ObjectReference(entityName: "", store: "", local: .text(uri.absoluteString))
    }

    @inlinable @inline(__always)
    init(origin: RowOrigin, key: Int64) {
        self.origin = origin
        local = .key(key)
    }

    init(_ identity: StoredRowIdentity) {
        origin = identity.origin
        local = identity.text.map { Local(text: $0) } ?? .key(identity.key)
    }

    /// Creates a unique reference to an object of a class that does not exist yet.
    ///
    /// Cost: O(number of properties of the class), because the class describes its entity to get
    /// the name.
    ///
    /// ```swift
    /// var snapshot = Item.Snapshot(ObjectReference.new(Item.self))   // apply(_:) makes the object
    /// snapshot.name = "Bolt"
    /// ```
    public static func new(_ objectClass: any EntityObject.Type) -> ObjectReference {
        ObjectReference(entityName: objectClass.describeEntity().name, store: "", local: .text("t\(UUID().uuidString)"))
    }

    /// Parses `x-coredata://STORE-UUID/Entity/p12`; nil for anything else.
    ///
    /// ```swift
    /// let reference = ObjectReference(uri: uri)               // nil where the URI names no object
    /// ```
    public init?(uri: URL) {
        guard uri.scheme == "x-coredata" else { return nil }
        let parts = uri.absoluteString.dropFirst("x-coredata://".count)
            .split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let name = String(parts[1]).removingPercentEncoding, !name.isEmpty, !parts[2].isEmpty
        else { return nil }
        self.init(entityName: name, store: String(parts[0]), local: Local(text: String(parts[2])))
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.local == right.local
            && (left.origin === right.origin || (left.entityName == right.entityName && left.store == right.store))
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(local)
        hasher.combine(entityName)
        hasher.combine(store)
    }

    /// The object's URI, as `NSManagedObjectID.uriRepresentation()` returns it.
    public var uri: URL {
        let name = entityName.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["_"])) ?? entityName
        return URL(string: "x-coredata://\(store)/\(name)/\(local.text)") ?? URL(fileURLWithPath: "/")
    }

    /// Whether the object had not been saved when the reference was made.
    public var isTemporary: Bool { store.isEmpty }
}

extension ObjectReference.Local {
    init(text: String) {
        // Only numbers whose text is reproduced exactly: "p012" stays a text.
        if text.hasPrefix("p"), let key = Int64(text.dropFirst()), "p\(key)" == text {
            self = .key(key)
        } else {
            self = .text(text)
        }
    }

    var text: String {
        switch self {
        case .key(let key): "p\(key)"
        case .text(let text): text
        }
    }
}

extension ObjectReference: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let reference = URL(string: text).flatMap({ ObjectReference(uri: $0) }) else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath, debugDescription: "\"\(text)\" is not the URI of a managed object.")
            )
        }
        self = reference
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uri.absoluteString)
    }
}

extension ObjectReference: CustomStringConvertible {
    public var description: String { uri.absoluteString }
}
