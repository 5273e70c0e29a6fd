/// What is done to a set, as key-value observing on a Mac is told. Here nobody asks.
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
