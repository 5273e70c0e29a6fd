/// One version of the `@Entity` classes of a store.
///
/// The classes of a former version stay in the program, in a namespace of their own, as long as
/// stores of that version are migrated. Classes of two versions may have the same name.
///
/// ```swift
/// enum ShopV1: VersionedSchema {
///     static let entities: [any EntityObject.Type] = [Item.self]
///
///     @Entity final class Item: NSManagedObject { var title: String }
/// }
/// ```
public protocol VersionedSchema {
    /// The classes of the version. Their superclasses and the destination classes of their
    /// relationships are added.
    static var entities: [any EntityObject.Type] { get }
}

/// A version of a plan, with its name for errors.
struct SchemaVersion: Sendable {
    let name: String
    let entities: [any EntityObject.Type]

    init(_ schema: any VersionedSchema.Type) {
        name = String(describing: schema)
        entities = schema.entities
    }

    /// The class of each entity, by the entity's name.
    var classes: [String: NSManagedObject.Type] {
        let declarations = ModelAssembly.declarations(of: entities)
        return Dictionary(declarations.map { ($0.name, $0.objectClass) }, uniquingKeysWith: { first, _ in first })
    }

    /// Makes the model of the version.
    ///
    /// - Throws: 134110 if two classes stand for one entity, as when a relationship leads to a
    ///   class of another version, 134060 if no model can express an option.
    func model() throws -> NSManagedObjectModel {
        var classes: [String: NSManagedObject.Type] = [:]
        for declaration in ModelAssembly.declarations(of: entities) {
            if let other = classes.updateValue(declaration.objectClass, forKey: declaration.name) {
                throw PlanErrors.repeatedEntity(declaration.name, [other, declaration.objectClass], in: self)
            }
        }
        return try NSManagedObjectModel(checking: entities)
    }

    /// The name of the entity that a class of the version describes; nil for a class of another.
    func entityName(of objectClass: any EntityObject.Type) -> String? {
        let declaration = objectClass.describeEntity()
        return classes[declaration.name] == declaration.objectClass ? declaration.name : nil
    }
}
