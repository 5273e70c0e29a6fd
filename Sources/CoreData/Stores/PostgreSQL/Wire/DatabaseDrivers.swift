import Foundation

/// The client library of the program, which is in another module: programs that use no server need none.
enum DatabaseDrivers {
    /// The name of the class that `CoreDataPostgreSQL` has for it.
    private static let className = "LibPQDriver"

    /// Found once: what is linked does not change.
    private static let linked: (any DatabaseDriver.Type)? = {
        guard case .found(let found) = ClassLookup.find(className, inheritingFrom: NSObject.self) else { return nil }
        return found as? any DatabaseDriver.Type
    }()

    /// - Throws: code 134080 where the program has none.
    static func driver() throws -> any DatabaseDriver.Type {
        if let linked { return linked }
        throw CoreDataErrors.make(
            .persistentStoreOpen,
            "The program has no client library for PostgreSQL: the module CoreDataPostgreSQL is not linked.",
            recovery: "Add the product CoreDataPostgreSQL to the target's dependencies and import it.")
    }
}
