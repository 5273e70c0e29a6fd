/// One sort criterion of a typed query.
///
/// ```swift
/// try context.fetch(
///     Item.self, sortBy: [.descending(\.stockCount), .ascending(\.name, .localizedStandard)])
/// ```
public struct Ordering<Object: NSManagedObject> {
    let keyPath: PartialKeyPath<Object>
    private let isAscending: Bool
    private let selector: Selector?

    /// Sorts smaller values first, nil before all others.
    ///
    /// ```swift
    /// let cheapestFirst: [Ordering<Item>] = [.ascending(\.price), .ascending(\.supplier?.name)]
    /// ```
    public static func ascending<Value: SortableValue>(_ keyPath: KeyPath<Object, Value>) -> Ordering {
        Ordering(keyPath: keyPath, isAscending: true, selector: nil)
    }

    /// Sorts greater values first, nil after all others.
    public static func descending<Value: SortableValue>(_ keyPath: KeyPath<Object, Value>) -> Ordering {
        Ordering(keyPath: keyPath, isAscending: false, selector: nil)
    }

    /// Sorts texts in ascending order.
    ///
    /// ```swift
    /// let byName: [Ordering<Item>] = [.ascending(\.name, .localizedStandard)]
    /// ```
    public static func ascending(_ keyPath: KeyPath<Object, String>, _ comparison: TextComparison) -> Ordering {
        Ordering(keyPath: keyPath, isAscending: true, selector: comparison.selector)
    }

    /// Sorts texts in ascending order, nil before all others.
    public static func ascending(_ keyPath: KeyPath<Object, String?>, _ comparison: TextComparison) -> Ordering {
        Ordering(keyPath: keyPath, isAscending: true, selector: comparison.selector)
    }

    /// Sorts texts in descending order.
    public static func descending(_ keyPath: KeyPath<Object, String>, _ comparison: TextComparison) -> Ordering {
        Ordering(keyPath: keyPath, isAscending: false, selector: comparison.selector)
    }

    /// Sorts texts in descending order, nil after all others.
    public static func descending(_ keyPath: KeyPath<Object, String?>, _ comparison: TextComparison) -> Ordering {
        Ordering(keyPath: keyPath, isAscending: false, selector: comparison.selector)
    }

    /// Returns an ordering by a value whose type the compiler has accepted.
    static func by(_ keyPath: PartialKeyPath<Object>, isAscending: Bool) -> Ordering {
        Ordering(keyPath: keyPath, isAscending: isAscending, selector: nil)
    }

    /// - Throws: ``QueryError`` for a property that the model does not describe.
    func sortDescriptor() throws -> NSSortDescriptor {
        guard let name = KeyPathNames.comparedName(of: keyPath) else {
            throw QueryError.unknownProperty(of: Object.self, keyPath)
        }
        return NSSortDescriptor(key: name, ascending: isAscending, selector: selector)
    }
}

extension Ordering {
    /// Sorts smaller raw values first.
    public static func ascending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: true)
    }

    /// Sorts smaller raw values first, nil before all others.
    public static func ascending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value?>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: true)
    }

    /// Sorts greater raw values first.
    public static func descending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: false)
    }

    /// Sorts greater raw values first, nil after all others.
    public static func descending<Value: RawRepresentable>(_ keyPath: KeyPath<Object, Value?>) -> Ordering
    where Value.RawValue: NativeAttributeValue {
        by(keyPath, isAscending: false)
    }
}

// Values without an order.
@available(
    *, unavailable,
    message: """
        no store can sort by this: relationships with several objects, Codable and transformable values have no \
        order; sort by a \
        number, text, date or raw value, or sort the result
        """
)
extension Ordering {
    @_disfavoredOverload
    public static func ascending<Value>(_ keyPath: KeyPath<Object, Value>) -> Ordering {
        by(keyPath, isAscending: true)
    }

    @_disfavoredOverload
    public static func descending<Value>(_ keyPath: KeyPath<Object, Value>) -> Ordering {
        by(keyPath, isAscending: false)
    }
}

/// The comparison of texts by an ``Ordering``.
///
/// ```swift
/// let items = try context.fetch(Item.self, sortBy: [.ascending(\.name, .caseInsensitive)])
/// ```
public enum TextComparison: Sendable {
    /// Compares Unicode scalars.
    case literal
    /// Ignores case.
    case caseInsensitive
    /// Sorts by the rules of the user's language.
    case localized
    /// Sorts by the rules of the user's language and ignores case.
    case localizedCaseInsensitive
    /// Sorts like lists of files: `Item 9` before `Item 10`.
    case localizedStandard

    fileprivate var selector: Selector {
        switch self {
        case .literal: Selector("compare:")
        case .caseInsensitive: Selector("caseInsensitiveCompare:")
        case .localized: Selector("localizedCompare:")
        case .localizedCaseInsensitive: Selector("localizedCaseInsensitiveCompare:")
        case .localizedStandard: Selector("localizedStandardCompare:")
        }
    }
}
