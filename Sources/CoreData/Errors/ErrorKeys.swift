// Keys of the userInfo of Core Data errors.
//
// Source: <https://developer.apple.com/documentation/coredata/core-data-constants>

/// The single errors (`[NSError]`) of an error that combines several.
///
/// ```swift
/// let errors =
///     (error as NSError).userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error as NSError]
/// ```
public let NSDetailedErrorsKey = "NSDetailedErrors"

/// The managed object that failed a validation.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"

/// The name of the property (`String`) that failed a validation.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"

/// The predicate that a value failed.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"

/// The value that failed a validation; absent if it was nil.
public let NSValidationValueErrorKey = "NSValidationErrorValue"

/// The stores that an error concerns.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"

/// The managed objects that an error concerns.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"

/// The conflicts (`NSMergeConflict` or `NSConstraintConflict`) that a save could not resolve.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"

/// The domain of errors with SQLite's own result codes.
///
/// It is also the userInfo key under which an `NSCocoaErrorDomain` error carries such a code as a
/// number.
///
/// ```swift
/// let code = (error as NSError).userInfo[NSSQLiteErrorDomain] as? Int // 5: the database is locked
/// ```
public let NSSQLiteErrorDomain = "NSSQLiteErrorDomain"
