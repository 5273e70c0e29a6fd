/// The names under which a store's connection must offer functions and collations that SQL itself has not.
enum SQLFunctionName {
    /// `(operation, options, value, pattern)`: 1, 0 or NULL. See `SQLStringOperation`.
    static let matchString = "NSCoreDataStringSearch"
    /// The string without upper case and diacritics.
    static let canonical = "NSCoreDataStringCanonical"
    static let uppercase = "NSCoreDataStringUppercase"
    static let lowercase = "NSCoreDataStringLowercase"
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

    static let collateCaseInsensitive = "NSCollateCaseInsensitive"
    static let collateLocalized = "NSCollateLocalized"
    static let collateLocalizedCaseInsensitive = "NSCollateLocalizedCaseInsensitive"
    static let collateLocalizedStandard = "NSCollateFinderlike"
}

/// The first argument of `SQLFunctionName.matchString`.
enum SQLStringOperation: Int64 {
    case equal = 0
    case beginsWith = 1
    case endsWith = 2
    case contains = 3
    case like = 4
    case matches = 5
    case lessThan = 6
    case lessThanOrEqual = 7
    case greaterThan = 8
    case greaterThanOrEqual = 9
}
