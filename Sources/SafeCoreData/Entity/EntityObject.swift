import Synchronization

/// A managed object whose class describes its entity. `@Entity` makes a class conform.
///
/// ```swift
/// let model = NSManagedObjectModel(entities: Item.self, Supplier.self)    // any EntityObject.Type
/// let snapshot: Item.Snapshot = item.snapshot()
/// ```
public protocol EntityObject: _SelfDescribingClass {
    /// What the model says about the class: made anew at each call.
    ///
    /// Cost: O(number of the class's own properties).
    static func describeEntity() -> _EntityDeclaration

    /// The values of an object: `Item.Snapshot`.
    associatedtype Snapshot: EntitySnapshot

    /// `Never` where all objects have snapshots of one type: in a final class that inherits from no other `@Entity` class.
    associatedtype _Subclasses = Any

    /// The snapshot type of the class itself, which for a subclass is not that of the superclass.
    static var _snapshotType: any EntitySnapshot.Type { get }
}

extension EntityObject {
    /// The nearest superclass that is an `@Entity` class; nil for a root.
    static var entitySuperclass: (any EntityObject.Type)? {
        // A subclass without @Entity inherits the description of its superclass.
        let own: AnyClass = describeEntity().objectClass
        return _getSuperclass(own).flatMap { $0 as? any EntityObject.Type }
    }

    /// The entity of a context's model that the class stands for. Stops the program when there is none, or no coordinator.
    ///
    /// A designated initializer calls `super.init(entity: Self.entity(in: context), insertInto: context)`.
    ///
    /// ```swift
    /// init(context: NSManagedObjectContext, price: Double) {  // in the class, in place of the generated one
    ///     super.init(entity: Self.entity(in: context), insertInto: context)
    ///     self.price = price
    /// }
    /// ```
    public static func entity(in context: NSManagedObjectContext) -> NSEntityDescription { _entity(in: context) }

    /// A request for all objects of the class, those of subclasses among them.
    ///
    /// Cost: as for `describeEntity()`.
    ///
    /// ```swift
    /// let items = try context.fetch(readOnly: Item.fetchRequest())
    /// ```
    public static func fetchRequest() -> NSFetchRequest<Self> { NSFetchRequest<Self>(entityName: describeEntity().name) }

    public static func _propertyName(for keyPath: AnyKeyPath) -> String? {
        EntityPropertyNames.shared.name(for: keyPath, of: self)
    }

    public static func _differences(from entity: NSEntityDescription) -> [String] {
        EntityDifferences(of: self, from: entity).sentences
    }
}

/// The names of properties by their key paths, for each class that was asked for one.
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
