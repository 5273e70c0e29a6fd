import Foundation

// Names of exceptions with which code around Core Data compares. Off Apple's platforms no
// exceptions are raised and caught: an error that is an exception on a Mac stops the program with a
// message.
extension NSExceptionName {
    /// An exception without a specific name.
    public static let genericException = NSExceptionName(rawValue: "NSGenericException")
    /// An index outside of a collection.
    public static let rangeException = NSExceptionName(rawValue: "NSRangeException")
    /// An argument that a method does not accept.
    public static let invalidArgumentException = NSExceptionName(rawValue: "NSInvalidArgumentException")
    /// A state that should not occur.
    public static let internalInconsistencyException = NSExceptionName(rawValue: "NSInternalInconsistencyException")
    /// An object that cannot be reached, such as a fault whose row is gone.
    public static let objectInaccessibleException = NSExceptionName(rawValue: "NSObjectInaccessibleException")
    /// An object that is not available, such as one at the other end of a broken connection.
    public static let objectNotAvailableException = NSExceptionName(rawValue: "NSObjectNotAvailableException")
    /// A key that an object does not have.
    public static let undefinedKeyException = NSExceptionName(rawValue: "NSUnknownKeyException")
}
