/// The name of a method.
///
/// Foundation has no `Selector` where there is no Objective-C. Here a selector names a way of
/// comparing. Write `Selector("caseInsensitiveCompare:")`, or one of the constants, instead of
/// `#selector(NSString.caseInsensitiveCompare(_:))`.
///
/// ```swift
/// let byName = NSSortDescriptor(key: "name", ascending: true, selector: .caseInsensitiveCompare)
/// let same = NSSortDescriptor(
///     key: "name", ascending: true, selector: Selector("caseInsensitiveCompare:"))
/// ```
public struct Selector: Hashable, ExpressibleByStringLiteral, CustomStringConvertible, Sendable {
    /// The method's Objective-C name, colons included.
    public let name: String

    /// Creates a selector from the name of a method.
    public init(_ string: String) { name = string }

    public init(stringLiteral value: String) { name = value }

    public var description: String { name }

    /// The natural order of the values.
    public static let compare = Selector("compare:")
    /// Compares upper and lower case as equal.
    public static let caseInsensitiveCompare = Selector("caseInsensitiveCompare:")
    /// Compares by the current locale.
    public static let localizedCompare = Selector("localizedCompare:")
    /// Compares by the current locale, with upper and lower case as equal.
    public static let localizedCaseInsensitiveCompare = Selector("localizedCaseInsensitiveCompare:")
    /// Compares as a file browser sorts names: by the current locale, digits as numbers.
    public static let localizedStandardCompare = Selector("localizedStandardCompare:")

    /// The ways of comparing that sort descriptors know.
    package static let comparisons: Set<Selector> = [
        compare, caseInsensitiveCompare, localizedCompare, localizedCaseInsensitiveCompare, localizedStandardCompare,
    ]
}

/// The Objective-C name of a selector.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.name }

/// Returns the selector with an Objective-C name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }
