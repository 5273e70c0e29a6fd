import Foundation

// Names of exceptions that code around Core Data compares with. Off Apple's platforms nothing is raised and caught: what is an exception on
// a Mac stops the program with a message.
extension NSExceptionName {
    /// An exception without a name of its own.
    public static let genericException = NSExceptionName(rawValue: "NSGenericException")
    /// An index outside of a collection.
    public static let rangeException = NSExceptionName(rawValue: "NSRangeException")
    /// An argument that a method cannot take.
    public static let invalidArgumentException = NSExceptionName(rawValue: "NSInvalidArgumentException")
    /// A state that should not be.
    public static let internalInconsistencyException = NSExceptionName(rawValue: "NSInternalInconsistencyException")
    /// An object that cannot be reached, such as a fault whose row is gone.
    public static let objectInaccessibleException = NSExceptionName(rawValue: "NSObjectInaccessibleException")
    /// An object that is not there, such as one at the other end of a connection that broke.
    public static let objectNotAvailableException = NSExceptionName(rawValue: "NSObjectNotAvailableException")
    /// A key that an object does not have.
    public static let undefinedKeyException = NSExceptionName(rawValue: "NSUnknownKeyException")
}
