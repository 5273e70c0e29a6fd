import Foundation

/// The words of errors that come from the engine.
enum ErrorText {
    /// What the error says and what to do, in one line.
    static func line(_ error: any Error) -> String {
        let error = error as NSError
        var text = error.localizedDescription
        if let advice = error.localizedRecoverySuggestion, !text.contains(advice) { text += " " + advice }
        return text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
