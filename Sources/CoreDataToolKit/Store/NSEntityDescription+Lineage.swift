import CoreData

extension NSEntityDescription {
    /// The names of the entity and of all its superentities.
    var lineage: Set<String> { Set(sequence(first: self, next: \.superentity).compactMap(\.name)) }
}
