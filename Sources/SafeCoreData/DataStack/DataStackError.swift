/// Errors of a stack itself. Errors of the store and of the model are thrown as Core Data's own.
///
/// ```swift
/// do {
///     try stack.readNow { try show($0.fetch(Item.self)) }
/// } catch DataStackError.notOpenYet {
///     showProgress()
/// }
/// ```
public enum DataStackError: Error, Hashable, Sendable {
    /// The store is not open yet, and `readNow(_:)` does not wait: use `read(_:)`.
    case notOpenYet
    /// The stack was closed before the request's turn; `reopen()` opens it again.
    case closed
    /// An object was changed by a block of a read or a query, or by code that used a view of the
    /// main context since its last read. The changes were rolled back. One text for each object:
    /// its entity, its ID and the names of the changed properties.
    case changedWhileReading([String])
    /// The context of a read or a query was asked to save; only the context of a write block can.
    case savedWhileReading
    /// A store in memory has no file that could be replaced.
    case noFile
    /// A store can only be replaced by one of its own kind. The values are the types of both, as in
    /// store descriptions.
    case otherKindOfStore(source: String, own: String)
    /// The draft was applied or discarded before: begin another.
    case draftEnded
}

extension DataStackError: LocalizedError, CustomStringConvertible {
    public var description: String {
        switch self {
        case .notOpenYet:
            "The store is not open yet: use 'await stack.read', which waits for it, or read when the stack's state "
                + "is open."
        case .closed: "The stack is closed: call reopen() before further requests."
        case .changedWhileReading(let objects):
            "This context only reads, but something changed " + objects.joined(separator: ", ")
                + ". The changes were rolled back; make them in a write block."
        case .savedWhileReading: "This context only reads and cannot be saved; make changes in a write block."
        case .noFile: "A store in memory has no file that could be replaced."
        case .otherKindOfStore(let source, let own):
            "A store of the type \(own) cannot be replaced by a copy of one of the type \(source): give the URL of a "
                + "store of its own type."
        case .draftEnded: "The draft was applied or discarded already: begin another one to change anything."
        }
    }

    public var errorDescription: String? { description }
}
