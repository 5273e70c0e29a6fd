import Foundation

/// The error codes of Core Data. Both `CocoaError` and `CocoaError.Code` have them, so that `catch
/// CocoaError.managedObjectMerge` and `error.code == .managedObjectMerge` match.
public protocol CoreDataErrorCodes {}

extension CocoaError: CoreDataErrorCodes {}
extension CocoaError.Code: CoreDataErrorCodes {}

extension CoreDataErrorCodes {
    // MARK: Validation

    /// An object failed a validation that has no code of its own. (1550)
    ///
    /// ```swift
    /// throw CocoaError(
    ///     .managedObjectValidation,
    ///     userInfo: [NSLocalizedDescriptionKey: "The end comes before the start."])
    /// ```
    public static var managedObjectValidation: CocoaError.Code { code(NSManagedObjectValidationError) }
    /// Several validations failed; `NSDetailedErrorsKey` holds the single errors. (1560)
    ///
    /// ```swift
    /// do {
    ///     try context.save()
    /// } catch let error as CocoaError where error.code == .validationMultipleErrors {
    ///     for single in error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [] {
    ///         print(single.localizedDescription)
    ///     }
    /// }
    /// ```
    public static var validationMultipleErrors: CocoaError.Code { code(NSValidationMultipleErrorsError) }
    /// A property that is not optional is nil. (1570)
    ///
    /// ```swift
    /// do { try context.save() } catch let error as CocoaError
    ///     where error.code == .validationMissingMandatoryProperty
    /// {
    ///     print(error.validationKey ?? "", "needs a value")
    /// }
    /// ```
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        code(NSValidationMissingMandatoryPropertyError)
    }
    /// A to-many relationship has fewer destinations than its minimum count. (1580)
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        code(NSValidationRelationshipLacksMinimumCountError)
    }
    /// A to-many relationship has more destinations than its maximum count. (1590)
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        code(NSValidationRelationshipExceedsMaximumCountError)
    }
    /// An object to delete still has destinations in a relationship whose delete rule is deny.
    /// (1600)
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        code(NSValidationRelationshipDeniedDeleteError)
    }
    /// A number is above its maximum. (1610)
    public static var validationNumberTooLarge: CocoaError.Code { code(NSValidationNumberTooLargeError) }
    /// A number is below its minimum. (1620)
    public static var validationNumberTooSmall: CocoaError.Code { code(NSValidationNumberTooSmallError) }
    /// A date is after its maximum. (1630)
    public static var validationDateTooLate: CocoaError.Code { code(NSValidationDateTooLateError) }
    /// A date is before its minimum. (1640)
    public static var validationDateTooSoon: CocoaError.Code { code(NSValidationDateTooSoonError) }
    /// A date does not have the expected form. (1650)
    public static var validationInvalidDate: CocoaError.Code { code(NSValidationInvalidDateError) }
    /// A string is longer than its maximum length. (1660)
    public static var validationStringTooLong: CocoaError.Code { code(NSValidationStringTooLongError) }
    /// A string is shorter than its minimum length. (1670)
    public static var validationStringTooShort: CocoaError.Code { code(NSValidationStringTooShortError) }
    /// A string does not match its regular expression. (1680)
    public static var validationStringPatternMatching: CocoaError.Code { code(NSValidationStringPatternMatchingError) }

    // MARK: Contexts and objects

    /// A context could not be locked. (132000)
    public static var managedObjectContextLocking: CocoaError.Code { code(NSManagedObjectContextLockingError) }
    /// A coordinator could not be locked. (132010)
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        code(NSPersistentStoreCoordinatorLockingError)
    }
    /// The row of a fault is no longer in the store. (133000)
    ///
    /// ```swift
    /// do {
    ///     item = try context.existingObject(with: id)
    /// } catch CocoaError.managedObjectReferentialIntegrity { item = nil }
    /// ```
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        code(NSManagedObjectReferentialIntegrityError)
    }
    /// A relationship refers to an object of another store. (133010)
    public static var managedObjectExternalRelationship: CocoaError.Code {
        code(NSManagedObjectExternalRelationshipError)
    }
    /// Another writer changed rows of a save, and the merge policy did not resolve the conflict.
    /// (133020)
    ///
    /// ```swift
    /// do { try context.save() } catch CocoaError.managedObjectMerge { context.rollback() }
    /// ```
    public static var managedObjectMerge: CocoaError.Code { code(NSManagedObjectMergeError) }
    /// Uniqueness constraints are violated, and the merge policy did not resolve the conflict.
    /// (133021)
    ///
    /// ```swift
    /// do {
    ///     try context.save()
    /// } catch CocoaError.managedObjectConstraintMerge { print("The code is taken.") }
    /// ```
    public static var managedObjectConstraintMerge: CocoaError.Code { code(NSManagedObjectConstraintMergeError) }

    // MARK: Stores

    /// No store class is registered for a type, or a file is not of any known format. (134000)
    public static var persistentStoreInvalidType: CocoaError.Code { code(NSPersistentStoreInvalidTypeError) }
    /// A store's type is not the requested one. (134010)
    public static var persistentStoreTypeMismatch: CocoaError.Code { code(NSPersistentStoreTypeMismatchError) }
    /// The database lacks tables or columns of the model, or refuses access to them. (134020)
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        code(NSPersistentStoreIncompatibleSchemaError)
    }
    /// A save failed for a reason without a code of its own. (134030)
    public static var persistentStoreSave: CocoaError.Code { code(NSPersistentStoreSaveError) }
    /// Some of several stores failed to save; `NSAffectedStoresErrorKey` and
    /// `NSAffectedObjectsErrorKey` say which. (134040)
    public static var persistentStoreIncompleteSave: CocoaError.Code { code(NSPersistentStoreIncompleteSaveError) }
    /// Merge conflicts remained; `NSPersistentStoreSaveConflictsErrorKey` holds them. (134050)
    public static var persistentStoreSaveConflicts: CocoaError.Code { code(NSPersistentStoreSaveConflictsError) }
    /// An error without a code of its own. (134060)
    public static var coreData: CocoaError.Code { code(NSCoreDataError) }
    /// An operation on a store failed. (134070)
    public static var persistentStoreOperation: CocoaError.Code { code(NSPersistentStoreOperationError) }
    /// A store could not be opened. (134080)
    public static var persistentStoreOpen: CocoaError.Code { code(NSPersistentStoreOpenError) }
    /// A store could not be reached within `NSPersistentStoreTimeoutOption`. (134090)
    public static var persistentStoreTimeout: CocoaError.Code { code(NSPersistentStoreTimeoutError) }
    /// A store does not know this type of request. (134091)
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        code(NSPersistentStoreUnsupportedRequestTypeError)
    }
    /// A store was made with another version of the model. (134100)
    ///
    /// ```swift
    /// do {
    ///     try coordinator.addPersistentStore(type: .sqlite, at: url)
    /// } catch CocoaError.persistentStoreIncompatibleVersionHash {
    ///     try coordinator.addPersistentStore(
    ///         type: .sqlite, at: url,
    ///         options: [
    ///             NSMigratePersistentStoresAutomaticallyOption: true,
    ///             NSInferMappingModelAutomaticallyOption: true
    ///         ])
    /// }
    /// ```
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        code(NSPersistentStoreIncompatibleVersionHashError)
    }

    // MARK: Migration, history and SQLite

    /// A migration failed for a reason without a code of its own. (134110)
    public static var migration: CocoaError.Code { code(NSMigrationError) }
    /// A migration was cancelled. (134120)
    public static var migrationCancelled: CocoaError.Code { code(NSMigrationCancelledError) }
    /// The model with which a store was made was not found. (134130)
    public static var migrationMissingSourceModel: CocoaError.Code { code(NSMigrationMissingSourceModelError) }
    /// There is no mapping model from a store's model to the current one. (134140)
    public static var migrationMissingMappingModel: CocoaError.Code { code(NSMigrationMissingMappingModelError) }
    /// A migration failed at its source store. (134150)
    public static var migrationManagerSourceStore: CocoaError.Code { code(NSMigrationManagerSourceStoreError) }
    /// A migration failed at its destination store. (134160)
    public static var migrationManagerDestinationStore: CocoaError.Code {
        code(NSMigrationManagerDestinationStoreError)
    }
    /// An entity migration policy failed. (134170)
    public static var entityMigrationPolicy: CocoaError.Code { code(NSEntityMigrationPolicyError) }
    /// SQLite reported an error; its own code is in the userInfo under `NSSQLiteErrorDomain`.
    /// (134180)
    public static var sqlite: CocoaError.Code { code(NSSQLiteError) }
    /// No mapping model could be inferred between two models. (134190)
    public static var inferredMappingModel: CocoaError.Code { code(NSInferredMappingModelError) }
    /// External records could not be imported. (134200)
    public static var externalRecordImport: CocoaError.Code { code(NSExternalRecordImportError) }
}

// Codes without a name in Apple's Swift interface.
extension CocoaError.Code {
    /// A save within a save, as macOS returns it. (132001)
    static var recursiveSave: CocoaError.Code { code(132001) }
    /// A store that the coordinator has already. (134081)
    static var duplicateStore: CocoaError.Code { code(134081) }
    /// A migration would violate a uniqueness constraint. (134111)
    static var migrationConstraintViolation: CocoaError.Code { code(NSMigrationConstraintViolationError) }
    /// The history that a token refers to was deleted. (134301)
    static var persistentHistoryTokenExpired: CocoaError.Code { code(NSPersistentHistoryTokenExpiredError) }
}

private func code(_ number: Int) -> CocoaError.Code { CocoaError.Code(rawValue: number) }
