/// The protocol that lets `NSPredicate(format:)` return an instance of a subclass.
///
/// An initializer in a protocol extension may assign `self`; an initializer in a class may not.
public protocol PredicateFormatInitializable {}
