import Foundation

/// Options for how `NSHashTable` and `NSMapTable` hold their contents. Foundation on Linux has none
/// of the three types.
///
/// Source: <https://developer.apple.com/documentation/foundation/nspointerfunctions>
///
/// ```swift
/// let seen = NSHashTable<Item>(options: [.weakMemory, .objectPointerPersonality])
/// ```
public enum NSPointerFunctions {
    /// Ways of holding and comparing objects. The options for memory that holds no objects do not
    /// exist here.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Retains the object.
        public static var strongMemory: Options { [] }
        /// Does not retain the object, and forgets it when it is released.
        public static let weakMemory = Options(rawValue: 5)
        /// Compares with `isEqual(_:)` and `hash` if the objects have them, and by identity
        /// otherwise.
        public static var objectPersonality: Options { [] }
        /// Compares by identity.
        public static let objectPointerPersonality = Options(rawValue: 2 << 8)
        /// Retains a copy of an object that conforms to `NSCopying`.
        public static let copyIn = Options(rawValue: 1 << 16)
    }
}

/// An object in the form in which a table holds it.
struct HeldObject {
    private var strong: AnyObject?
    private weak var weakly: AnyObject?

    init(_ object: AnyObject, _ options: NSPointerFunctions.Options) {
        let held = options.contains(.copyIn) ? (object as? any NSCopying)?.copy() as AnyObject? ?? object : object
        if options.contains(.weakMemory) { weakly = held } else { strong = held }
    }

    /// Nil once an object that was not retained is released.
    var object: AnyObject? { strong ?? weakly }
}

extension NSPointerFunctions.Options {
    func hash(_ object: AnyObject) -> Int {
        if !contains(.objectPointerPersonality), let object = object as? NSObject { return object.hash }
        return ObjectIdentifier(object).hashValue
    }

    func areEqual(_ first: AnyObject, _ second: AnyObject) -> Bool {
        if first === second { return true }
        guard !contains(.objectPointerPersonality), let first = first as? NSObject else { return false }
        return first.isEqual(second)
    }
}

/// The entries of a table, by the hash of their keys.
///
/// An entry of which an object was released is removed when its hash is looked up for a removal,
/// and all such entries whenever the table has doubled.
struct HeldObjects {
    struct Entry {
        let key: HeldObject
        let value: HeldObject?

        var isAlive: Bool { key.object != nil && value.map { $0.object != nil } ?? true }
    }

    let options: NSPointerFunctions.Options
    private var entries: [Int: [Entry]] = [:]
    /// The number of entries that can be added before all are checked.
    private var room = HeldObjects.leastRoom
    private static let leastRoom = 16

    init(options: NSPointerFunctions.Options) { self.options = options }

    /// The entries whose objects all exist. Cost: O(*n*).
    var living: [Entry] { entries.values.flatMap { $0.filter(\.isAlive) } }

    func entry(of key: AnyObject) -> Entry? {
        entries[options.hash(key)]?.first { entry in
            entry.isAlive && entry.key.object.map { options.areEqual($0, key) } ?? false
        }
    }

    mutating func remove(_ key: AnyObject) {
        let hash = options.hash(key)
        guard var place = entries[hash] else { return }
        place.removeAll { entry in !entry.isAlive || entry.key.object.map { options.areEqual($0, key) } ?? true }
        entries[hash] = place.isEmpty ? nil : place
    }

    /// Adds an entry whose key is not in the table.
    mutating func add(_ entry: Entry, for key: AnyObject) {
        entries[options.hash(key), default: []].append(entry)
        room -= 1
        if room == 0 { purge() }
    }

    private mutating func purge() {
        entries = entries.compactMapValues { place in
            let living = place.filter(\.isAlive)
            return living.isEmpty ? nil : living
        }
        room = max(entries.count, Self.leastRoom)
    }

    mutating func removeAll() {
        entries = [:]
        room = Self.leastRoom
    }
}
