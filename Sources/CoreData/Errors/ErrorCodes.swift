// Error codes of `NSCocoaErrorDomain` under their Objective-C names.
//
// Source: <https://developer.apple.com/documentation/coredata/core-data-constants>

// MARK: Validation

/// An object failed a validation that has no code of its own.
public var NSManagedObjectValidationError: Int { 1550 }
/// Uniqueness constraints are violated.
public var NSManagedObjectConstraintValidationError: Int { 1551 }
/// Several validations failed; `NSDetailedErrorsKey` holds the single errors.
public var NSValidationMultipleErrorsError: Int { 1560 }
/// A property that is not optional is nil.
public var NSValidationMissingMandatoryPropertyError: Int { 1570 }
/// A to-many relationship has fewer destinations than its minimum count.
public var NSValidationRelationshipLacksMinimumCountError: Int { 1580 }
/// A to-many relationship has more destinations than its maximum count.
public var NSValidationRelationshipExceedsMaximumCountError: Int { 1590 }
/// An object to delete still has destinations in a relationship whose delete rule is deny.
public var NSValidationRelationshipDeniedDeleteError: Int { 1600 }
/// A number is above its maximum.
public var NSValidationNumberTooLargeError: Int { 1610 }
/// A number is below its minimum.
public var NSValidationNumberTooSmallError: Int { 1620 }
/// A date is after its maximum.
public var NSValidationDateTooLateError: Int { 1630 }
/// A date is before its minimum.
public var NSValidationDateTooSoonError: Int { 1640 }
/// A date does not have the expected form.
public var NSValidationInvalidDateError: Int { 1650 }
/// A string is longer than its maximum length.
public var NSValidationStringTooLongError: Int { 1660 }
/// A string is shorter than its minimum length.
public var NSValidationStringTooShortError: Int { 1670 }
/// A string does not match its regular expression.
public var NSValidationStringPatternMatchingError: Int { 1680 }
/// A URI has no textual form.
public var NSValidationInvalidURIError: Int { 1690 }

// MARK: Contexts and objects

/// A context could not be locked.
public var NSManagedObjectContextLockingError: Int { 132000 }
/// A coordinator could not be locked.
public var NSPersistentStoreCoordinatorLockingError: Int { 132010 }
/// The row of a fault is no longer in the store.
public var NSManagedObjectReferentialIntegrityError: Int { 133000 }
/// A relationship refers to an object of another store.
public var NSManagedObjectExternalRelationshipError: Int { 133010 }
/// Another writer changed rows of a save, and the merge policy did not resolve the conflict.
public var NSManagedObjectMergeError: Int { 133020 }
/// Uniqueness constraints are violated, and the merge policy did not resolve the conflict.
public var NSManagedObjectConstraintMergeError: Int { 133021 }

// MARK: Stores

/// No store class is registered for a type, or a file is not of any known format.
public var NSPersistentStoreInvalidTypeError: Int { 134000 }
/// A store's type is not the requested one.
public var NSPersistentStoreTypeMismatchError: Int { 134010 }
/// The database lacks tables or columns of the model, or refuses access to them.
public var NSPersistentStoreIncompatibleSchemaError: Int { 134020 }
/// A save failed for a reason without a code of its own.
public var NSPersistentStoreSaveError: Int { 134030 }
/// Some of several stores failed to save; `NSAffectedStoresErrorKey` and
/// `NSAffectedObjectsErrorKey` say which.
public var NSPersistentStoreIncompleteSaveError: Int { 134040 }
/// Merge conflicts remained; `NSPersistentStoreSaveConflictsErrorKey` holds them.
public var NSPersistentStoreSaveConflictsError: Int { 134050 }
/// An error without a code of its own.
public var NSCoreDataError: Int { 134060 }
/// An operation on a store failed.
public var NSPersistentStoreOperationError: Int { 134070 }
/// A store could not be opened.
public var NSPersistentStoreOpenError: Int { 134080 }
/// A store could not be reached within `NSPersistentStoreTimeoutOption`.
public var NSPersistentStoreTimeoutError: Int { 134090 }
/// A store does not know this type of request.
public var NSPersistentStoreUnsupportedRequestTypeError: Int { 134091 }
/// A store was made with another version of the model.
public var NSPersistentStoreIncompatibleVersionHashError: Int { 134100 }

// MARK: Migration, history and SQLite

/// A migration failed for a reason without a code of its own.
public var NSMigrationError: Int { 134110 }
/// A migration would violate a uniqueness constraint.
public var NSMigrationConstraintViolationError: Int { 134111 }
/// A migration was cancelled.
public var NSMigrationCancelledError: Int { 134120 }
/// The model with which a store was made was not found.
public var NSMigrationMissingSourceModelError: Int { 134130 }
/// There is no mapping model from a store's model to the current one.
public var NSMigrationMissingMappingModelError: Int { 134140 }
/// A migration failed at its source store.
public var NSMigrationManagerSourceStoreError: Int { 134150 }
/// A migration failed at its destination store.
public var NSMigrationManagerDestinationStoreError: Int { 134160 }
/// An entity migration policy failed.
public var NSEntityMigrationPolicyError: Int { 134170 }
/// SQLite reported an error. Here such errors have the code of the situation instead; SQLite's own
/// code is in the userInfo under `NSSQLiteErrorDomain`.
public var NSSQLiteError: Int { 134180 }
/// No mapping model could be inferred between two models.
public var NSInferredMappingModelError: Int { 134190 }
/// External records could not be imported.
public var NSExternalRecordImportError: Int { 134200 }
/// The history that a token refers to was deleted.
public var NSPersistentHistoryTokenExpiredError: Int { 134301 }
/// The model of a model reference was not found.
public var NSManagedObjectModelReferenceNotFoundError: Int { 134504 }
/// A store's metadata lacks entries that staged migration needs.
public var NSStagedMigrationFrameworkVersionMismatchError: Int { 134505 }
/// A store is newer than the last stage of a migration.
public var NSStagedMigrationBackwardMigrationError: Int { 134506 }
