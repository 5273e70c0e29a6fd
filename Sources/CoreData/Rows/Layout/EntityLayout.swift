import Foundation

/// The position of each property of one entity in rows, fixed when a coordinator first uses the
/// model.
///
/// Stored slots come first, `0..<storedCount`, so that a slot number is also a word number in a
/// row. Slots of transient properties, composite attributes, to-many relationships and fetched
/// properties follow. The elements of composite attributes have stored slots, which only stores and
/// key paths use.
package final class EntityLayout: @unchecked Sendable {
    // Sendable: all properties are set before the layout is shared.

    package let entity: NSEntityDescription
    package let name: String
    /// Position of the entity in the model's entities, sorted by name within the hierarchy; unique
    /// in the model.
    package let index: Int
    /// Index of the root entity's layout, whose table holds this entity's rows.
    package let rootIndex: Int
    /// Index of the superentity's layout; -1 for a root entity.
    package let superIndex: Int
    let isAbstract: Bool
    package let slots: [PropertySlot]
    /// The slots of the entity's properties: all slots but those of elements.
    let propertySlots: [PropertySlot]
    /// The slots of the entity's properties by name.
    let slotByName: [String: Int]
    /// The slots by path: also the elements of composite attributes.
    package let slotByPath: [String: Int]
    /// The slot, in this entity, of each slot of the superentity; empty for a root entity.
    private let slotsOfSuperentity: [Int]
    package let storedCount: Int
    /// The number of stored slots and hidden words.
    package let wordCount: Int
    let bitmapWords: Int
    let rowStrideInWords: Int
    /// The stored slots whose values lie in the page's heap.
    let variableLengthSlots: [Int]
    package let relationshipSlots: [Int]
    /// The relationships that are not transient.
    let persistentRelationships: [PropertySlot]
    /// Slots of stored one-to-one relationships: both ends have a column.
    let oneToOneSlots: [Int]
    /// Slots of stored to-one relationships whose inverse is ordered: their rows have a position
    /// besides the key.
    let placedSlots: [Int]
    /// The default values of a new object's slots.
    let defaultsBySlot: [AttributeValue]
    let hasDefaults: Bool
    /// Slots of the attributes whose values a deletion preserves in the history, sorted by name. A
    /// composite attribute is replaced by its elements.
    ///
    /// Values in external files are deleted with their files, so they are not included.
    package let preservedSlots: [Int]
    /// Layout indexes of this entity and all its subentities.
    package var familyIndexes: [Int] = []
    // unowned(unsafe): the model's layouts own this one.
    unowned(unsafe) let model: ModelLayout
    /// Identifies the model, to compare the models of two layouts.
    ///
    /// Counting references to the model's layouts would take the slow path, because there are weak
    /// references to them.
    let modelIdentity: ObjectIdentifier

    /// Data that the object layer keeps for the entity, opaque to rows; nil until
    /// `ModelLayout.attach` was called.
    // Unretained: the model's layouts own it, and it is read for each object that is created.
    var companion: Unretained<AnyObject>?

    init(
        entity: NSEntityDescription, name: String, index: Int, rootIndex: Int, superIndex: Int, slots: [PropertySlot],
        storedCount: Int, wordCount: Int, model: ModelLayout
    ) {
        self.entity = entity
        self.name = name
        self.index = index
        self.rootIndex = rootIndex
        self.superIndex = superIndex
        isAbstract = entity.isAbstract
        self.slots = slots
        let hasElements = slots.contains(where: \.isElement)
        propertySlots = hasElements ? slots.filter { !$0.isElement } : slots
        slotByName = Dictionary(propertySlots.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first })
        slotByPath =
            hasElements
            ? Dictionary(slots.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first }) : slotByName
        slotsOfSuperentity =
            superIndex < 0
            ? [] : model.layouts[superIndex].slots.map { [slotByPath] in slotByPath[$0.name] ?? $0.index }
        self.storedCount = storedCount
        self.wordCount = wordCount
        bitmapWords = max(1, (storedCount + 63) / 64)
        rowStrideInWords = RowPointer.headerWords + wordCount + bitmapWords
        variableLengthSlots = slots.prefix(storedCount).filter(\.kind.isVariableLength).map(\.index)
        relationshipSlots = slots.filter { $0.kind == .toOne || $0.kind.isToMany }.map(\.index)
        persistentRelationships = relationshipSlots.map { slots[$0] }.filter { !$0.isTransient }
        oneToOneSlots = slots.filter { $0.kind == .toOne && $0.isStored && $0.inverseIsToOne }.map(\.index)
        placedSlots = slots.filter { $0.inverseIsOrdered && $0.kind == .toOne && $0.isStored }.map(\.index)
        defaultsBySlot = Self.defaults(of: slots)
        hasDefaults = defaultsBySlot.contains { !$0.isNull }
        preservedSlots = Self.preserved(propertySlots, slots)
        self.model = model
        modelIdentity = ObjectIdentifier(model)
    }

    private static func defaults(of slots: [PropertySlot]) -> [AttributeValue] {
        var defaults = slots.map { slot -> AttributeValue in
            guard slot.composite == nil, let value = slot.attribute?.defaultValue else { return .null }
            return PropertyConversion.value(from: value, kind: slot.kind) ?? .null
        }
        // A composite's own default has precedence over those of its elements.
        for slot in slots {
            guard let composite = slot.composite, let value = slot.attribute?.defaultValue,
                let elements = try? composite.elements(of: value)
            else { continue }
            for (element, value) in elements {
                defaults[element] = PropertyConversion.value(from: value, kind: slots[element].kind) ?? .null
            }
        }
        return defaults
    }

    private static func preserved(_ properties: [PropertySlot], _ slots: [PropertySlot]) -> [Int] {
        func isPreserved(_ slot: PropertySlot) -> Bool { slot.attribute?.preservesValueInHistoryOnDeletion == true }
        let kept = properties.filter { !$0.isTransient }.flatMap { slot -> [PropertySlot] in
            guard let composite = slot.composite else { return isPreserved(slot) ? [slot] : [] }
            let elements = composite.slots.map { slots[$0] }
            return isPreserved(slot) ? elements : elements.filter(isPreserved)
        }
        // Elements stay in declared order: `sorted` is stable.
        func name(_ slot: PropertySlot) -> Substring { slot.name.prefix { $0 != "." } }
        return kept.filter { $0.isStored && $0.attribute?.allowsExternalBinaryDataStorage != true }
            .sorted { name($0) < name($1) }.map(\.index)
    }

    /// Returns the property paths of a uniqueness constraint; a composite attribute is replaced by
    /// its elements.
    package func constrainedPaths(_ names: [String]) -> [String] {
        names.flatMap { name in
            composite(at: name.pathNames)?.slots.map { slots[$0].name } ?? [name]
        }
    }

    /// Whether only other entities of the hierarchy have a property of that name.
    func lacks(_ name: String) -> Bool {
        let family = model.layouts[rootIndex].familyIndexes
        if family.count == 1 || slotByName[name] != nil { return false }
        return family.contains { model.layouts[$0].slotByName[name] != nil }
    }

    /// Whether a key path goes through a to-many relationship.
    func crossesToMany(_ keyPath: String) -> Bool { crossesToMany(keyPath.pathNames) }

    func crossesToMany(_ names: [String]) -> Bool {
        var layout = self
        for name in names where !["self", "SELF", "objectID"].contains(name) {
            guard let slot = layout.familyProperty(name)?.slot else { return false }
            if slot.kind.isToMany { return true }
            guard slot.destinationIndex >= 0 else { return false }
            layout = model.layouts[slot.destinationIndex]
        }
        return false
    }

    /// Returns a property of the entity, or of one of its subentities as fetches may name it, with
    /// the entity that has it.
    func familyProperty(_ name: String) -> (owner: EntityLayout, slot: PropertySlot)? {
        if let slot = slotByName[name] { return (self, slots[slot]) }
        for member in familyIndexes.map({ model.layouts[$0] }) {
            if let slot = member.slotByName[name] { return (member, member.slots[slot]) }
        }
        return nil
    }

    /// Returns the composite attribute, or the inner composite, at a path of names; nil for
    /// anything else.
    func composite(at names: [String]) -> CompositeLayout? {
        guard let first = names.first, let slot = slotByName[first] else { return nil }
        return slots[slot].composite?.composite(at: names.dropFirst())
    }

    /// Returns this entity's slot for a property that an ancestor may have in another slot.
    ///
    /// The slots differ because they are sorted by name in each entity.
    ///
    /// O(number of entities between the two).
    ///
    /// - Parameter ancestor: the layout index of this entity or of one that it inherits from.
    package func slot(_ slot: Int, ofAncestor ancestor: Int) -> Int {
        if index == ancestor || superIndex < 0 { return slot }
        return slotsOfSuperentity[model.layouts[superIndex].slot(slot, ofAncestor: ancestor)]
    }

    /// Whether an object of this entity is an object of `other`: the same entity or one of its
    /// subentities.
    package func isKind(of other: EntityLayout) -> Bool {
        var candidate = self
        while true {
            if candidate === other { return true }
            guard candidate.superIndex >= 0 else { return false }
            candidate = model.layouts[candidate.superIndex]
        }
    }
}
