import Foundation

/// An object whose elements `NSFastEnumerationIterator` visits. Foundation on Linux lacks both.
///
/// Source: <https://developer.apple.com/documentation/foundation/nsfastenumeration>
public protocol NSFastEnumeration: AnyObject {
    /// The elements, in order.
    var enumeratedElements: [Any] { get }
}

/// An iterator over the elements of an object that conforms to `NSFastEnumeration`.
///
/// The elements of a model are its entities, those of an entity its properties.
///
/// ```swift
/// for case let entity as NSEntityDescription in NSFastEnumerationIterator(model) {
///     print(entity.name ?? "")
/// }
/// ```
public struct NSFastEnumerationIterator: IteratorProtocol, Sequence {
    private var rest: IndexingIterator<[Any]>

    /// Creates an iterator that begins with the first element.
    public init(_ enumerable: any NSFastEnumeration) { rest = enumerable.enumeratedElements.makeIterator() }

    public mutating func next() -> Any? { rest.next() }
}
