import Foundation
import Synchronization

/// Sentences about what a program should know where the API has no error to throw: stored data that cannot be used, options without
/// effect. Each is written to standard error once in the life of the program.
package enum Warnings {
    /// What has been said, by subject.
    private static let said = Mutex<[String: String]>([:])

    /// Says a sentence, unless one about the same subject was said before.
    ///
    /// - Parameter subject: what it is about: names of the model, of classes or options, of which there is a limited number.
    package static func sayOnce(about subject: String, _ sentence: () -> String) {
        let new: String? = said.withLock { said in
            guard said[subject] == nil else { return nil }
            let sentence = sentence()
            said[subject] = sentence
            return sentence
        }
        if let new { FileHandle.standardError.write(Data("CoreData: \(new)\n".utf8)) }
    }

    /// The sentences that were said, in no particular order.
    package static var all: [String] { said.withLock { Array($0.values) } }
}
