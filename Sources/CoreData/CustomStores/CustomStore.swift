import Foundation

/// A store whose class the program defines, which identifies records by reference objects.
protocol CustomStore: NSPersistentStore {
    var referenceTable: ReferenceTable { get }
}

extension CustomStore {
    func layout(of entity: NSEntityDescription) -> EntityLayout {
        guard let layout = modelLayout?.layoutByName[entity.name ?? ""] else {
            preconditionFailure("The model of the store \(StoreName.path(url)) has no entity '\(entity.name ?? "")'.")
        }
        return layout
    }

    func reference(of objectID: NSManagedObjectID) -> Any {
        // A store that another coordinator has opened numbers its rows independently.
        guard let key = objectID.rowReference(in: self)?.key,
            let reference = referenceTable.reference(for: key, of: objectID.layout)
        else {
            preconditionFailure("The object ID \(objectID) is not one of the store \(StoreName.path(url)).")
        }
        return reference
    }

    func error(_ code: CocoaError.Code, _ message: String) -> NSError {
        CoreDataErrors.make(code, message, userInfo: StoreOpeningErrors.userInfo(type: type, url: url))
    }

    /// The error of a method that the program's class should override.
    func missing(_ method: String, _ code: CocoaError.Code = .persistentStoreOperation) -> NSError {
        error(code, "The store class \(Swift.type(of: self)) does not implement \(method).")
    }
}
