import Foundation

/// Finds the class of an entity's objects.
enum ManagedObjectClasses {
    /// The class that an entity names, found at run time. `NSManagedObject` if the entity names
    /// none, or one that the program does not have (as Core Data does).
    static func managedObjectClass(for entity: NSEntityDescription) -> NSManagedObject.Type {
        if let givenClass = entity.givenClass as? NSManagedObject.Type { return givenClass }
        let found = namedClass(of: entity)
        return isMeant(found, by: entity) ? found : NSManagedObject.self
    }

    /// The class that an entity names, whether it fits the entity or not.
    static func namedClass(of entity: NSEntityDescription) -> NSManagedObject.Type {
        guard let name = entity.managedObjectClassName, !name.isEmpty, name != "NSManagedObject" else {
            return NSManagedObject.self
        }
        switch ClassLookup.find(name, inheritingFrom: NSManagedObject.self, preferring: entity.classModules) {
        case .found(let found): return found as? NSManagedObject.Type ?? NSManagedObject.self
        case .none: return NSManagedObject.self
        case .ambiguous(let candidates):
            let names = candidates.map { ClassLookup.name(of: $0) }.joined(separator: ", ")
            preconditionFailure(
                "The entity \(entity.name ?? "?") names the class \(name), but the program has several: \(names). "
                    + "Name the module "
                    + "in the model, as in \"Module.\(name)\", or read the model with "
                    + "NSManagedObjectModel(reading:version:module:)."
            )
        }
    }

    /// Whether a class that was found by its name is meant by the entity.
    ///
    /// A model from another program may name a class whose name this program uses by chance for
    /// something else. So a class that describes its entity must fit the entity, unless the model
    /// gives the class name with its module.
    static func isMeant(_ objectClass: NSManagedObject.Type, by entity: NSEntityDescription) -> Bool {
        guard let describing = objectClass as? any _SelfDescribingClass.Type,
            ClassLookup.name(of: objectClass) != entity.managedObjectClassName
        else { return true }
        return describing._differences(from: entity).isEmpty
    }

    /// Why objects of a class cannot be made of the entities that name it.
    static func misfits(of objectClass: NSManagedObject.Type, in entities: [NSEntityDescription]) -> [String] {
        guard let describing = objectClass as? any _SelfDescribingClass.Type else { return [] }
        let name = ClassLookup.name(of: objectClass).split(separator: ".").last
        return entities.filter { $0.managedObjectClassName?.split(separator: ".").last == name }
            .flatMap { describing._differences(from: $0) }
    }
}
