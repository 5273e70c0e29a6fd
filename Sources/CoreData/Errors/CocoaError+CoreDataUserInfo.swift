import Foundation

// Typed views of the userInfo of Core Data errors; each is nil when the entry is absent or has
// another type.
extension CocoaError {
    /// The object that failed a validation.
    public var validationObject: Any? { userInfo[NSValidationObjectErrorKey] }

    /// The name of the property that failed a validation.
    ///
    /// ```swift
    /// do { try context.save() } catch let error as CocoaError {
    ///     print(
    ///         (error.validationObject as? NSManagedObject)?.entity.name ?? "",
    ///         error.validationKey ?? "")
    /// }
    /// ```
    public var validationKey: String? { userInfo[NSValidationKeyErrorKey] as? String }

    /// The value that failed a validation.
    public var validationValue: Any? { userInfo[NSValidationValueErrorKey] }

    /// The predicate that a value failed.
    public var validationPredicate: NSPredicate? { userInfo[NSValidationPredicateErrorKey] as? NSPredicate }

    /// The stores that the error concerns.
    public var affectedStores: [AnyObject]? { objects(NSAffectedStoresErrorKey) }

    /// The managed objects that the error concerns.
    ///
    /// ```swift
    /// do { try context.save() } catch let error as CocoaError {
    ///     for case let object as NSManagedObject in error.affectedObjects ?? [] {
    ///         context.refresh(object, mergeChanges: false)
    ///     }
    /// }
    /// ```
    public var affectedObjects: [AnyObject]? { objects(NSAffectedObjectsErrorKey) }

    private func objects(_ key: String) -> [AnyObject]? {
        (userInfo[key] as? [Any])?.map { $0 as AnyObject }
    }
}
