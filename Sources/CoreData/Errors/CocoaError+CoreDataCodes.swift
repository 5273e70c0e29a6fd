import Foundation

// The same codes on `CocoaError`, so that `catch CocoaError.managedObjectMerge` matches.
extension CocoaError {
    /// An object failed a validation that has no code of its own. (1550)
    public static var managedObjectValidation: CocoaError.Code { .managedObjectValidation }

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
    public static var validationMultipleErrors: CocoaError.Code { .validationMultipleErrors }

    /// A property that is not optional is nil. (1570)
    ///
    /// ```swift
    /// do { try context.save() } catch let error as CocoaError
    ///     where error.code == .validationMissingMandatoryProperty
    /// {
    ///     print(error.validationKey ?? "", "needs a value")
    /// }
    /// ```
    public static var validationMissingMandatoryProperty: CocoaError.Code { .validationMissingMandatoryProperty }

    /// A to-many relationship has fewer destinations than its minimum count. (1580)
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        .validationRelationshipLacksMinimumCount
    }

    /// A to-many relationship has more destinations than its maximum count. (1590)
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        .validationRelationshipExceedsMaximumCount
    }

    /// An object to delete still has destinations in a relationship whose delete rule is deny.
    /// (1600)
    public static var validationRelationshipDeniedDelete: CocoaError.Code { .validationRelationshipDeniedDelete }

    /// A number is above its maximum. (1610)
    public static var validationNumberTooLarge: CocoaError.Code { .validationNumberTooLarge }

    /// A number is below its minimum. (1620)
    public static var validationNumberTooSmall: CocoaError.Code { .validationNumberTooSmall }

    /// A date is after its maximum. (1630)
    public static var validationDateTooLate: CocoaError.Code { .validationDateTooLate }

    /// A date is before its minimum. (1640)
    public static var validationDateTooSoon: CocoaError.Code { .validationDateTooSoon }

    /// A date does not have the expected form. (1650)
    public static var validationInvalidDate: CocoaError.Code { .validationInvalidDate }

    /// A string is longer than its maximum length. (1660)
    public static var validationStringTooLong: CocoaError.Code { .validationStringTooLong }

    /// A string is shorter than its minimum length. (1670)
    public static var validationStringTooShort: CocoaError.Code { .validationStringTooShort }

    /// A string does not match its regular expression. (1680)
    public static var validationStringPatternMatching: CocoaError.Code { .validationStringPatternMatching }

    /// A context could not be locked. (132000)
    public static var managedObjectContextLocking: CocoaError.Code { .managedObjectContextLocking }

    /// A coordinator could not be locked. (132010)
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { .persistentStoreCoordinatorLocking }

    /// The row of a fault is no longer in the store. (133000)
    ///
    /// ```swift
    /// do {
    ///     item = try context.existingObject(with: id)
    /// } catch CocoaError.managedObjectReferentialIntegrity { item = nil }
    /// ```
    public static var managedObjectReferentialIntegrity: CocoaError.Code { .managedObjectReferentialIntegrity }

    /// A relationship refers to an object of another store. (133010)
    public static var managedObjectExternalRelationship: CocoaError.Code { .managedObjectExternalRelationship }

    /// Another writer changed rows of a save, and the merge policy did not resolve the conflict.
    /// (133020)
    ///
    /// ```swift
    /// do { try context.save() } catch CocoaError.managedObjectMerge { context.rollback() }
    /// ```
    public static var managedObjectMerge: CocoaError.Code { .managedObjectMerge }

    /// Uniqueness constraints are violated, and the merge policy did not resolve the conflict.
    /// (133021)
    ///
    /// ```swift
    /// do {
    ///     try context.save()
    /// } catch CocoaError.managedObjectConstraintMerge { print("The code is taken.") }
    /// ```
    public static var managedObjectConstraintMerge: CocoaError.Code { .managedObjectConstraintMerge }

    /// No store class is registered for a type, or a file is not of any known format. (134000)
    public static var persistentStoreInvalidType: CocoaError.Code { .persistentStoreInvalidType }

    /// A store's type is not the requested one. (134010)
    public static var persistentStoreTypeMismatch: CocoaError.Code { .persistentStoreTypeMismatch }

    /// The database lacks tables or columns of the model, or refuses access to them. (134020)
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { .persistentStoreIncompatibleSchema }

    /// A save failed for a reason without a code of its own. (134030)
    public static var persistentStoreSave: CocoaError.Code { .persistentStoreSave }

    /// Some of several stores failed to save; `NSAffectedStoresErrorKey` and
    /// `NSAffectedObjectsErrorKey` say which. (134040)
    public static var persistentStoreIncompleteSave: CocoaError.Code { .persistentStoreIncompleteSave }

    /// Merge conflicts remained; `NSPersistentStoreSaveConflictsErrorKey` holds them. (134050)
    public static var persistentStoreSaveConflicts: CocoaError.Code { .persistentStoreSaveConflicts }

    /// An error without a code of its own. (134060)
    public static var coreData: CocoaError.Code { .coreData }

    /// An operation on a store failed. (134070)
    public static var persistentStoreOperation: CocoaError.Code { .persistentStoreOperation }

    /// A store could not be opened. (134080)
    public static var persistentStoreOpen: CocoaError.Code { .persistentStoreOpen }

    /// A store could not be reached within `NSPersistentStoreTimeoutOption`. (134090)
    public static var persistentStoreTimeout: CocoaError.Code { .persistentStoreTimeout }

    /// A store does not know this type of request. (134091)
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { .persistentStoreUnsupportedRequestType }

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
        .persistentStoreIncompatibleVersionHash
    }

    /// A migration failed for a reason without a code of its own. (134110)
    public static var migration: CocoaError.Code { .migration }

    /// A migration was cancelled. (134120)
    public static var migrationCancelled: CocoaError.Code { .migrationCancelled }

    /// The model with which a store was made was not found. (134130)
    public static var migrationMissingSourceModel: CocoaError.Code { .migrationMissingSourceModel }

    /// There is no mapping model from a store's model to the current one. (134140)
    public static var migrationMissingMappingModel: CocoaError.Code { .migrationMissingMappingModel }

    /// A migration failed at its source store. (134150)
    public static var migrationManagerSourceStore: CocoaError.Code { .migrationManagerSourceStore }

    /// A migration failed at its destination store. (134160)
    public static var migrationManagerDestinationStore: CocoaError.Code { .migrationManagerDestinationStore }

    /// An entity migration policy failed. (134170)
    public static var entityMigrationPolicy: CocoaError.Code { .entityMigrationPolicy }

    /// SQLite reported an error; its own code is in the userInfo under `NSSQLiteErrorDomain`.
    /// (134180)
    public static var sqlite: CocoaError.Code { .sqlite }

    /// No mapping model could be inferred between two models. (134190)
    public static var inferredMappingModel: CocoaError.Code { .inferredMappingModel }

    /// External records could not be imported. (134200)
    public static var externalRecordImport: CocoaError.Code { .externalRecordImport }
}
