import Foundation

/// The text of errors of the engine.
enum ErrorText {
    /// Returns the error's description and recovery suggestion in one line.
    static func line(_ error: any Error) -> String {
        let error = error as NSError
        var text = error.localizedDescription
        if let advice = error.localizedRecoverySuggestion, !text.contains(advice) { text += " " + advice }
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
