/// Options that programs may give a store although nothing here does what they ask for.
enum UnsupportedOptions {
    /// What is told of an option that can be passed over.
    private static let harmless = [
        NSPersistentStoreDeferredLightweightMigrationOptionKey: "migrations are never deferred: all of it is done when the store is added",
        NSValidateXMLStoreOption: "there are no XML stores",
        NSBinaryStoreSecureDecodingClasses: "there are no binary stores",
        NSBinaryStoreInsecureDecodingCompatibilityOption: "there are no binary stores",
    ]

    /// - Throws: `CocoaError.migration` (134110) for an option without which the store would not be what the program expects.
    static func check(_ options: [AnyHashable: Any]?, type: String, url: URL?) throws {
        guard let options, !options.isEmpty else { return }
        if options[NSPersistentStoreStagedMigrationManagerOptionKey] != nil {
            throw CoreDataErrors.stagedMigration(type: type, url: url)
        }
        for (option, reason) in harmless where NSPersistentStore.flag(options, option) || options[option] is [Any] {
            Warnings.sayOnce(about: "option \(option)") { "The option \(option) has no effect: \(reason)." }
        }
    }
}
