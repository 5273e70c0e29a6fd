import SafeCoreData

/// An error of the round-trip check: a managed class and its entity differ, or a store returns
/// other values than were saved.
///
/// ```swift
/// do { try assertRoundTrips(Item.self) } catch let failure as RoundTripFailure {
///     print(failure.differences)
/// }
/// ```
public struct RoundTripFailure: LocalizedError, CustomStringConvertible, Sendable {
    /// One sentence for each difference, beginning with the property.
    public let differences: [String]
    /// The model that was used: its file, if it has one, and its entities.
    public let model: String

    public var description: String { (differences + ["\(model) was used."]).joined(separator: "\n") }
    public var errorDescription: String? { description }
}

/// Checks that a store returns objects of a class with the values that were saved.
///
/// The check creates an object with generated values for every property, verifies it, saves it,
/// verifies it in a fresh context, changes every property, saves and verifies it again. Saving
/// without any one required property must fail. The check works for any managed class. As it
/// throws, a test of any framework fails with all differences:
///
/// ```swift
/// @Test func itemsRoundTrip() throws { try assertRoundTrips(Item.self) }
/// ```
///
/// Values of enumerations and of `Codable` types, and texts for patterns, are generated. A property
/// for which no value could be generated is reported; an initial value that satisfies the
/// property's rules is then used instead.
///
/// - Parameters:
///   - objectClass: the class to check.
///   - model: a model with the class's entity; not needed for an `@Entity` class, which describes a
///     model together with the classes that it refers to. For an abstract one of these, a subclass
///     is searched for in the program.
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

/// Returns the differences that `assertRoundTrips(_:in:)` finds, each a sentence; empty if there
/// are none.
///
/// ```swift
/// let differences = try roundTripDifferences(of: Item.self, in: model)
/// ```
///
/// - Throws: errors of opening a store in a temporary folder.
public func roundTripDifferences<Object: NSManagedObject>(
    of objectClass: Object.Type, in model: NSManagedObjectModel? = nil
) throws -> [String] {
    guard let model = model ?? describedModel(of: objectClass) else { return [noModel(of: objectClass)] }
    return try RoundTrip(objectClass, model: model).differences()
}

/// Returns the model that an `@Entity` class describes; nil for other classes.
private func describedModel(of objectClass: NSManagedObject.Type) -> NSManagedObjectModel? {
    (objectClass as? any EntityObject.Type).map { NSManagedObjectModel(entityClasses: $0._withConcreteClasses) }
}

private func noModel(of objectClass: NSManagedObject.Type) -> String {
    "\(objectClass) describes no entity itself: give the model that has it."
}
