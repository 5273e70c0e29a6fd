/// The name of a method.
///
/// Foundation has no `Selector` where there is no Objective-C. Here it names a way of comparing: write
/// `Selector("caseInsensitiveCompare:")`, or one of the constants, for `#selector(NSString.caseInsensitiveCompare(_:))`.
///
/// ```swift
/// let byName = NSSortDescriptor(key: "name", ascending: true, selector: .caseInsensitiveCompare)
/// let same = NSSortDescriptor(key: "name", ascending: true, selector: Selector("caseInsensitiveCompare:"))
/// ```
public struct Selector: Hashable, ExpressibleByStringLiteral, CustomStringConvertible, Sendable {
    /// The method's Objective-C name, colons included.
    public let name: String

    /// Names a method.
    public init(_ string: String) { name = string }

    public init(stringLiteral value: String) { name = value }

    public var description: String { name }

    /// The natural order of the values.
    public static let compare = Selector("compare:")
    /// Upper and lower case alike.
    public static let caseInsensitiveCompare = Selector("caseInsensitiveCompare:")
    /// By the current locale.
    public static let localizedCompare = Selector("localizedCompare:")
    /// By the current locale, upper and lower case alike.
    public static let localizedCaseInsensitiveCompare = Selector("localizedCaseInsensitiveCompare:")
    /// As a file browser sorts names: by the current locale, digits as numbers.
    public static let localizedStandardCompare = Selector("localizedStandardCompare:")
}

/// The Objective-C name of a selector.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.name }

/// The selector with an Objective-C name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }
