import CoreData
import TestSupport

extension NotificationLog {
    func count(_ name: Notification.Name) -> Int { names.filter { $0 == name }.count }

    func last(_ name: Notification.Name) -> Notification? { all.last { $0.name == name } }

    /// The managed objects that any of the notifications has under a key.
    func objects(_ key: String) -> Set<NSManagedObject> { all.reduce(into: []) { $0.formUnion($1.objects(key)) } }
}
