/// Makes a class an entity: what Core Data checks at run time, the compiler checks from now on.
///
/// ```swift
/// @Entity
/// public final class Item: NSManagedObject {
///     public private(set) var itemId: String = UUID().uuidString   // evaluated for each new object
///     public var name: String                                      // required: the initializer asks for it
///     public var stockCount: Int = 0
///     public var note: String?
///     @Relationship(inverse: \Supplier.items) public var supplier: Supplier?
/// }
/// let item = Item(context: context, name: "Bolt")
/// ```
///
/// Every stored `var` becomes a property of the entity; one that is not optional is required in the model as well, and by
/// the initializer unless it has an initial value. The initializer takes the context, then the properties in the order of
/// their declaration; optional ones default to nil, relationships with several objects to none. A class with a designated
/// initializer of its own gets no other. Arrays and sets of types that the macro does not know by name are taken for
/// relationships there; `@Attribute` says that one is not.
///
/// | Swift | Model |
/// |---|---|
/// | `Int16`, `Int8`, `UInt8` | Integer 16 |
/// | `Int32`, `UInt16` | Integer 32 |
/// | `Int64`, `Int`, `UInt32`, `UInt`, `UInt64` | Integer 64; of the last two, values above `Int64.max` compare as negative ones |
/// | `Double`, `Float`, `Bool`, `String`, `Date`, `UUID`, `URL`, `Data` | Double, Float, Boolean, String, Date, UUID, URI, Binary |
/// | `Decimal`, `NSDecimalNumber` | Decimal |
/// | an enumeration or another `RawRepresentable` of these | as its raw value |
/// | another `Codable` type, also arrays, sets and dictionaries | Binary: JSON with sorted keys, decoded at each read; `jsonb` in PostgreSQL |
/// | `Other`, `Other?` | a relationship with one object |
/// | `Set<Other>` | a relationship with several |
/// | `[Other]`, `NSOrderedSet` | an ordered one |
///
/// A subclass of an `@Entity` class is an entity of its own with that superentity. Its initializer takes the inherited values
/// in one argument: `Book(context: context, inheriting: .init(name: "…"), author: "…")`.
///
/// - Parameters:
///   - name: the entity's name; the class's name unless given.
///   - isAbstract: whether there are only objects of subclasses. Written as `true`, it makes the initializer unavailable.
///   - uniquenessConstraints: lists of attributes whose values together no two objects share.
///   - indexes: lists of properties that the store keeps an index for.
///   - renamingIdentifier: the name by which migration finds the entity in the older model.
///   - versionHashModifier: a text that makes the entity's version hash differ.
///   - userInfo: what the model says to programs and stores, such as names of tables in PostgreSQL.
@attached(memberAttribute)
@attached(
    member, conformances: EntityObject,
    names: named(init), named(_initialValue), named(_setInitialValues), named(_setHiddenInitialValues), named(describeEntity),
    named(InitialValues), named(Snapshot), named(snapshot), named(snapshotGraph), named(_snapshotType), named(_Subclasses))
@attached(extension, conformances: EntityObject)
public macro Entity(
    _ name: String? = nil, isAbstract: Bool = false, uniquenessConstraints: [[String]] = [], indexes: [[String]] = [],
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "SafeCoreDataMacros", type: "EntityMacro")

/// Says more about an attribute of an `@Entity` class.
///
/// ```swift
/// @Attribute(.unique, .length(1...20)) var code: String
/// @Attribute(.range(0...), originalName: "amount") var count: Int = 0
/// ```
///
/// - Parameters:
///   - options: what the attribute is like.
///   - originalName: its name in the older model, for migration.
///   - versionHashModifier: a text that makes its version hash differ.
///   - userInfo: what the model says to programs and stores.
@attached(peer)
public macro Attribute(
    _ options: AttributeOption..., originalName: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) =
    #externalMacro(module: "SafeCoreDataMacros", type: "AttributeMacro")

/// Says more about a relationship of an `@Entity` class.
///
/// One side of a pair names its inverse; the other side needs nothing. A relationship that is its own inverse, as between
/// friends, cannot name itself and says `ownInverse: true`.
///
/// ```swift
/// @Relationship(inverse: \Supplier.items) var supplier: Supplier?
/// @Relationship(deleteRule: .cascade, maximum: 5) var photos: [Photo]
/// ```
///
/// - Parameters:
///   - deleteRule: what deleting the object does to the objects at the other end.
///   - inverse: the key path of the property that leads back, `\Other.property`.
///   - ownInverse: whether this property leads back itself. It leads to objects of the class.
///   - minimum: the least number of objects.
///   - maximum: the greatest number; 0 for no limit. Only for relationships with several objects.
///   - optional: whether a relationship with several objects may be empty; it may when the minimum is 0 unless this is
///     given. Of a relationship with one object its type says so.
///   - ordered: whether the objects have an order; an array or NSOrderedSet has one unless this is given.
///   - originalName: the relationship's name in the older model, for migration.
///   - versionHashModifier: a text that makes its version hash differ.
///   - userInfo: what the model says to programs and stores.
@attached(peer)
public macro Relationship(
    deleteRule: NSDeleteRule = .nullify, inverse: AnyKeyPath? = nil, ownInverse: Bool = false, minimum: Int = 0, maximum: Int = 0,
    optional: Bool? = nil, ordered: Bool? = nil, originalName: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "SafeCoreDataMacros", type: "RelationshipMacro")

/// A property of an `@Entity` class that is kept in memory only. It is optional or has an initial value.
///
/// ```swift
/// @Transient var isSelected: Bool = false
/// ```
@attached(peer)
public macro Transient() = #externalMacro(module: "SafeCoreDataMacros", type: "TransientMacro")

/// A property of an `@Entity` class that the store computes at each save, such as `"suppliers.@count"`. Read-only.
///
/// ```swift
/// @Derived("items.@count") var itemCount: Int             // a count as of the last save, in a column of its own
/// ```
///
/// - Parameter expression: what computes it, in the language of predicates.
@attached(peer)
public macro Derived(_ expression: String) = #externalMacro(module: "SafeCoreDataMacros", type: "DerivedMacro")

/// Writes the accessors of a property. `@Entity` uses it; there is no reason to write it.
@attached(accessor, names: named(get), named(set))
public macro _EntityProperty() = #externalMacro(module: "SafeCoreDataMacros", type: "EntityPropertyMacro")
