import Foundation

/// One criterion of a sort order: a key path, a direction and a way of comparing.
///
///     NSSortDescriptor(
///         key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))
///
/// `nil` sorts before every value, and so comes last when descending.
///
/// Source: Apple's reference of NSSortDescriptor.
///
/// ```swift
/// request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
/// ```
//
// Unchecked Sendable: every stored property is a `let`, set before the initializer returns. The
// caller must keep a comparator closure free of shared state, as with Apple's class.
open class NSSortDescriptor: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    /// The key path to the values compared; `nil` compares the objects themselves.
    public let key: String?
    /// Whether smaller values come first.
    public let ascending: Bool
    /// The comparison of the values; `nil` when a comparator closure compares them.
    public let selector: Selector?
    /// The Swift key path the descriptor was made from.
    public let keyPath: AnyKeyPath?

    private let path: ParsedKeyPath?
    private let custom: Comparator?

    private init(key: String?, ascending: Bool, selector: Selector?, keyPath: AnyKeyPath?, custom: Comparator?) {
        self.key = key
        self.ascending = ascending
        self.selector = selector
        self.keyPath = keyPath
        self.custom = custom
        path = key.map { ParsedKeyPath($0) }
    }

    /// A placeholder: orders the objects themselves, descending.
    public convenience override init() { self.init(key: nil, ascending: false) }

    /// Orders by the values at a key path, in their natural order.
    ///
    /// ```swift
    /// let byName = NSSortDescriptor(key: "supplier.name", ascending: true)
    /// ```
    public convenience init(key: String?, ascending: Bool) {
        self.init(key: key, ascending: ascending, selector: .compare, keyPath: nil, custom: nil)
    }

    /// Orders by the values at a key path.
    ///
    /// ```swift
    /// // 9 before 10
    /// let byName = NSSortDescriptor(
    ///     key: "name", ascending: true, selector: .localizedStandardCompare)
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key path; `nil` compares the objects themselves.
    ///   - ascending: Whether smaller values come first.
    ///   - selector: `compare:`, `caseInsensitiveCompare:`, `localizedCompare:`,
    ///     `localizedCaseInsensitiveCompare:` or `localizedStandardCompare:`. `nil` means
    ///     `compare:`.
    public convenience init(key: String?, ascending: Bool, selector: Selector?) {
        self.init(key: key, ascending: ascending, selector: selector ?? .compare, keyPath: nil, custom: nil)
    }

    /// Orders by the values at a key path, compared by a closure. It works in memory only.
    ///
    /// ```swift
    /// let byLength = NSSortDescriptor(key: "name", ascending: true) { left, right in
    ///     let (a, b) = ((left as? String)?.count ?? 0, (right as? String)?.count ?? 0)
    ///     return a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key path; `nil` compares the objects themselves.
    ///   - ascending: Whether smaller values come first.
    ///   - cmptr: Takes two values, never `nil`.
    public convenience init(key: String?, ascending: Bool, comparator cmptr: @escaping Comparator) {
        self.init(key: key, ascending: ascending, selector: nil, keyPath: nil, custom: cmptr)
    }

    /// Orders by the values at a key path that the compiler checks.
    ///
    /// The key is `nil` when no name is known for the key path (see ``KeyPathNaming``). The
    /// descriptor then works in memory only.
    ///
    /// ```swift
    /// let byStock = NSSortDescriptor(keyPath: \Item.stockCount, ascending: false)
    /// ```
    public convenience init<Root, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        self.init(
            key: KeyPathNames.comparedName(of: keyPath), ascending: ascending, selector: .compare, keyPath: keyPath,
            custom: nil)
    }

    /// Orders by the values at a key path that the compiler checks, compared by a closure.
    ///
    /// It works in memory only.
    public convenience init<Root, Value>(
        keyPath: KeyPath<Root, Value>, ascending: Bool, comparator cmptr: @escaping Comparator
    ) {
        self.init(
            key: KeyPathNames.name(of: keyPath), ascending: ascending, selector: nil, keyPath: keyPath, custom: cmptr)
    }

    /// Creates a descriptor from Foundation's `SortDescriptor`.
    ///
    /// Strings are compared by `compare:`: Foundation has no other string comparator on platforms
    /// without Objective-C.
    ///
    /// ```swift
    /// let byName = NSSortDescriptor(SortDescriptor(\Item.name, order: .reverse))
    /// ```
    public convenience init<Compared>(_ sortDescriptor: SortDescriptor<Compared>) {
        let keyPath = sortDescriptor.keyPath
        let key = keyPath.flatMap { KeyPathNames.comparedName(of: $0) }
        let ascending = sortDescriptor.order == .forward
        if let keyPath {
            self.init(key: key, ascending: ascending, selector: .compare, keyPath: keyPath, custom: nil)
        } else {
            var forward = sortDescriptor
            forward.order = .forward
            let comparison = forward
            self.init(key: nil, ascending: ascending, selector: nil, keyPath: nil) { left, right in
                guard let left = left as? Compared, let right = right as? Compared else { return .orderedSame }
                return comparison.compare(left, right)
            }
        }
    }

    // MARK: Comparing

    /// Compares two values of the key, regardless of the direction.
    public var comparator: Comparator {
        if let custom { return custom }
        let selector = selector ?? .compare
        return {
            NSSortDescriptor.order(NSSortDescriptor.comparable($0), NSSortDescriptor.comparable($1), by: selector)
        }
    }

    /// Returns the order of two objects under this criterion alone.
    ///
    /// Values that have no order among them count as the same.
    ///
    /// ```swift
    /// let isBefore = byName.compare(first, to: second) == .orderedAscending
    /// ```
    open func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        order(sortValue(of: object1), sortValue(of: object2))
    }

    /// Sorting reads the values of the key once for each object.
    func order(_ left: SortValue, _ right: SortValue) -> ComparisonResult {
        let result: ComparisonResult
        if let custom, let leftValue = left.value, let rightValue = right.value {
            result = custom(leftValue, rightValue)
        } else {
            result = NSSortDescriptor.order(left.comparable, right.comparable, by: selector ?? .compare)
        }
        return ascending ? result : result.opposite
    }

    func sortValue(of object: Any) -> SortValue {
        let value: Any?
        if let path {
            value = KeyValue.value(at: path.steps[...], of: object)
        } else if let keyPath {
            value = KeyValue.unwrapped(object[keyPath: keyPath])
        } else {
            value = KeyValue.unwrapped(object)
        }
        // A closure gets the value itself; the comparable form then only tells whether there is a
        // value.
        return SortValue(
            value: value, comparable: custom == nil || value == nil ? NSSortDescriptor.comparable(value) : .object(self)
        )
    }

    /// Returns the comparable form of a value; an object is sorted by its identity.
    private static func comparable(_ value: Any?) -> ComparableValue {
        let comparable = ComparableValue(value)
        guard case .object(let object as any RankedIdentity) = comparable else { return comparable }
        return .object(object.identityRank)
    }

    private static func order(
        _ left: ComparableValue, _ right: ComparableValue, by selector: Selector
    ) -> ComparisonResult {
        switch (left, right) {
        case (.string(let left), .string(let right)):
            return StringComparison.compare(left, right, selectorName: selector.name)
        case (.null, .null): return .orderedSame
        case (.null, _): return .orderedAscending
        case (_, .null): return .orderedDescending
        default: return left.order(to: right) ?? .orderedSame
        }
    }

    /// The same criterion in the other direction, an ``NSSortDescriptor``.
    ///
    /// ```swift
    /// let descending = byName.reversedSortDescriptor as? NSSortDescriptor
    /// ```
    open var reversedSortDescriptor: Any {
        NSSortDescriptor(key: key, ascending: !ascending, selector: selector, keyPath: keyPath, custom: custom)
    }

    /// Does nothing. Apple's method marks a decoded descriptor as trusted.
    ///
    /// Descriptors of this module never call arbitrary code.
    open func allowEvaluation() {}

    // MARK: Equality, copying, coding

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSSortDescriptor else { return false }
        if self === other { return true }
        let sameKey = key == other.key && (key != nil || keyPath == other.keyPath)
        return custom == nil && other.custom == nil && sameKey && ascending == other.ascending
            && selector == other.selector
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(ascending)
        hasher.combine(selector)
        return hasher.finalize()
    }

    open override var description: String {
        "(\(key ?? "SELF"), \(ascending ? "ascending" : "descending"), \(selector?.name ?? "comparator"))"
    }

    /// The descriptor itself: it is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    public class var supportsSecureCoding: Bool { true }

    private enum CodingKey {
        static let key = "NSKey"
        static let ascending = "NSAscending"
        static let selector = "NSSelector"
    }

    public required init?(coder: NSCoder) {
        key = coder.decodeObject(of: NSString.self, forKey: CodingKey.key).map { String(describing: $0) }
        ascending = coder.decodeBool(forKey: CodingKey.ascending)
        let name = coder.decodeObject(of: NSString.self, forKey: CodingKey.selector).map { String(describing: $0) }
        selector = Selector(name ?? Selector.compare.name)
        keyPath = nil
        custom = nil
        path = key.map { ParsedKeyPath($0) }
    }

    /// Archives the key, the direction and the selector.
    ///
    /// A descriptor with a comparator closure, or with a key path and no key, fails the coder with
    /// `CocoaError.coderInvalidValue`.
    open func encode(with coder: NSCoder) {
        guard custom == nil, key != nil || keyPath == nil else {
            coder.failWithError(CocoaError(.coderInvalidValue))
            return
        }
        if let key { coder.encode(key as NSString, forKey: CodingKey.key) }
        coder.encode(ascending, forKey: CodingKey.ascending)
        if let selector { coder.encode(selector.name as NSString, forKey: CodingKey.selector) }
    }
}
