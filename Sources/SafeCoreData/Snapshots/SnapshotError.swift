/// An error of creating or applying snapshots. Nothing was changed.
///
/// ```swift
/// do {
///     try context.apply(snapshots)
/// } catch SnapshotError.unknownObjects(let references) {
///     print("missing:", references.map(\.entityName))
/// }
/// ```
public enum SnapshotError: LocalizedError, CustomStringConvertible, Hashable, Sendable {
    /// Snapshots refer to objects that are neither in the store nor among the applied snapshots.
    case unknownObjects([ObjectReference])
    /// The context's model has no entity, or only an abstract one, with the name of a new object's
    /// entity.
    case noEntity(ObjectReference)
    /// A snapshot or a relationship refers to an object of another class than expected.
    case wrongClass(property: String, reference: ObjectReference, expected: String)
    /// A snapshot type, such as that of a superclass, does not have all properties of an object's
    /// class.
    case losesProperties(snapshot: String, objectClass: String, properties: [String])

    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .unknownObjects(let references):
            "The snapshots lead to objects that do not exist: "
                + "\(references.map(\.description).joined(separator: ", ")). "
                + "Apply the snapshots of those objects together with these."
        case .noEntity(let reference):
            "The model has no entity \(reference.entityName) to make an object of for \(reference)."
        case .losesProperties(let snapshot, let objectClass, let properties):
            "A \(snapshot) would leave out what a \(objectClass) has besides: \(properties.joined(separator: ", ")). "
                + "Name the type that "
                + "is meant, as in snapshots(\(objectClass).Snapshot.self, of: request), or take the snapshots of "
                + "the objects' own classes."
        case .wrongClass(let property, let reference, let expected):
            "\(property) takes a \(expected), but \(reference) is of another class."
        }
    }
}
