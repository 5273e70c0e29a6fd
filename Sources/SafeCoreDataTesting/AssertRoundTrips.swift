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
/// A property whose values cannot be made up is reported: an enumeration of texts needs to be `CaseIterable`, a pattern or
/// an unusual `Codable` type an initial value.
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
