/// Makes a class an entity: the compiler checks rules that Core Data otherwise checks at run time.
///
/// ```swift
/// @Entity
/// public final class Item: NSManagedObject {
///     public private(set) var itemId: String = UUID().uuidString  // evaluated for each new object
///     public var name: String                             // required: the initializer asks for it
///     public var stockCount: Int = 0
///     public var note: String?
///     @Relationship(inverse: \Supplier.items) public var supplier: Supplier?
/// }
/// let item = Item(context: context, name: "Bolt")
/// ```
///
/// Every stored `var` becomes a property of the entity. A property that is not optional is required
/// in the model and, unless it has an initial value, by the initializer. The initializer takes the
/// context, then the properties in the order of their declaration; optional ones default to nil,
/// to-many relationships to empty. A class with its own designated initializer gets no other. The
/// initializer treats arrays and sets of types that the macro does not know by name as
/// relationships, unless they have `@Attribute`.
///
/// | Swift | Model |
/// |---|---|
/// | `Int16`, `Int8`, `UInt8` | Integer 16 |
/// | `Int32`, `UInt16` | Integer 32 |
/// | `Int64`, `Int`, `UInt32`, `UInt`, `UInt64` | Integer 64; of the last two, values above
/// `Int64.max` compare as negative ones |
/// | `Double`, `Float`, `Bool`, `String`, `Date`, `UUID`, `URL`, `Data` | Double, Float, Boolean,
/// String, Date, UUID, URI, Binary |
/// | `Decimal`, `NSDecimalNumber` | Decimal |
/// | an enumeration or another `RawRepresentable` of these | as its raw value |
/// | another `Codable` type, also arrays, sets and dictionaries | Binary: JSON with sorted keys,
/// decoded at each read; `jsonb` in PostgreSQL |
/// | `Other`, `Other?` | a relationship with one object |
/// | `Set<Other>` | a relationship with several |
/// | `[Other]`, `NSOrderedSet` | an ordered one |
///
/// A subclass of an `@Entity` class is a subentity of that class's entity. Its initializer takes
/// the inherited values in one argument: `Book(context: context, inheriting: .init(name: "…"),
/// author: "…")`.
///
/// - Parameters:
///   - name: the entity's name; by default the class's name.
///   - isAbstract: whether only subclasses have objects. The literal `true` makes the initializer
///     unavailable.
///   - uniquenessConstraints: lists of attributes whose combined values must be unique.
///   - indexes: lists of properties for which the store has an index.
///   - renamingIdentifier: the name by which migration finds the entity in the older model.
///   - versionHashModifier: a text that makes the entity's version hash differ.
///   - userInfo: entries of the model for programs and stores, such as names of tables in
///     PostgreSQL.
@attached(memberAttribute)
@attached(
    member, conformances: EntityObject,
    names: named(init), named(_initialValue), named(_setInitialValues), named(_setHiddenInitialValues),
    named(describeEntity),
    named(InitialValues), named(Snapshot), named(snapshot), named(snapshotGraph), named(_snapshotType),
    named(_Subclasses))
@attached(extension, conformances: EntityObject)
public macro Entity(
    _ name: String? = nil, isAbstract: Bool = false, uniquenessConstraints: [[String]] = [], indexes: [[String]] = [],
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "SafeCoreDataMacros", type: "EntityMacro")

/// Adds options to an attribute of an `@Entity` class.
///
/// ```swift
/// @Attribute(.unique, .length(1...20)) var code: String
/// @Attribute(.range(0...), originalName: "amount") var count: Int = 0
/// ```
///
/// - Parameters:
///   - options: the options of the attribute.
///   - originalName: its name in the older model, for migration.
///   - versionHashModifier: a text that makes its version hash differ.
///   - userInfo: entries of the model for programs and stores.
@attached(peer)
public macro Attribute(
    _ options: AttributeOption..., originalName: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
) =
    #externalMacro(module: "SafeCoreDataMacros", type: "AttributeMacro")

/// Adds rules to a relationship of an `@Entity` class.
///
/// One side of a pair names its inverse; the other side needs nothing. A relationship that is its
/// own inverse, as between friends, cannot name itself and has `ownInverse: true` instead.
///
/// ```swift
/// @Relationship(inverse: \Supplier.items) var supplier: Supplier?
/// @Relationship(deleteRule: .cascade, maximum: 5) var photos: [Photo]
/// ```
///
/// - Parameters:
///   - deleteRule: the effect of deleting the object on the objects at the other end.
///   - inverse: the key path of the inverse property, `\Other.property`.
///   - ownInverse: whether this property is its own inverse. Its destination is the class itself.
///   - minimum: the least number of objects.
///   - maximum: the greatest number; 0 for no limit. Only for to-many relationships.
///   - optional: whether a to-many relationship may be empty; by default it may if the minimum is
///     0. For a to-one relationship its type decides.
///   - ordered: whether the objects have an order; by default an array or NSOrderedSet has one.
///   - originalName: the relationship's name in the older model, for migration.
///   - versionHashModifier: a text that makes its version hash differ.
///   - userInfo: entries of the model for programs and stores.
@attached(peer)
public macro Relationship(
    deleteRule: NSDeleteRule = .nullify, inverse: AnyKeyPath? = nil, ownInverse: Bool = false, minimum: Int = 0,
    maximum: Int = 0,
    optional: Bool? = nil, ordered: Bool? = nil, originalName: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "SafeCoreDataMacros", type: "RelationshipMacro")

/// A property of an `@Entity` class that is held in memory only. It must be optional or have an
/// initial value.
///
/// ```swift
/// @Transient var isSelected: Bool = false
/// ```
@attached(peer)
public macro Transient() = #externalMacro(module: "SafeCoreDataMacros", type: "TransientMacro")

/// A property of an `@Entity` class that the store computes at each save, such as
/// `"suppliers.@count"`. Read-only.
///
/// ```swift
/// // a count as of the last save, in a column of its own
/// @Derived("items.@count") var itemCount: Int
/// ```
///
/// - Parameter expression: the expression that computes the value, in predicate syntax.
@attached(peer)
public macro Derived(_ expression: String) = #externalMacro(module: "SafeCoreDataMacros", type: "DerivedMacro")

/// Generates the accessors of a property. `@Entity` adds it; there is no reason to write it.
@attached(accessor, names: named(get), named(set))
public macro _EntityProperty() = #externalMacro(module: "SafeCoreDataMacros", type: "EntityPropertyMacro")
