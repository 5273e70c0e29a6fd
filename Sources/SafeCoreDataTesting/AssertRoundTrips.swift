import SafeCoreData

/// A managed class and its entity do not agree, or a store does not give back what it was given.
///
/// ```swift
/// do { try assertRoundTrips(Item.self) } catch let failure as RoundTripFailure { print(failure.differences) }
/// ```
public struct RoundTripFailure: LocalizedError, CustomStringConvertible, Sendable {
    /// One sentence for each difference, beginning with the property.
    public let differences: [String]
    /// The model that was used, by its file or where it has none, and by its entities.
    public let model: String

    public var description: String { (differences + ["\(model) was used."]).joined(separator: "\n") }
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
///   - model: a model with the class's entity; not needed for an `@Entity` class, which describes one together with the classes
///     that it leads to. Where it leads to an abstract one, a subclass is found in the program.
/// - Throws: `RoundTripFailure` with every difference and the model that was used.
public func assertRoundTrips<Object: NSManagedObject>(
    _ objectClass: Object.Type, in model: NSManagedObjectModel? = nil
) throws {
    guard let model = model ?? describedModel(of: objectClass) else {
        throw RoundTripFailure(differences: [noModel(of: objectClass)], model: "No model")
    }
    let differences = try RoundTrip(objectClass, model: model).differences()
    guard differences.isEmpty else { throw RoundTripFailure(differences: differences, model: ModelText.of(model)) }
}

/// What `assertRoundTrips(_:in:)` finds, each difference a sentence; empty when there is none.
///
/// ```swift
/// let differences = try roundTripDifferences(of: Item.self, in: model)
/// ```
///
/// - Throws: what opening a store in a temporary folder throws.
public func roundTripDifferences<Object: NSManagedObject>(
    of objectClass: Object.Type, in model: NSManagedObjectModel? = nil
) throws -> [String] {
    guard let model = model ?? describedModel(of: objectClass) else { return [noModel(of: objectClass)] }
    return try RoundTrip(objectClass, model: model).differences()
}

/// The model that an `@Entity` class describes; nil for other classes.
private func describedModel(of objectClass: NSManagedObject.Type) -> NSManagedObjectModel? {
    (objectClass as? any EntityObject.Type).map { NSManagedObjectModel(entityClasses: $0._withConcreteClasses) }
}

private func noModel(of objectClass: NSManagedObject.Type) -> String {
    "\(objectClass) describes no entity itself: give the model that has it."
}
