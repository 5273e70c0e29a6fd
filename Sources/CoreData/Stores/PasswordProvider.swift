import Foundation

/// Gives a store the password of each connection.
package protocol PasswordProvider: AnyObject, Sendable {
    /// Called on any thread.
    func password() throws -> String
}

/// A closure that returns the password.
package final class PasswordClosure: NSObject, PasswordProvider {
    private let closure: @Sendable () throws -> String

    package init(_ closure: @escaping @Sendable () throws -> String) { self.closure = closure }

    package func password() throws -> String { try closure() }

    /// The key of the option that holds a provider, for a store on a server.
    package static let option = "NSPersistentStorePasswordProvider"
}
