/// The names under which a store's connection must offer functions and collations that SQL itself has not.
enum SQLFunctionName {
    /// `(operator, options, value, pattern)`: 1, 0 or NULL. The first two are raw values of `NSComparisonPredicate`.
    static let matchString = "NSCoreDataStringSearch"
    /// The string without upper case and diacritics.
    static let canonical = "NSCoreDataStringCanonical"
    static let uppercase = "NSCoreDataStringUppercase"
    static let lowercase = "NSCoreDataStringLowercase"
    /// `(function, kinds, values…)`: a function of predicates that SQL has not, or has with other rules. The kinds are the raw
    /// values of the arguments' `ValueKind`, a byte each.
    static let calculate = "NSCoreDataCalculate"
    /// The same with a decimal as text, which has all of its digits, for other calculations.
    static let calculateExactly = "NSCoreDataCalculateExactly"
    /// `(operator, kinds, value, value)`: 1, 0 or NULL. A comparison of numbers that are computed with all digits.
    static let compareNumbers = "NSCoreDataCompareNumbers"
    /// The kind, among those of arguments, of a number that is computed with all digits.
    static let exactKind: UInt8 = UInt8(ascii: "z")
    /// The number that a text reads as; NULL for other texts.
    static let number = "NSCoreDataNumber"
    /// The value itself, which SQLite does not take for a constant then.
    static let value = "NSCoreDataValue"
    /// `(kind, value)`: a number or UUID as the text that predicates take it for.
    static let text = "NSCoreDataText"
    /// The bytes of an attribute with external storage, from the row or the file that the row names.
    static let externalBytes = "NSCoreDataExternalBytes"
    /// Sum and average of decimals.
    static let decimalSum = "NSCoreDataDecimalSum"
    static let decimalAverage = "NSCoreDataDecimalAverage"
    static let exactDecimalSum = "NSCoreDataExactDecimalSum"
    static let exactDecimalAverage = "NSCoreDataExactDecimalAverage"
    /// The bytes that hexadecimal text stands for.
    static let bytes = "NSCoreDataBytes"
    /// The double whose bit pattern is an integer.
    static let double = "NSCoreDataDouble"

    /// While a store is migrated: bytes as an attribute with external storage holds them, and the bytes of such a value.
    static let externalValue = "NSCoreDataExternalValue"
    static let plainValue = "NSCoreDataPlainValue"
    /// While a store is migrated: `(archive, path)`, an element of a composite attribute whose dictionary is archived in one
    /// column; NULL for none. The path's names are joined with dots.
    static let archivedElement = "NSCoreDataArchivedElement"
    /// While a store is migrated: `(columns, entity number)`, the bit set of a history change with the bits of the new model.
    static let historyColumns = "NSCoreDataHistoryColumns"

    /// `(table, entity number, key, attribute, value)`: called by the triggers of derived attributes for each row that they change.
    static let updatedRow = "NSCoreDataDATriggerUpdatedAffectedObjectValue"
    static let insertedRow = "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue"
    /// The same with the column's name, of triggers that the user info of an attribute asks Apple's framework for.
    static let changedRow = "NSCoreDataTriggerUpdateAffectedObjectValue"

    static let collateCaseInsensitive = "NSCollateCaseInsensitive"
    static let collateLocalized = "NSCollateLocalized"
    static let collateLocalizedCaseInsensitive = "NSCollateLocalizedCaseInsensitive"
    static let collateLocalizedStandard = "NSCollateFinderlike"
}
