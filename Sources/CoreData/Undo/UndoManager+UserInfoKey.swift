extension UndoManager {
    /// The key of a value that is stored with an action's name.
    ///
    /// ```swift
    /// undoManager.setActionUserInfoValue("toolbar", forKey: UndoManager.UserInfoKey("origin"))
    /// let origin =
    ///     undoManager.undoActionUserInfoValue(
    ///         forKey: UndoManager.UserInfoKey("origin")) as? String
    /// ```
    public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public init(_ rawValue: String) { self.rawValue = rawValue }
    }
}
