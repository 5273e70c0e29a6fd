import Foundation

/// One property of an entity, resolved to a fixed place.
///
/// A class, so that code which asks for a slot again and again shares one object instead of copying its parts.
package final class PropertySlot: @unchecked Sendable {
    // Sendable: constants; descriptions are frozen before layouts are made, and the model that owns them is kept alive by
    // the layouts.

    package let index: Int
    /// The property's name; of an element of a composite attribute the path of names that leads to it.
    package let name: String
    package let kind: ValueKind
    package let isOptional: Bool
    let isTransient: Bool
    /// Word that holds the layout index of a to-one destination where it can vary; -1 elsewhere.
    package let entityWord: Int
    /// Index of the destination entity's layout; -1 for attributes.
    package let destinationIndex: Int
    /// Slot of the inverse relationship in the destination's layout; -1 where there is none.
    let inverseSlot: Int
    /// Slot of the inverse relationship in an object of the destination entity or of one of its subentities.
    @inline(__always)
    func inverseSlot(in layout: EntityLayout) -> Int {
        layout.index == destinationIndex ? inverseSlot : layout.slot(inverseSlot, ofAncestor: destinationIndex)
    }

    /// Whether the inverse relationship is to-many.
    let inverseIsToMany: Bool
    /// Whether the inverse relationship is to-many and ordered.
    let inverseIsOrdered: Bool
    let deleteRule: NSDeleteRule
    /// The description the slot was made from: the property's, or the element's.
    package unowned(unsafe) let property: NSPropertyDescription
    /// The entity's property that the slot belongs to: of an element the composite attribute.
    unowned(unsafe) let declared: NSPropertyDescription
    /// Slot of the composite attribute that this is an element of; -1 for a property of the entity.
    let compositeSlot: Int
    /// Where the elements lie, of a composite attribute that is stored.
    var composite: CompositeLayout?
    /// The description, if it is a relationship's.
    unowned(unsafe) let relationship: NSRelationshipDescription?
    /// The description, if it is an attribute's.
    unowned(unsafe) let attribute: NSAttributeDescription?
    package let isDerived: Bool
    /// Whether the bytes are JSON.
    let isJSON: Bool

    init(
        index: Int, source: SlotSource, compositeSlot: Int, entityWord: Int, destinationIndex: Int, inverseSlot: Int
    ) {
        let property = source.property
        self.index = index
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
        inverseIsOrdered = inverseIsToMany && relationship?.inverseRelationship?.isOrdered ?? false
        deleteRule = relationship?.deleteRule ?? .noActionDeleteRule
        isDerived = property is NSDerivedAttributeDescription
        isJSON = kind == .data && attribute?.holdsJSON == true
    }

    /// Whether a row has a word for this property.
    var isStored: Bool { !isTransient && kind.hasWord }

    /// Whether this is an element of a composite attribute, which users know as a part of that attribute only.
    package var isElement: Bool { compositeSlot >= 0 }

    /// Whether a fetch reads values of the property: it has a word, or its elements have.
    var isFetched: Bool { isStored || composite != nil }

    /// What the slot's column is named after: elements are in the entity's table under their own names.
    var columnName: String { property.name }

    /// What tells one column of a table from another: an element may be part of several composites.
    var identity: SlotIdentity { SlotIdentity(declared: ObjectIdentifier(declared), path: isElement ? name : "") }

    /// Whether the property is in a set of slots: it or, of a composite attribute, one of its elements.
    func isIn(_ slots: SlotMask) -> Bool {
        slots.contains(index) || composite?.slots.contains { slots.contains($0) } ?? false
    }
}

extension PropertySlot {
    /// Whether this side of a many-to-many relationship reports additions and removals: an ordered side does, as the order is its own; of
    /// two sides without an order the one whose entity and name come first does. Any other relationship does so itself.
    ///
    /// - Parameter layout: the layout that the slot is of.
    func isWritingSide(in layout: EntityLayout) -> Bool {
        guard inverseSlot >= 0, destinationIndex >= 0 else { return true }
        if kind == .orderedToMany { return true }
        let inverse = layout.model.layouts[destinationIndex].slots[inverseSlot]
        if inverse.kind == .orderedToMany { return false }
        // The declaring entities decide, so that objects of subentities agree.
        let mine = (property.entity.name ?? "", name)
        let theirs = (inverse.property.entity.name ?? "", inverse.name)
        return mine <= theirs
    }
}

/// Tells the slots of one property, or of one element of it, in an entity and its subentities from all others.
struct SlotIdentity: Hashable {
    fileprivate let declared: ObjectIdentifier
    fileprivate let path: String
}

/// What a slot is made from.
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

    /// What has a word in a row of a property: itself, its elements in declared order, or nothing.
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
