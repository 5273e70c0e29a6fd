import Foundation

/// What can be looked at one by one with `NSFastEnumerationIterator`. Foundation on Linux lacks both.
///
/// Source: <https://developer.apple.com/documentation/foundation/nsfastenumeration>
public protocol NSFastEnumeration: AnyObject {
    /// What there is, in order.
    var enumeratedElements: [Any] { get }
}

/// The elements of something that conforms to `NSFastEnumeration`: of a model its entities, of an entity its properties.
///
/// ```swift
/// for case let entity as NSEntityDescription in NSFastEnumerationIterator(model) { print(entity.name ?? "") }
/// ```
public struct NSFastEnumerationIterator: IteratorProtocol, Sequence {
    private var rest: IndexingIterator<[Any]>

    /// Begins with the first element.
    public init(_ enumerable: any NSFastEnumeration) { rest = enumerable.enumeratedElements.makeIterator() }

    public mutating func next() -> Any? { rest.next() }
}
