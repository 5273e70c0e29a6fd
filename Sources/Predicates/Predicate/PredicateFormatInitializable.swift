/// What lets `NSPredicate(format:)` give an instance of a subclass: an initializer in a protocol extension may assign
/// `self`, one in a class may not.
public protocol PredicateFormatInitializable {}
