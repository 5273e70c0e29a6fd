import CoreData

extension NSManagedObjectModel {
    /// Makes all objects plain managed objects: a class of this program with the name of one of the
    /// store's classes is not that class.
    func forgetClasses() {
        for entity in entities { entity.managedObjectClassName = "NSManagedObject" }
    }
}
