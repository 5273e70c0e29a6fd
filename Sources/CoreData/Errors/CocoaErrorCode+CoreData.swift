import Foundation

extension CocoaError.Code {
    // MARK: Validation

    /// An object failed a validation that has no code of its own. (1550)
    ///
    /// ```swift
    /// throw CocoaError(
    ///     .managedObjectValidation,
    ///     userInfo: [NSLocalizedDescriptionKey: "The end comes before the start."])
    /// ```
    public static var managedObjectValidation: CocoaError.Code { CocoaError.Code(rawValue: 1550) }

    /// Several validations failed; `NSDetailedErrorsKey` holds the single errors. (1560)
    public static var validationMultipleErrors: CocoaError.Code { CocoaError.Code(rawValue: 1560) }

    /// A property that is not optional is nil. (1570)
    public static var validationMissingMandatoryProperty: CocoaError.Code { CocoaError.Code(rawValue: 1570) }

    /// A to-many relationship has fewer destinations than its minimum count. (1580)
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code { CocoaError.Code(rawValue: 1580) }

    /// A to-many relationship has more destinations than its maximum count. (1590)
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code { CocoaError.Code(rawValue: 1590) }

    /// An object to delete still has destinations in a relationship whose delete rule is deny.
    /// (1600)
    public static var validationRelationshipDeniedDelete: CocoaError.Code { CocoaError.Code(rawValue: 1600) }

    /// A number is above its maximum. (1610)
    public static var validationNumberTooLarge: CocoaError.Code { CocoaError.Code(rawValue: 1610) }

    /// A number is below its minimum. (1620)
    public static var validationNumberTooSmall: CocoaError.Code { CocoaError.Code(rawValue: 1620) }

    /// A date is after its maximum. (1630)
    public static var validationDateTooLate: CocoaError.Code { CocoaError.Code(rawValue: 1630) }

    /// A date is before its minimum. (1640)
    public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code(rawValue: 1640) }

    /// A date does not have the expected form. (1650)
    public static var validationInvalidDate: CocoaError.Code { CocoaError.Code(rawValue: 1650) }

    /// A string is longer than its maximum length. (1660)
    public static var validationStringTooLong: CocoaError.Code { CocoaError.Code(rawValue: 1660) }

    /// A string is shorter than its minimum length. (1670)
    public static var validationStringTooShort: CocoaError.Code { CocoaError.Code(rawValue: 1670) }

    /// A string does not match its regular expression. (1680)
    public static var validationStringPatternMatching: CocoaError.Code { CocoaError.Code(rawValue: 1680) }

    // MARK: Contexts and objects

    /// A context could not be locked. (132000)
    public static var managedObjectContextLocking: CocoaError.Code { CocoaError.Code(rawValue: 132000) }

    /// A coordinator could not be locked. (132010)
    public static var persistentStoreCoordinatorLocking: CocoaError.Code { CocoaError.Code(rawValue: 132010) }

    /// The row of a fault is no longer in the store. (133000)
    public static var managedObjectReferentialIntegrity: CocoaError.Code { CocoaError.Code(rawValue: 133000) }

    /// A relationship refers to an object of another store. (133010)
    public static var managedObjectExternalRelationship: CocoaError.Code { CocoaError.Code(rawValue: 133010) }

    /// Another writer changed rows of a save, and the merge policy did not resolve the conflict.
    /// (133020)
    public static var managedObjectMerge: CocoaError.Code { CocoaError.Code(rawValue: 133020) }

    /// Uniqueness constraints are violated, and the merge policy did not resolve the conflict.
    /// (133021)
    public static var managedObjectConstraintMerge: CocoaError.Code { CocoaError.Code(rawValue: 133021) }

    // MARK: Stores

    /// No store class is registered for a type, or a file is not of any known format. (134000)
    public static var persistentStoreInvalidType: CocoaError.Code { CocoaError.Code(rawValue: 134000) }

    /// A store's type is not the requested one. (134010)
    public static var persistentStoreTypeMismatch: CocoaError.Code { CocoaError.Code(rawValue: 134010) }

    /// The database lacks tables or columns of the model, or refuses access to them. (134020)
    public static var persistentStoreIncompatibleSchema: CocoaError.Code { CocoaError.Code(rawValue: 134020) }

    /// A save failed for a reason without a code of its own. (134030)
    public static var persistentStoreSave: CocoaError.Code { CocoaError.Code(rawValue: 134030) }

    /// Some of several stores failed to save; `NSAffectedStoresErrorKey` and
    /// `NSAffectedObjectsErrorKey` say which. (134040)
    public static var persistentStoreIncompleteSave: CocoaError.Code { CocoaError.Code(rawValue: 134040) }

    /// Merge conflicts remained; `NSPersistentStoreSaveConflictsErrorKey` holds them. (134050)
    public static var persistentStoreSaveConflicts: CocoaError.Code { CocoaError.Code(rawValue: 134050) }

    /// An error without a code of its own. (134060)
    public static var coreData: CocoaError.Code { CocoaError.Code(rawValue: 134060) }

    /// An operation on a store failed. (134070)
    public static var persistentStoreOperation: CocoaError.Code { CocoaError.Code(rawValue: 134070) }

    /// A store could not be opened. (134080)
    public static var persistentStoreOpen: CocoaError.Code { CocoaError.Code(rawValue: 134080) }

    /// A store could not be reached within `NSPersistentStoreTimeoutOption`. (134090)
    public static var persistentStoreTimeout: CocoaError.Code { CocoaError.Code(rawValue: 134090) }

    /// A store does not know this type of request. (134091)
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code { CocoaError.Code(rawValue: 134091) }

    /// A store was made with another version of the model. (134100)
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code { CocoaError.Code(rawValue: 134100) }

    // MARK: Migration, history and SQLite

    /// A migration failed for a reason without a code of its own. (134110)
    public static var migration: CocoaError.Code { CocoaError.Code(rawValue: 134110) }

    /// A migration was cancelled. (134120)
    public static var migrationCancelled: CocoaError.Code { CocoaError.Code(rawValue: 134120) }

    /// The model with which a store was made was not found. (134130)
    public static var migrationMissingSourceModel: CocoaError.Code { CocoaError.Code(rawValue: 134130) }

    /// There is no mapping model from a store's model to the current one. (134140)
    public static var migrationMissingMappingModel: CocoaError.Code { CocoaError.Code(rawValue: 134140) }

    /// A migration failed at its source store. (134150)
    public static var migrationManagerSourceStore: CocoaError.Code { CocoaError.Code(rawValue: 134150) }

    /// A migration failed at its destination store. (134160)
    public static var migrationManagerDestinationStore: CocoaError.Code { CocoaError.Code(rawValue: 134160) }

    /// An entity migration policy failed. (134170)
    public static var entityMigrationPolicy: CocoaError.Code { CocoaError.Code(rawValue: 134170) }

    /// SQLite reported an error; its own code is in the userInfo under `NSSQLiteErrorDomain`.
    /// (134180)
    public static var sqlite: CocoaError.Code { CocoaError.Code(rawValue: 134180) }

    /// No mapping model could be inferred between two models. (134190)
    public static var inferredMappingModel: CocoaError.Code { CocoaError.Code(rawValue: 134190) }

    /// External records could not be imported. (134200)
    public static var externalRecordImport: CocoaError.Code { CocoaError.Code(rawValue: 134200) }
}

// Codes without a name in Apple's Swift interface.
extension CocoaError.Code {
    /// Uniqueness constraints are violated. (1551)
    static var managedObjectConstraintValidation: CocoaError.Code { CocoaError.Code(rawValue: 1551) }

    /// A URI has no textual form. (1690)
    static var validationInvalidURI: CocoaError.Code { CocoaError.Code(rawValue: 1690) }

    /// A migration would violate a uniqueness constraint. (134111)
    static var migrationConstraintViolation: CocoaError.Code { CocoaError.Code(rawValue: 134111) }

    /// The history that a token refers to was deleted. (134301)
    static var persistentHistoryTokenExpired: CocoaError.Code { CocoaError.Code(rawValue: 134301) }

    /// The model of a model reference was not found. (134504)
    static var managedObjectModelReferenceNotFound: CocoaError.Code { CocoaError.Code(rawValue: 134504) }

    /// A store's metadata lacks entries that staged migration needs. (134505)
    static var stagedMigrationFrameworkVersionMismatch: CocoaError.Code { CocoaError.Code(rawValue: 134505) }

    /// A store is newer than the last stage of a migration. (134506)
    static var stagedMigrationBackwardMigration: CocoaError.Code { CocoaError.Code(rawValue: 134506) }
}
