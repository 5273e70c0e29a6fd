/// The changes between two neighbouring versions that closures make.
///
/// ```swift
/// plan.step(to: ShopV2.self) { step in
///     step.map(ShopV1.Person.self, to: ShopV2.Person.self) { _, _ in }
///     step.map(ShopV1.Person.self, to: ShopV2.Address.self) { old, new, objects in
///         new.resident = objects.made(ShopV2.Person.self, from: old).first
///     }
///     step.drop(ShopV1.Visit.self)
/// }
/// ```
public struct MigrationStep: Sendable {
    private(set) var maps: [ClassMap] = []
    private(set) var dropped: [any EntityObject.Type] = []

    /// Makes an object of a new class from each object of a former class.
    ///
    /// The new object first gets the properties that both classes have, by name or original name,
    /// and leads to what was made of the objects that the old one leads to. Then the closure runs.
    /// One class can be mapped to several, which splits objects, and several to one. A class that
    /// is mapped is not copied besides. Objects of subclasses are not included: map these, too.
    ///
    /// - Parameters:
    ///   - old: a class of the version before; not abstract.
    ///   - new: a class of the new version; not abstract.
    ///   - isIncluded: whether an object is made; of every old object, if nil.
    ///   - key: old objects with equal keys become one object: the closure runs for each of them.
    ///     Texts are equal if their code points are. O(number of keys) memory.
    ///   - body: sets the new object's properties; empty if copying is enough. An error that it
    ///     throws ends the migration, and the store stays as it was.
    public mutating func map<Old: EntityObject, New: EntityObject>(
        _ old: Old.Type, to new: New.Type, where isIncluded: (@Sendable (ReadOnly<Old>) throws -> Bool)? = nil,
        mergingBy key: (@Sendable (ReadOnly<Old>) throws -> AnyHashable)? = nil,
        _ body: @escaping @Sendable (ReadOnly<Old>, New) throws -> Void
    ) {
        map(old, to: new, where: isIncluded, mergingBy: key) { old, new, _ in try body(old, new) }
    }

    /// Makes an object of a new class from each object of a former class, by a closure that also
    /// uses other objects of the new version.
    ///
    /// - Parameters:
    ///   - old: a class of the version before; not abstract.
    ///   - new: a class of the new version; not abstract.
    ///   - isIncluded: whether an object is made; of every old object, if nil.
    ///   - key: old objects with equal keys become one object.
    ///   - body: sets the new object's properties. The objects of all maps exist.
    public mutating func map<Old: EntityObject, New: EntityObject>(
        _ old: Old.Type, to new: New.Type, where isIncluded: (@Sendable (ReadOnly<Old>) throws -> Bool)? = nil,
        mergingBy key: (@Sendable (ReadOnly<Old>) throws -> AnyHashable)? = nil,
        _ body: @escaping @Sendable (ReadOnly<Old>, New, MigratedObjects) throws -> Void
    ) {
        var map = ClassMap(
            old: old, new: new,
            body: { source, destination, objects in
                try body(ReadOnly(typed(source, as: Old.self)), typed(destination, as: New.self), objects)
            })
        if let isIncluded { map.isIncluded = { try isIncluded(ReadOnly(typed($0, as: Old.self))) } }
        if let key { map.key = { ValuesKey([try key(ReadOnly(typed($0, as: Old.self))).base]) } }
        maps.append(map)
    }

    /// Makes nothing of the objects of a former class, although the new version has its entity.
    public mutating func drop<Old: EntityObject>(_ old: Old.Type) {
        dropped.append(old)
    }
}

/// The part of a step for the objects of one class, without the types of its closures.
struct ClassMap: Sendable {
    let old: any EntityObject.Type
    let new: any EntityObject.Type
    var isIncluded: (@Sendable (NSManagedObject) throws -> Bool)?
    var key: (@Sendable (NSManagedObject) throws -> ValuesKey)?
    let body: @Sendable (NSManagedObject, NSManagedObject, MigratedObjects) throws -> Void
}

/// Returns an object as one of its entity's class.
///
/// - Throws: 134060 if the object is of another class.
private func typed<Object: EntityObject>(
    _ object: NSManagedObject, as objectClass: Object.Type
) throws -> Object {
    guard let typed = object as? Object else { throw SafeCoreDataErrors.wrongClass(object.objectID, objectClass) }
    return typed
}
