/// Why an object's values were replaced, for `awake(fromSnapshotEvents:)`.
///
/// ```swift
/// override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
///     super.awake(fromSnapshotEvents: flags)
///     if flags.contains(.refresh) { cachedTotal = nil }
/// }
/// ```
public struct NSSnapshotEventType: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
    public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
    public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
    public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
    public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
    public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}
