/// The kinds of faults that `check` finds, in the order in which `repair` mends them.
///
/// Later ones depend on earlier ones: a key of an unknown row can be told only where the row's own
/// entity is known.
enum FindingKind: String, CaseIterable, Sendable {
    /// Damaged pages, or indexes that differ from their tables.
    case integrity
    /// Tables or columns that are missing, or are not as Core Data makes them.
    case structure
    /// `Z_MODELCACHE` has no readable model.
    case modelCache = "model-cache"
    /// The version hashes in the metadata are not those of the model.
    case versionHashes = "version-hashes"
    /// `Z_ENT` is none of the table's entities.
    case entityNumber = "entity-number"
    /// `Z_OPT` is not a number from 1 on.
    case rowVersion = "row-version"
    /// A value is of another type than the model's attribute.
    case valueType = "value-type"
    /// A value is beyond the limits of the model.
    case valueLimit = "value-limit"
    /// A row refers to an external file that is not there.
    case missingFile = "missing-file"
    /// No row refers to an external file.
    case orphanedFile = "orphaned-file"
    /// A to-one key leads to a row that is not there.
    case danglingKey = "dangling-key"
    /// A key leads to a row of another entity than the relationship's destination.
    case wrongEntity = "wrong-entity"
    /// The two sides of a relationship disagree.
    case oneSided = "one-sided"
    /// A row of a join table refers to a row that is not there.
    case orphanedJoinRow = "orphaned-join-row"
    /// An ordered relationship has members without a position, or two with one.
    case order
    /// A property that is not optional has no value.
    case requiredValue = "required-value"
    /// Several rows have the values of a uniqueness constraint.
    case duplicate
    /// Changes in the persistent history that belong to nothing.
    case history
    /// `Z_MAX` is below a key that is in use.
    case greatestKey = "z-max"
    /// An index that Core Data makes is missing.
    case missingIndex = "missing-index"
}
