import SafeCoreData

/// A managed class and its entity do not agree, or a store does not give back what it was given.
public struct RoundTripFailure: LocalizedError, CustomStringConvertible, Sendable {
    /// One sentence for each difference, beginning with the property.
    public let differences: [String]

    public var description: String { differences.joined(separator: "\n") }
    public var errorDescription: String? { description }
}

/// Checks that objects of a class come back from a store as they went in.
///
/// An object is made with generated values for every property, verified, saved, verified in a fresh context, changed in
/// every property, saved and verified again; leaving out each required property must be refused. It works for any managed
/// class. As it throws, a test of any framework fails with all differences:
///
/// ```swift
/// @Test func itemsRoundTrip() throws { try assertRoundTrips(Item.self) }
/// ```
///
/// Values of enumerations and of `Codable` types are found, and texts for patterns. A property for which none could be made up
/// is reported; an initial value that the property's rules accept will do then.
///
/// - Parameters:
///   - objectClass: the class.
///   - model: a model with the class's entity; not needed for an `@Entity` class.
/// - Throws: `RoundTripFailure` with every difference.
public func assertRoundTrips<Object: NSManagedObject>(
    _ objectClass: Object.Type, in model: NSManagedObjectModel? = nil
) throws {
    let differences = try roundTripDifferences(of: objectClass, in: model)
    guard differences.isEmpty else { throw RoundTripFailure(differences: differences) }
}

/// What `assertRoundTrips(_:in:)` finds, each difference a sentence; empty when there is none.
///
/// - Throws: what opening a store in a temporary folder throws.
public func roundTripDifferences<Object: NSManagedObject>(
    of objectClass: Object.Type, in model: NSManagedObjectModel? = nil
) throws -> [String] {
    let described = (objectClass as? any EntityObject.Type).map { NSManagedObjectModel(entityClasses: [$0]) }
    guard let model = model ?? described else {
        return ["\(objectClass) describes no entity itself: give the model that has it."]
    }
    let trip = try RoundTrip(objectClass, model: model)
    return trip.differences()
}
