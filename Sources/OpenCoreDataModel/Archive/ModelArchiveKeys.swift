/// The keys and numbers of model archives whose meaning their names do not show.
///
/// They were taken from archives written by Apple's framework. No archive with a composite
/// attribute was available: the key of its elements is this project's choice. So are the single
/// bits of a fetch request's flags; their default, 30, is known.
enum ModelArchiveKeys {
    /// The class of the stand-in that a subentity has for an inherited property.
    static let standInClass = "_NSPropertyDescriptionProxy"
    static let externalStorageFlag = 4
    static let preservedOnDeletionFlag = 16
    static let compositeElements = "NSCompositeElements"
    /// The key of the elements in archives that former versions of this project wrote.
    static let formerCompositeElements = "NSElements"
    static let defaultFetchFlags = 30
    // This project's keys for settings that no archive of Apple's shows. Other readers ignore them.
    static let indexedBySpotlight = "OpenCoreDataIndexedBySpotlight"
    static let cloudEncryption = "OpenCoreDataAllowsCloudEncryption"
    static let localization = "OpenCoreDataLocalizationDictionary"

    /// The bits of `_P`, which is a summary of a property.
    enum PropertyBits {
        static let always = 1
        static let optional = 2
        static let readOnly = 4
        static let transient = 8
        static let noValidation = 48
        static let noUserInfo = 64
        static let noModifier = 128
        static let ordered = 1024
    }

    static func fetchFlags(of template: FetchRequestTemplate) -> Int {
        (template.returnsDistinctResults ? 1 : 0) | (template.includesSubentities ? 2 : 0)
            | (template.includesPropertyValues ? 4 : 0) | (template.returnsObjectsAsFaults ? 8 : 0)
            | (template.includesPendingChanges ? 16 : 0)
    }

    static func setFetchFlags(_ flags: Int, on template: inout FetchRequestTemplate) {
        template.returnsDistinctResults = flags & 1 != 0
        template.includesSubentities = flags & 2 != 0
        template.includesPropertyValues = flags & 4 != 0
        template.returnsObjectsAsFaults = flags & 8 != 0
        template.includesPendingChanges = flags & 16 != 0
    }
}
