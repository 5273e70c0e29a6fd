/// The kind of a change of a set. Key-value observing on a Mac receives it; here nothing uses it.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Objects are added.
    case union = 1
    /// Objects are removed.
    case minus = 2
    /// All but some objects are removed.
    case intersect = 3
    /// The members are replaced.
    case set = 4
}
