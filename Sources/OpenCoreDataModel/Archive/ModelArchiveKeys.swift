/// The numbers of model archives whose meaning is not in their name.
///
/// Read off archives written by Apple's framework. No archive with a composite attribute was at hand: the key of its
/// elements is this project's choice, as are the single bits of a fetch request's flags (their default, 30, is known).
enum ModelArchiveKeys {
    /// The class of what stands in a subentity for an inherited property.
    static let standInClass = "_NSPropertyDescriptionProxy"
    static let externalStorageFlag = 4
    static let preservedOnDeletionFlag = 16
    static let compositeElements = "NSCompositeElements"
    /// Under which archives made here before had them.
    static let formerCompositeElements = "NSElements"
    static let defaultFetchFlags = 30
    // Own keys of what no archive of Apple's shows; other readers pass over them.
    static let indexedBySpotlight = "OpenCoreDataIndexedBySpotlight"
    static let cloudEncryption = "OpenCoreDataAllowsCloudEncryption"
    static let localization = "OpenCoreDataLocalizationDictionary"

    /// The bits of `_P`, which sums a property up.
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

    /// The flags of a fetch request.
    static func fetchFlags(of template: FetchRequestTemplate) -> Int {
        (template.returnsDistinctResults ? 1 : 0) | (template.includesSubentities ? 2 : 0)
            | (template.includesPropertyValues ? 4 : 0) | (template.returnsObjectsAsFaults ? 8 : 0)
            | (template.includesPendingChanges ? 16 : 0)
    }

    /// Sets what the flags of a fetch request say.
    static func setFetchFlags(_ flags: Int, on template: inout FetchRequestTemplate) {
        template.returnsDistinctResults = flags & 1 != 0
        template.includesSubentities = flags & 2 != 0
        template.includesPropertyValues = flags & 4 != 0
        template.returnsObjectsAsFaults = flags & 8 != 0
        template.includesPendingChanges = flags & 16 != 0
    }
}
