import Foundation
import Synchronization

/// What a program should know although nothing failed.
enum Notice {
    /// Guards the texts that were printed.
    private static let printed = Mutex<Set<String>>([])

    /// Prints a text to the standard error output, the first time that it is given.
    static func print(_ text: String) {
        guard printed.withLock({ $0.insert(text).inserted }) else { return }
        FileHandle.standardError.write(Data("CoreData: \(text)\n".utf8))
    }
}
