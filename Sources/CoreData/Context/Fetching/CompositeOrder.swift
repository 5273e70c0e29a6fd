import Foundation

/// Refuses sort descriptors for whole composite attributes, in every store: dictionaries have no
/// order.
enum CompositeOrder {
    /// - Throws: code 134060 that names the attribute and its elements. A closure may order
    ///   dictionaries in any way, where the store can use one.
    static func check(_ fetch: StoreFetch) throws {
        for descriptor in fetch.sortDescriptors where descriptor.selector != nil {
            guard let key = descriptor.key, !isComputed(key, in: fetch),
                let composite = composite(at: key, of: fetch.entity)
            else {
                continue
            }
            let elements = composite.slots.map { composite.layout.slots[$0].name }
            throw CoreDataErrors.orderOfComposite(key, of: fetch.entity.name, elements: elements)
        }
    }

    private static func isComputed(_ name: String, in fetch: StoreFetch) -> Bool {
        fetch.columns?.properties.contains { ($0 as? NSExpressionDescription)?.name == name } ?? false
    }

    /// The composite attribute, or nested composite, at the end of a key path through to-one
    /// relationships.
    private static func composite(at keyPath: String, of entity: EntityLayout) -> (layout: EntityLayout, slots: [Int])?
    {
        var entity = entity
        var names = keyPath.pathNames[...]
        while let name = names.first {
            if name == "self" || name == "SELF" {
                names.removeFirst()
                continue
            }
            guard let (owner, slot) = entity.familyProperty(name) else { return nil }
            if slot.composite != nil { return owner.composite(at: Array(names)).map { (owner, $0.slots) } }
            guard slot.kind == .toOne, slot.destinationIndex >= 0 else { return nil }
            entity = entity.model.layouts[slot.destinationIndex]
            names.removeFirst()
        }
        return nil
    }
}
