/// What only a person can change.
extension PortingRules {
    /// Classes and types of Core Data that the package does not declare.
    static let missingTypes: Set<String> = [
        "NSCoreDataCoreSpotlightDelegate", "NSCustomMigrationStage", "NSEntityMigrationPolicy", "NSLightweightMigrationStage",
        "NSManagedObjectModelReference", "NSMigrationManager", "NSMigrationStage", "NSPersistentCloudKitContainer",
        "NSPersistentCloudKitContainerEventRequest", "NSPersistentCloudKitContainerEventResult", "NSPersistentCloudKitContainerOptions",
        "NSPersistentHistoryChange", "NSPersistentHistoryChangeRequest", "NSPersistentHistoryChangeType", "NSPersistentHistoryResult",
        "NSPersistentHistoryResultType", "NSPersistentHistoryToken", "NSPersistentHistoryTransaction", "NSStagedMigrationManager",
    ]

    mutating func lookAtWord(_ word: String, _ index: Int) {
        switch word {
        case _ where Self.missingTypes.contains(word): leave(index, "\(word) does not exist here.")
        case "func": lookAtFunction(index)
        case "observe" where source.matches("(", "\\", at: index + 1) && source.word(index - 1) == ".":
            leave(index, "There is no key-value observing: use the notifications of the context.")
        case "addObserver" where source.word(index + 1) == "(":
            guard hasArgument("forKeyPath", at: index) else { return }
            leave(index, "There is no key-value observing: use the notifications of the context.")
        case "unsafeBitCast":
            guard hasArgument("NSFetchRequest", at: index) else { return }
            leave(index, "A request of one generic argument is no request of another: declare it as what is needed.")
        case "NSFetchRequest" where ["!", "?"].contains(source.word(index - 1)) && source.word(index - 2) == "as":
            leave(index, "A request of one generic argument is no request of another: declare it as what is needed, or cast what it gives.")
        case "urls" where source.matches("(", "forResourcesWithExtension", at: index + 1):
            leave(index, "Bundle.urls(forResourcesWithExtension:subdirectory:) gives [NSURL] here: add .map { $0 as URL }.")
        case _ where classes.setProperties.contains(word) && source.matches("=", "[", at: index + 1):
            leave(index, "'\(word)' is a set of Foundation, which takes no literal here: write NSSet(array: […]).")
        default: break
        }
    }

    /// Whether a word stands in the arguments of a call.
    private func hasArgument(_ word: String, at index: Int) -> Bool {
        guard let close = source.closing(index + 1) else { return false }
        return (index..<close).contains { source.word($0) == word }
    }

    private mutating func lookAtFunction(_ index: Int) {
        let name = source.word(index + 1)
        if name == "observeValue" { return leave(index, "There is no key-value observing: use the notifications of the context.") }
        let key = name.dropFirst("validate".count)
        guard name.hasPrefix("validate"), key.first?.isUppercase == true,
            !["Value", "ForInsert", "ForUpdate", "ForDelete"].contains(String(key)), isInManagedClass(index),
            hasArgument("AutoreleasingUnsafeMutablePointer", at: index + 1) || hasArgument("AnyObject", at: index + 1)
        else { return }
        leave(index, "\(name)(_:) is not called: override validateValue(_:forKey:) and look at the key.")
    }

    /// Code in a text's interpolation is not changed.
    mutating func lookIntoLiteral(_ index: Int) {
        let text = source.text(source.tokens[index].range)
        guard text.contains("\\"), text.contains("#keyPath(") || text.contains("#selector(") else { return }
        leave(index, "A text has #keyPath or #selector in it: write the name.")
    }
}
