import Foundation

/// Options that programs may set although they are not implemented.
enum UnsupportedOptions {
    private static let harmless = [
        NSPersistentStoreFileProtectionKey: "files are not encrypted on this system",
        NSValidateXMLStoreOption: "XML files are always checked when they are read",
        NSBinaryStoreSecureDecodingClasses: "binary files are read without decoding objects",
        NSBinaryStoreInsecureDecodingCompatibilityOption: "binary files are read without decoding objects",
    ]

    private static let harmlessByType = Dictionary(
        StoreTypeRegistry.declared.map { ($0.type, $0.optionsWithoutEffect) }, uniquingKeysWith: { first, _ in first })

    /// - Throws: `CocoaError.migration` (134110) for an option without which the store would not be
    ///   what the program expects.
    static func check(_ options: [AnyHashable: Any]?, type: String, url: URL?) throws {
        guard let options, !options.isEmpty else { return }
        if let stages = options[NSPersistentStoreStagedMigrationManagerOptionKey], !(stages is any StagedMigrator) {
            throw CoreDataErrors.stagedMigration(by: stages, type: type, url: url)
        }
        say(harmless, options) { "option \($0)" }
        if let ofType = harmlessByType[type] { say(ofType, options) { "option \($0) of \(type)" } }
    }

    private static func say(_ harmless: [String: String], _ options: [AnyHashable: Any], subject: (String) -> String) {
        for (option, reason) in harmless {
            if isSet(option, options) {
                Warnings.sayOnce(about: subject(option)) { "The option \(option) has no effect: \(reason)." }
            }
        }
    }

    private static func isSet(_ option: String, _ options: [AnyHashable: Any]) -> Bool {
        switch options[option] {
        case nil: false
        case let protection as FileProtectionType: protection != .none
        // A protection class may be given as a text. Every other text is a number.
        case let text as String where option == NSPersistentStoreFileProtectionKey:
            text != FileProtectionType.none.rawValue
        case is NSNumber, is Bool, is String: NSPersistentStore.flag(options, option)
        default: true
        }
    }
}
