import Foundation
import Synchronization

/// Warnings in situations in which the API has no error to throw: stored data that cannot be used,
/// options without effect.
///
/// Each is written to standard error once in the life of the program.
package enum Warnings {
    /// The warnings printed so far, by subject.
    private static let said = Mutex<[String: String]>([:])

    /// Prints a warning, unless one about the same subject was printed before.
    ///
    /// - Parameter subject: What it is about: names of the model, of classes or options, so that
    ///   their number is limited.
    package static func sayOnce(about subject: String, _ sentence: () -> String) {
        let isNew = said.withLock { said in
            guard said[subject] == nil else { return false }
            said[subject] = ""
            return true
        }
        guard isNew else { return }
        let sentence = sentence()
        said.withLock { $0[subject] = sentence }
        FileHandle.standardError.write(Data("CoreData: \(sentence)\n".utf8))
    }

    package static var all: [String] { said.withLock { Array($0.values) } }
}
