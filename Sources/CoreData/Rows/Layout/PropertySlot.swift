import Foundation

/// One property of an entity, resolved to a fixed slot.
///
/// A class, so that code that often reads a slot shares one object instead of copying its parts.
package final class PropertySlot: Sendable {
    // Descriptions are frozen before layouts are made.

    package let index: Int
    /// The property's name; for an element of a composite attribute, its path.
    package let name: String
    package let kind: ValueKind
    package let isOptional: Bool
    let isTransient: Bool
    /// Word that holds the layout index of a to-one destination where it can vary; -1 otherwise.
    package let entityWord: Int
    /// Index of the destination entity's layout; -1 for attributes.
    package let destinationIndex: Int
    /// Slot of the inverse relationship in the destination's layout; -1 where there is none.
    let inverseSlot: Int
    /// Slot of the inverse relationship in an object of the destination entity or of one of its
    /// subentities.
    @inline(__always)
    func inverseSlot(in layout: EntityLayout) -> Int {
        layout.index == destinationIndex ? inverseSlot : layout.slot(inverseSlot, ofAncestor: destinationIndex)
    }

    let inverseIsToMany: Bool
    /// Whether the inverse relationship is to-one: the destinations' rows hold the reference.
    let inverseIsToOne: Bool
    /// Whether the inverse relationship is to-many and ordered.
    let inverseIsOrdered: Bool
    let deletion: DeletionEffects
    /// The description that the slot was made from: the property's or the element's.
    package let property: NSPropertyDescription
    /// The entity's property that the slot belongs to; for an element, the composite attribute.
    let declared: NSPropertyDescription
    /// Slot of the composite attribute that contains this element; -1 for a property of the entity.
    let compositeSlot: Int
    /// The slots of the elements, for a stored composite attribute.
    let composite: CompositeLayout?
    let relationship: NSRelationshipDescription?
    let attribute: NSAttributeDescription?
    package let isDerived: Bool
    let isJSON: Bool

    init(
        index: Int, source: SlotSource, composite: CompositeLayout?, compositeSlot: Int, entityWord: Int,
        destinationIndex: Int, inverseSlot: Int
    ) {
        let property = source.property
        self.index = index
        self.composite = composite
        self.compositeSlot = compositeSlot
        declared = source.declared
        kind = source.kind
        self.entityWord = entityWord
        self.destinationIndex = destinationIndex
        self.inverseSlot = inverseSlot
        self.property = property
        name = source.name
        isOptional = property.isOptional
        isTransient = source.declared.isTransient
        relationship = property as? NSRelationshipDescription
        attribute = property as? NSAttributeDescription
        inverseIsToMany = relationship?.inverseRelationship?.isToMany ?? false
        inverseIsToOne = inverseSlot >= 0 && !inverseIsToMany
        inverseIsOrdered = inverseIsToMany && relationship?.inverseRelationship?.isOrdered ?? false
        deletion = DeletionEffects(of: relationship)
        isDerived = property is NSDerivedAttributeDescription
        isJSON = kind == .data && attribute?.holdsJSON == true
    }

    /// Whether a row has a word for this property.
    var isStored: Bool { !isTransient && kind.hasWord }

    /// Whether this is an element of a composite attribute, which users see only as a part of that
    /// attribute.
    package var isElement: Bool { compositeSlot >= 0 }

    /// Whether a fetch reads values of the property: the property or its elements have words.
    var isFetched: Bool { isStored || composite != nil }

    /// The name from which the column's name is made. Elements are in the entity's table under
    /// their own names.
    var columnName: String { property.name }

    /// The identity of the slot's column in a table. An element may be part of several composites.
    var identity: SlotIdentity { SlotIdentity(declared: ObjectIdentifier(declared), path: isElement ? name : "") }

    /// Whether a set of slots contains the property or, for a composite attribute, one of its
    /// elements.
    func isIn(_ slots: SlotMask) -> Bool {
        slots.contains(index) || composite?.slots.contains { slots.contains($0) } ?? false
    }
}

extension PropertySlot {
    /// Whether this side of a relationship reports additions and removals.
    ///
    /// Of a many-to-many relationship, an ordered side does, because the order is its own. Of two
    /// sides without an order, the one whose entity and name come first does. Any other
    /// relationship reports its own changes.
    ///
    /// - Parameter layout: the layout that the slot belongs to.
    func isWritingSide(in layout: EntityLayout) -> Bool {
        guard inverseSlot >= 0, destinationIndex >= 0 else { return true }
        if kind == .orderedToMany { return true }
        let inverse = layout.model.layouts[destinationIndex].slots[inverseSlot]
        if inverse.kind == .orderedToMany { return false }
        // The declaring entities decide, so that objects of subentities give the same result.
        let mine = (property.entity.name ?? "", name)
        let theirs = (inverse.property.entity.name ?? "", inverse.name)
        return mine <= theirs
    }
}

/// Identifies the slots of one property, or of one of its elements, in an entity and its
/// subentities.
struct SlotIdentity: Hashable {
    fileprivate let declared: ObjectIdentifier
    fileprivate let path: String
}

/// The source of a slot: a property or an element.
struct SlotSource {
    let name: String
    let property: NSPropertyDescription
    let declared: NSPropertyDescription
    let kind: ValueKind

    init(_ property: NSPropertyDescription) {
        self.init(property, of: property, name: property.name)
    }

    private init(_ property: NSPropertyDescription, of declared: NSPropertyDescription, name: String) {
        self.name = name
        self.property = property
        self.declared = declared
        kind = ModelLayout.kind(of: property)
    }

    var isStored: Bool { !declared.isTransient && kind.hasWord }

    /// Returns the parts of a property that have a word in a row: the property itself, its elements
    /// in declared order, or none.
    static func stored(of property: NSPropertyDescription) -> [SlotSource] {
        var result: [SlotSource] = []
        func add(_ part: NSPropertyDescription, _ path: String) {
            guard let composite = part as? NSCompositeAttributeDescription else {
                result.append(SlotSource(part, of: property, name: path))
                return
            }
            for element in composite.elements { add(element, path + "." + element.name) }
        }
        add(property, property.name)
        return result.filter(\.isStored)
    }
}
