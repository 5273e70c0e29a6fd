import Foundation

/// A place in the persistent history of one or more stores: the last transaction of each that a
/// reader has seen.
///
/// A token is equal to every other token for the same place, also to one of another process or
/// coordinator. Keep it in an archive, or with `Codable`, to continue there after a relaunch.
///
/// Source: <https://developer.apple.com/documentation/coredata/nspersistenthistorytoken>
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// let history = try context.execute(request) as? NSPersistentHistoryResult
/// for transaction in history?.result as? [NSPersistentHistoryTransaction] ?? [] {
///     show(transaction)
///     lastToken = transaction.token
/// }
/// let data = try NSKeyedArchiver.archivedData(
///     withRootObject: lastToken, requiringSecureCoding: true)
/// ```
public final class NSPersistentHistoryToken: NSObject, NSCopying, NSSecureCoding, Codable, Sendable {
    /// The numbers of the transactions by the UUIDs of their stores.
    let numbers: [String: Int64]

    init(_ numbers: [String: Int64]) { self.numbers = numbers }

    /// Creates the token of one transaction.
    convenience init(_ number: Int64, of store: NSPersistentStore) { self.init([store.identifier ?? "": number]) }

    /// The number of the transaction in a store; nil where the token says nothing about the store.
    func number(in store: NSPersistentStore) -> Int64? { numbers[store.identifier ?? ""] }

    /// Whether this place comes before another one in the same stores.
    ///
    /// False for tokens of different stores, which have no order.
    public func isEarlier(than other: NSPersistentHistoryToken) -> Bool {
        numbers.count == other.numbers.count && numbers != other.numbers
            && numbers.allSatisfy { store, number in other.numbers[store].map { number <= $0 } ?? false }
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? NSPersistentHistoryToken)?.numbers == numbers
    }

    public override var hash: Int { numbers.hashValue }

    public override var description: String {
        let places = numbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "NSPersistentHistoryToken [\(places.joined(separator: ", "))]"
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: - Archives

    public static var supportsSecureCoding: Bool { true }

    private static let archiveKey = "storeTokens"

    public func encode(with coder: NSCoder) {
        coder.encode(numbers.mapValues { NSNumber(value: $0) } as NSDictionary, forKey: Self.archiveKey)
    }

    /// Reads a token from an archive. Nil, and the coder fails, where the archive has none.
    public required init?(coder: NSCoder) {
        let classes = [NSDictionary.self, NSString.self, NSNumber.self]
        guard let stored = coder.decodeObject(of: classes, forKey: Self.archiveKey) as? [String: NSNumber] else {
            coder.failWithError(
                CocoaError.error(
                    .coderReadCorrupt, userInfo: [NSLocalizedDescriptionKey: "The archive has no history token."]))
            return nil
        }
        numbers = stored.mapValues(\.int64Value)
    }

    public init(from decoder: any Decoder) throws {
        numbers = try decoder.singleValueContainer().decode([String: Int64].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(numbers)
    }
}
