import Foundation

/// An error that says why a text is not a predicate or an expression, and where the mistake is.
///
///     price > > 10
///             ^ an expression was expected, not ">"
///
/// ```swift
/// do {
///     predicate = try NSPredicate.parse("price > > 10")
/// } catch {
///     print(error.offset, error.message)
/// }
/// ```
public struct PredicateFormatError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// The mistake, as a sentence without its full stop.
    public let message: String
    /// The position of the mistake, counted in characters from the start of ``format``.
    ///
    /// It is the length of ``format`` when the text ends too early.
    public let offset: Int
    /// The whole text.
    public let format: String

    /// Creates an error at a position in a text.
    public init(message: String, offset: Int, format: String) {
        self.message = message
        self.offset = offset
        self.format = format
    }

    init(message: String, scalarOffset: Int, format: String) {
        let start = format.startIndex
        let place = format.unicodeScalars.index(start, offsetBy: scalarOffset, limitedBy: format.endIndex)
        let before = format.unicodeScalars[..<(place ?? format.endIndex)]
        self.init(message: message, offset: String(before).count, format: format)
    }

    /// The message, and the line of the text with a caret below the position.
    public var description: String { "\(message)\n\(rendering)" }

    public var errorDescription: String? { description }

    /// The line of the text that contains the position, and a line with a caret below it.
    ///
    /// Long lines are cut.
    public var rendering: String {
        let characters = Array(format)
        let place = min(max(offset, 0), characters.count)
        var start = characters[..<place].lastIndex(where: \.isNewline).map { $0 + 1 } ?? 0
        var end = characters[place...].firstIndex(where: \.isNewline) ?? characters.count
        var lead = ""
        if place - start > 60 {
            start = place - 60
            lead = "..."
        }
        var tail = ""
        if end - place > 60 {
            end = place + 60
            tail = "..."
        }
        let line = lead + String(characters[start..<end].map { $0 == "\t" ? " " : $0 }) + tail
        return line + "\n" + String(repeating: " ", count: lead.count + place - start) + "^"
    }
}
