import Synchronization

/// A managed object whose class describes its entity. `@Entity` makes a class conform.
///
/// ```swift
/// let model = NSManagedObjectModel(entities: Item.self, Supplier.self)    // any EntityObject.Type
/// let snapshot: Item.Snapshot = item.snapshot()
/// ```
public protocol EntityObject: _SelfDescribingClass {
    /// Returns the description of the class for the model, created at each call.
    ///
    /// Cost: O(number of the class's own properties).
    static func describeEntity() -> _EntityDeclaration

    /// The snapshot type of the class: `Item.Snapshot`.
    associatedtype Snapshot: EntitySnapshot

    /// `Never` if all objects have snapshots of one type: in a final class that inherits from no
    /// other `@Entity` class.
    associatedtype _Subclasses = Any

    /// The snapshot type of the class itself, which in a subclass differs from that of the
    /// superclass.
    static var _snapshotType: any EntitySnapshot.Type { get }
}

extension EntityObject {
    /// The nearest superclass that is an `@Entity` class; nil for a root.
    static var entitySuperclass: (any EntityObject.Type)? {
        // A subclass without @Entity inherits the description of its superclass.
        let own: AnyClass = describeEntity().objectClass
        return _getSuperclass(own).flatMap { $0 as? any EntityObject.Type }
    }

    /// Returns the entity of the class in a context's model. Stops the program if there is none, or
    /// no coordinator.
    ///
    /// A designated initializer calls
    /// `super.init(entity: Self.entity(in: context), insertInto: context)`.
    ///
    /// ```swift
    /// // in the class, in place of the generated one
    /// init(context: NSManagedObjectContext, price: Double) {
    ///     super.init(entity: Self.entity(in: context), insertInto: context)
    ///     self.price = price
    /// }
    /// ```
    public static func entity(in context: NSManagedObjectContext) -> NSEntityDescription { _entity(in: context) }

    /// Returns a request for all objects of the class, including those of subclasses.
    ///
    /// Cost: as for `describeEntity()`.
    ///
    /// ```swift
    /// let items = try context.fetch(readOnly: Item.fetchRequest())
    /// ```
    public static func fetchRequest() -> NSFetchRequest<Self> {
        NSFetchRequest<Self>(entityName: describeEntity().name)
    }

    public static func _propertyName(for keyPath: AnyKeyPath) -> String? {
        EntityPropertyNames.shared.name(for: keyPath, of: self)
    }

    public static func _differences(from entity: NSEntityDescription) -> [String] {
        EntityDifferences(of: self, from: entity).sentences
    }
}

/// A cache of the names of properties by their key paths, for each class that was queried.
private final class EntityPropertyNames: Sendable {
    static let shared = EntityPropertyNames()

    private struct State: @unchecked Sendable {
        // Sendable: key paths of stored literals capture nothing and never change.
        var names: [ObjectIdentifier: [AnyKeyPath: String]] = [:]
    }

    /// Guards the table.
    private let state = Mutex(State())

    func name(for keyPath: AnyKeyPath, of objectClass: any EntityObject.Type) -> String? {
        state.withLock { state in
            if let known = state.names[ObjectIdentifier(objectClass)] { return known[keyPath] }
            let names = objectClass.describeEntity().names
            state.names[ObjectIdentifier(objectClass)] = names
            return names[keyPath]
        }
    }
}
