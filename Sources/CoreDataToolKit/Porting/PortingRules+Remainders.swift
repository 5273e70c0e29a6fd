/// Rules for code that only a person can change.
extension PortingRules {
    /// Classes and types of Core Data that the package does not declare.
    static let missingTypes: Set<String> = [
        "NSCoreDataCoreSpotlightDelegate", "NSPersistentCloudKitContainer",
        "NSPersistentCloudKitContainerEventRequest", "NSPersistentCloudKitContainerEventResult",
        "NSPersistentCloudKitContainerOptions",
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
        case "NSFetchRequest"
        where ["!", "?"].contains(source.word(index - 1)) && source.word(index - 2) == "as"
            && !isCastInBatchDeletion(index):
            leave(
                index,
                "A request of one generic argument is no request of another: declare it as what is needed, or cast "
                    + "what it gives."
            )
        case "urls" where source.matches("(", "forResourcesWithExtension", at: index + 1):
            leave(
                index,
                "Bundle.urls(forResourcesWithExtension:subdirectory:) gives [NSURL] here: add .map { $0 as URL }.")
        default: lookAtCall(word, index)
        }
    }

    /// Reports functions that do not exist here.
    private mutating func lookAtCall(_ word: String, _ index: Int) {
        switch word {
        case "OSAllocatedUnfairLock", "os_unfair_lock":
            leave(index, "\(word) does not exist here: import Synchronization, and take Mutex.")
        case "objc_getAssociatedObject", "objc_setAssociatedObject", "objc_removeAssociatedObjects":
            leave(index, "There are no associated objects: for a context take userInfo, else a stored property.")
        case "NSClassFromString":
            guard hasArgument("managedObjectClassName", at: index) else { return }
            leave(
                index,
                "A class has no name without its module's here: take entity() of the class, or type(of:) of an object.")
        case "publisher" where source.matches("(", "for", at: index + 1) && source.word(index - 1) == ".":
            leave(
                index,
                "There are no publishers: use notifications(of:) of the context, or "
                    + "addObserver(forName:object:queue:using:)."
            )
        case "keyValueObservingExpectation" where source.word(index + 1) == "(":
            leave(index, "There is no key-value observing: expect a notification of the context.")
        default: break
        }
    }

    /// Whether a word occurs in the arguments of a call.
    private func hasArgument(_ word: String, at index: Int) -> Bool {
        guard let close = source.closing(index + 1) else { return false }
        return (index..<close).contains { source.word($0) == word }
    }

    private mutating func lookAtFunction(_ index: Int) {
        let name = source.word(index + 1)
        if name == "observeValue" {
            return leave(index, "There is no key-value observing: use the notifications of the context.")
        }
        let key = name.dropFirst("validate".count)
        guard name.hasPrefix("validate"), key.first?.isUppercase == true,
            !["Value", "ForInsert", "ForUpdate", "ForDelete"].contains(String(key)), isInManagedClass(index),
            hasArgument("AutoreleasingUnsafeMutablePointer", at: index + 1) || hasArgument("AnyObject", at: index + 1)
        else { return }
        leave(index, "\(name)(_:) is not called: override validateValue(_:forKey:) and look at the key.")
    }
}
