import Foundation

/// Gives a store the password of each connection.
package protocol PasswordProvider: AnyObject, Sendable {
    /// Called on any thread.
    func password() throws -> String
}

/// A closure that gives it.
package final class PasswordClosure: NSObject, PasswordProvider {
    private let closure: @Sendable () throws -> String

    package init(_ closure: @escaping @Sendable () throws -> String) { self.closure = closure }

    package func password() throws -> String { try closure() }

    /// The option of a store on a server that holds a provider.
    package static let option = "NSPersistentStorePasswordProvider"
}
