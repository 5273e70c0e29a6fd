import Foundation
import Synchronization

/// One property of an entity, resolved to a fixed place.
///
/// A class, so that code which asks for a slot again and again shares one object instead of copying its parts.
final class PropertySlot: @unchecked Sendable {
    // Sendable: constants; descriptions are frozen before layouts are made, and the model that owns them is kept alive by
    // the layouts.

    let index: Int
    /// The property's name; of an element of a composite attribute the path of names that leads to it.
    let name: String
    let kind: ValueKind
    let isOptional: Bool
    let isTransient: Bool
    /// Word that holds the layout index of a to-one destination where it can vary; -1 elsewhere.
    let entityWord: Int
    /// Index of the destination entity's layout; -1 for attributes.
    let destinationIndex: Int
    /// Slot of the inverse relationship in the destination's layout; -1 where there is none.
    let inverseSlot: Int
    /// Slot of the inverse relationship in an object of the destination entity or of one of its subentities.
    @inline(__always)
    func inverseSlot(in layout: EntityLayout) -> Int {
        layout.index == destinationIndex ? inverseSlot : layout.slot(inverseSlot, ofAncestor: destinationIndex)
    }

    /// Whether the inverse relationship is to-many.
    let inverseIsToMany: Bool
    let deleteRule: NSDeleteRule
    /// The description the slot was made from: the property's, or the element's.
    unowned(unsafe) let property: NSPropertyDescription
    /// The entity's property that the slot belongs to: of an element the composite attribute.
    unowned(unsafe) let declared: NSPropertyDescription
    /// Slot of the composite attribute that this is an element of; -1 for a property of the entity.
    let compositeSlot: Int
    /// Where the elements lie, of a composite attribute that is stored.
    fileprivate(set) var composite: CompositeLayout?
    /// The description, if it is a relationship's.
    unowned(unsafe) let relationship: NSRelationshipDescription?
    /// The description, if it is an attribute's.
    unowned(unsafe) let attribute: NSAttributeDescription?
    /// Validation predicates with their error codes.
    let rules: [ValidationRule]
    let isDerived: Bool

    fileprivate init(
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
        deleteRule = relationship?.deleteRule ?? .noActionDeleteRule
        rules = ValidationRule.rules(of: property)
        isDerived = property is NSDerivedAttributeDescription
    }

    /// Whether a row has a word for this property.
    var isStored: Bool { !isTransient && kind.hasWord }

    /// Whether this is an element of a composite attribute, which users know as a part of that attribute only.
    var isElement: Bool { compositeSlot >= 0 }

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

    /// Whether an object can be invalid because of this property.
    var needsValidation: Bool {
        // Elements are checked with their composite.
        if isElement { return false }
        if composite != nil { return true }
        switch kind {
        case .fetched: return false
        case .toMany, .orderedToMany:
            guard let relationship else { return false }
            return !isOptional || relationship.minCount != 0 || relationship.maxCount != 0
        default: return !isOptional && !isDerived || !rules.isEmpty
        }
    }
}

/// Tells the slots of one property, or of one element of it, in an entity and its subentities from all others.
struct SlotIdentity: Hashable {
    fileprivate let declared: ObjectIdentifier
    fileprivate let path: String
}

/// What a slot is made from.
private struct SlotSource {
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

/// Where each property of one entity lies in rows and objects, fixed when the model is first used by a coordinator.
///
/// Stored slots come first, `0..<storedCount`, so that a slot number is also a word number in a row; slots of transient
/// properties, composite attributes, to-many relationships and fetched properties follow. The elements of composite attributes
/// have stored slots, which only stores and key paths know of.
final class EntityLayout: @unchecked Sendable {
    // Sendable: all properties are set before the layout is shared, except the accessor cache, which is atomic.

    unowned(unsafe) let entity: NSEntityDescription
    let name: String
    /// Position of the entity in the model's entities, sorted by name within the hierarchy; unique in the model.
    let index: Int
    /// Index of the root entity's layout, whose table holds this entity's rows.
    let rootIndex: Int
    /// Index of the superentity's layout; -1 for a root entity.
    let superIndex: Int
    let isAbstract: Bool
    let slots: [PropertySlot]
    /// The slots of the entity's properties: all but those of elements.
    let propertySlots: [PropertySlot]
    /// The slots of the entity's properties by name.
    let slotByName: [String: Int]
    /// The same with the elements of composite attributes by path.
    let slotByPath: [String: Int]
    /// For each slot of the superentity the slot of the same property here; empty for a root entity.
    private let slotsOfSuperentity: [Int]
    let storedCount: Int
    /// Stored slots and hidden words.
    let wordCount: Int
    let bitmapWords: Int
    let rowStrideInWords: Int
    /// Slots of all relationships.
    let relationshipSlots: [Int]
    /// Slots whose values a save must check.
    let validatedSlots: [Int]
    /// Slots whose pending values are converted for the store: relationships, transformable and composite attributes.
    let convertedSlots: [Int]
    /// Values of a new object's slots.
    let defaultsBySlot: [PropertyValue]
    let hasDefaults: Bool
    let managedObjectClass: NSManagedObject.Type
    private let classOverridesValidateValue: Bool
    /// Layout indexes of this entity and all its subentities.
    fileprivate(set) var familyIndexes: [Int] = []
    unowned(unsafe) fileprivate(set) var model: ModelLayout

    /// Maps property name literals to slots for accessors of the entity's class.
    let accessorTable: AccessorTable
    /// The same for objects of any other class.
    private let tableOfOtherClasses: AccessorTable
    /// What new instances start with.
    let initialFlags: NSManagedObject.Flags = ConcurrencyDebug.isOn ? .checked : []

    fileprivate init(
        entity: NSEntityDescription, name: String, index: Int, rootIndex: Int, superIndex: Int, slots: [PropertySlot],
        storedCount: Int, wordCount: Int, managedObjectClass: NSManagedObject.Type, model: ModelLayout
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
            hasElements ? Dictionary(slots.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first }) : slotByName
        slotsOfSuperentity =
            superIndex < 0
            ? [] : model.layouts[superIndex].slots.map { [slotByPath] in slotByPath[$0.name] ?? $0.index }
        self.storedCount = storedCount
        self.wordCount = wordCount
        bitmapWords = max(1, (storedCount + 63) / 64)
        rowStrideInWords = RowPointer.headerWords + wordCount + bitmapWords
        relationshipSlots = slots.filter { $0.kind == .toOne || $0.kind.isToMany }.map(\.index)
        validatedSlots = slots.filter(\.needsValidation).map(\.index)
        convertedSlots = slots.prefix(storedCount).filter { [.toOne, .transformable].contains($0.kind) }.map(\.index)
        defaultsBySlot = Self.defaults(of: slots)
        hasDefaults = defaultsBySlot.contains { !$0.isNull }
        self.managedObjectClass = managedObjectClass
        classOverridesValidateValue = MethodOverride.ofValidateValue.exists(in: managedObjectClass)
        self.model = model
        var hooks = ObjectHooks.overridden(by: managedObjectClass)
        if !validatedSlots.isEmpty { hooks.insert(.validation) }
        accessorTable = AccessorTable(expectedCount: slots.count, hooks: hooks)
        tableOfOtherClasses = AccessorTable(expectedCount: slots.count, hooks: .all)
        accessorTable.setOwner(self)
        tableOfOtherClasses.setOwner(self)
    }

    private static func defaults(of slots: [PropertySlot]) -> [PropertyValue] {
        var defaults = slots.map { slot -> PropertyValue in
            guard slot.composite == nil, let value = slot.attribute?.defaultValue else { return .null }
            return PropertyConversion.value(from: value, kind: slot.kind) ?? .null
        }
        // A composite's own default goes before those of its elements.
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

    /// The properties of a uniqueness constraint, with the elements of a composite attribute in its place.
    func constrainedPaths(_ names: [String]) -> [String] {
        names.flatMap { name in
            composite(at: name.split(separator: ".").map(String.init))?.slots.map { slots[$0].name } ?? [name]
        }
    }

    /// The composite attribute, or the composite within one, that names lead to; nil for anything else.
    func composite(at names: [String]) -> CompositeLayout? {
        guard let first = names.first, let slot = slotByName[first] else { return nil }
        return slots[slot].composite?.composite(at: names.dropFirst())
    }

    deinit {
        accessorTable.deallocate()
        tableOfOtherClasses.deallocate()
    }

    /// The table for an object: the one of the entity's class, or one that supposes that every hook is overridden.
    func accessorTable(for objectClass: NSManagedObject.Type) -> AccessorTable {
        objectClass == managedObjectClass ? accessorTable : tableOfOtherClasses
    }

    /// The slot of a property that an ancestor has in another slot, as slots are ordered by name in each entity.
    ///
    /// O(number of entities between the two).
    ///
    /// - Parameter ancestor: the layout index of this entity or of one that it inherits from.
    func slot(_ slot: Int, ofAncestor ancestor: Int) -> Int {
        if index == ancestor || superIndex < 0 { return slot }
        return slotsOfSuperentity[model.layouts[superIndex].slot(slot, ofAncestor: ancestor)]
    }

    /// Whether an object of this entity is an object of `other`: the same entity or one of its subentities.
    func isKind(of other: EntityLayout) -> Bool {
        var candidate = self
        while true {
            if candidate === other { return true }
            guard candidate.superIndex >= 0 else { return false }
            candidate = model.layouts[candidate.superIndex]
        }
    }

    /// Whether objects of a class, usually the entity's own, override `validateValue(_:forKey:)`.
    func overridesValidateValue(_ objectClass: NSManagedObject.Type) -> Bool {
        objectClass == managedObjectClass ? classOverridesValidateValue : MethodOverride.ofValidateValue.exists(in: objectClass)
    }

    /// The slot of a property named by a literal in an accessor; nil when the entity has no such property.
    func slot(forLiteral literal: StaticString) -> AccessorTable.Entry? {
        let known = accessorTable.find(literal)
        return known.isFound ? known : resolve(literal)
    }

    @inline(never)
    private func resolve(_ literal: StaticString) -> AccessorTable.Entry? {
        guard let slot = slotByName[literal.description] else { return nil }
        // Accessors read a row's word by kind: what has no word must take the general path.
        let kind = slot < storedCount || slots[slot].relationship != nil ? slots[slot].kind : .undefined
        let entry = AccessorTable.Entry(literal, slot: slot, kind: kind)
        accessorTable.insert(entry)
        tableOfOtherClasses.insert(entry)
        return entry
    }
}

/// The layouts of all entities of a frozen model.
final class ModelLayout: @unchecked Sendable {
    // Sendable: set up completely in `init`, then only read.

    // Set once, while the layouts are made, and read for each row: without a check of exclusivity.
    @exclusivity(unchecked) private(set) var layouts: [EntityLayout] = []
    private(set) var layoutByName: [String: EntityLayout] = [:]
    /// Which layout index describes which class, for `init(context:)` and `entity()`.
    private(set) var layoutsByClass: [ObjectIdentifier: [Int]] = [:]

    /// Whether any entity has a composite attribute.
    private(set) var hasComposites = false

    /// The model, kept alive by its layouts.
    let model: NSManagedObjectModel

    deinit {
        for layout in layouts where layout.entity.cachedLayout === layout { layout.entity.cachedLayout = nil }
    }

    /// Resolves every property of the model's entities. The model must be frozen.
    init(model: NSManagedObjectModel) {
        self.model = model
        var ordered: [NSEntityDescription] = []
        func visit(_ entity: NSEntityDescription) {
            ordered.append(entity)
            for child in entity.subentities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) { visit(child) }
        }
        let roots = model.entities.filter { $0.superentity == nil }
        for root in roots.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) { visit(root) }

        var indexByName: [String: Int] = [:]
        for (index, entity) in ordered.enumerated() { indexByName[entity.name ?? ""] = index }

        // Slot numbers of every entity first: an inverse may lie in an entity that comes later.
        let sources = ordered.map(Self.sourcesInSlotOrder)
        let slotNumbers = sources.map { sources in
            Dictionary(sources.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        }
        for (index, entity) in ordered.enumerated() {
            let storedCount = sources[index].prefix(while: \.isStored).count
            var nextWord = storedCount
            var slots: [PropertySlot] = []
            for (slot, source) in sources[index].enumerated() {
                let relationship = source.property as? NSRelationshipDescription
                let destination = relationship?.destinationEntity?.name.flatMap { indexByName[$0] } ?? -1
                var entityWord = -1
                if relationship != nil, slot < storedCount, destination >= 0, !ordered[destination].subentities.isEmpty {
                    entityWord = nextWord
                    nextWord += 1
                }
                let inverse = relationship?.inverseRelationship
                let isElement = source.property !== source.declared
                let made = PropertySlot(
                    index: slot, source: source, compositeSlot: isElement ? slotNumbers[index][source.declared.name] ?? -1 : -1,
                    entityWord: entityWord, destinationIndex: destination,
                    inverseSlot: inverse.flatMap { destination >= 0 ? slotNumbers[destination][$0.name] : nil } ?? -1)
                if !source.declared.isTransient, let composite = source.property as? NSCompositeAttributeDescription {
                    made.composite = CompositeLayout(composite, path: source.name) { slotNumbers[index][$0] }
                    hasComposites = true
                }
                slots.append(made)
            }
            var root = entity
            while let parent = root.superentity { root = parent }
            let layout = EntityLayout(
                entity: entity, name: entity.name ?? "", index: index, rootIndex: indexByName[root.name ?? ""] ?? index,
                superIndex: entity.superentity?.name.flatMap { indexByName[$0] } ?? -1, slots: slots,
                storedCount: storedCount, wordCount: nextWord,
                managedObjectClass: ManagedObjectClasses.managedObjectClass(for: entity), model: self)
            layouts.append(layout)
            entity.cachedLayout = layout
            layoutByName[layout.name] = layout
            layoutsByClass[ObjectIdentifier(layout.managedObjectClass), default: []].append(index)
        }
        for layout in layouts {
            var family: [Int] = []
            for candidate in layouts where candidate.isKind(of: layout) { family.append(candidate.index) }
            layout.familyIndexes = family
        }
    }

    /// Stored properties by name, with the elements of a composite attribute in its place, then the others by name.
    private static func sourcesInSlotOrder(_ entity: NSEntityDescription) -> [SlotSource] {
        let sorted = entity.propertiesByName.values.sorted { $0.name < $1.name }
        return sorted.flatMap(SlotSource.stored) + sorted.map(SlotSource.init).filter { !$0.isStored }
    }

    static func kind(of property: NSPropertyDescription) -> ValueKind {
        if let relationship = property as? NSRelationshipDescription {
            if !relationship.isToMany { return .toOne }
            return relationship.isOrdered ? .orderedToMany : .toMany
        }
        guard let attribute = property as? NSAttributeDescription else { return .fetched }
        switch attribute.attributeType {
        case .integer16AttributeType: return .int16
        case .integer32AttributeType: return .int32
        case .integer64AttributeType: return .int64
        case .booleanAttributeType: return .boolean
        case .doubleAttributeType: return .double
        case .floatAttributeType: return .float
        case .dateAttributeType: return .date
        case .decimalAttributeType: return .decimal
        case .stringAttributeType: return .string
        case .binaryDataAttributeType: return .data
        case .UUIDAttributeType: return .uuid
        case .URIAttributeType: return .uri
        case .transformableAttributeType: return .transformable
        case .compositeAttributeType: return .composite
        default: return .undefined
        }
    }
}
