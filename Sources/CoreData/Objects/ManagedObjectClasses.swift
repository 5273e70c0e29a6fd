import Foundation

/// Which class the objects of an entity are of.
enum ManagedObjectClasses {
    /// The class that an entity names, found at run time; `NSManagedObject` where it names none or one that the program
    /// does not have (as Core Data does).
    static func managedObjectClass(for entity: NSEntityDescription) -> NSManagedObject.Type {
        guard let name = entity.managedObjectClassName, !name.isEmpty, name != "NSManagedObject" else {
            return NSManagedObject.self
        }
        switch ClassLookup.find(name, inheritingFrom: NSManagedObject.self) {
        case .found(let found): return found as? NSManagedObject.Type ?? NSManagedObject.self
        case .none: return NSManagedObject.self
        case .ambiguous(let candidates):
            let names = candidates.map { ClassLookup.name(of: $0) }.joined(separator: ", ")
            preconditionFailure(
                "The entity \(entity.name ?? "?") names the class \(name), but the program has several: \(names). Name the module "
                    + "in the model, as in \"Module.\(name)\".")
        }
    }
}
