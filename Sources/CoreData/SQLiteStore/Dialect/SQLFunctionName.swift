/// The names of the functions and collations that a store's connection adds to SQL.
enum SQLFunctionName {
    /// `(operator, options, value, pattern)`: 1, 0 or NULL. The first two are raw values of
    /// `NSComparisonPredicate`.
    static let matchString = "NSCoreDataStringSearch"
    /// The case-folded string without diacritics.
    static let canonical = "NSCoreDataStringCanonical"
    static let uppercase = "NSCoreDataStringUppercase"
    static let lowercase = "NSCoreDataStringLowercase"
    /// `(function, kinds, values…)`: a predicate function that SQL lacks or defines differently.
    ///
    /// The kinds are the raw values of the arguments' `ValueKind`, a byte each.
    static let calculate = "NSCoreDataCalculate"
    /// Like `calculate`, but returns a decimal as text with all digits, for further calculations.
    static let calculateExactly = "NSCoreDataCalculateExactly"
    /// `(operator, kinds, value, value)`: 1, 0 or NULL. Compares numbers that are computed with all
    /// digits.
    static let compareNumbers = "NSCoreDataCompareNumbers"
    /// The kind, in a list of arguments' kinds, of a number that is computed with all digits.
    static let exactKind: UInt8 = UInt8(ascii: "z")
    /// The number in a text; NULL for other texts.
    static let number = "NSCoreDataNumber"
    /// The value itself. The call keeps SQLite from treating it as a constant.
    static let value = "NSCoreDataValue"
    /// `(kind, value)`: a number or UUID as the text that predicates compare.
    static let text = "NSCoreDataText"
    /// The bytes of an attribute with external storage, from the row or its external file.
    static let externalBytes = "NSCoreDataExternalBytes"
    /// Sum and average of decimals.
    static let decimalSum = "NSCoreDataDecimalSum"
    static let decimalAverage = "NSCoreDataDecimalAverage"
    static let exactDecimalSum = "NSCoreDataExactDecimalSum"
    static let exactDecimalAverage = "NSCoreDataExactDecimalAverage"
    /// The bytes of a hexadecimal text.
    static let bytes = "NSCoreDataBytes"
    /// The double whose bit pattern is an integer.
    static let double = "NSCoreDataDouble"

    /// During a migration: plain bytes to their external-storage form, and back.
    static let externalValue = "NSCoreDataExternalValue"
    static let plainValue = "NSCoreDataPlainValue"
    /// During a migration: `(archive, path)`, an element of a composite attribute's archive.
    ///
    /// One column holds the archived dictionary of the attribute.
    ///
    /// NULL if there is none. The path's names are joined with dots.
    static let archivedElement = "NSCoreDataArchivedElement"
    /// During a migration: `(columns, entity number)`, a change's bit set for the new model.
    static let historyColumns = "NSCoreDataHistoryColumns"

    /// `(table, entity number, key, attribute, value)`: reports a row with a new derived value.
    ///
    /// Called by the triggers of derived attributes for each row that they change.
    static let updatedRow = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    static let insertedRow = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    /// Like `updatedRow`, with the column's name; for triggers that the user info of an attribute
    /// requests from Apple's framework.
    static let changedRow = "NSCoreDataTriggerUpdateAffectedObjectValue"

    static let collateCaseInsensitive = "NSCollateCaseInsensitive"
    static let collateLocalized = "NSCollateLocalized"
    static let collateLocalizedCaseInsensitive = "NSCollateLocalizedCaseInsensitive"
    static let collateLocalizedStandard = "NSCollateFinderlike"
}
