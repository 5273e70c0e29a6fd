import Foundation

/// The parts of an entity's layout that objects need.
final class ObjectLayout: Sendable {
    let layout: EntityLayout
    let managedObjectClass: NSManagedObject.Type
    private let classOverridesValidateValue: Bool
    /// Validation predicates with their error codes, by slot.
    let rules: [[ValidationRule]]
    /// Slots whose values a save must check.
    let validatedSlots: [Int]

    /// Maps property name literals to slots for accessors of the entity's class.
    let accessorTable: AccessorTable
    /// The accessor table for objects of any other class.
    private let tableOfOtherClasses: AccessorTable
    /// The flags of new instances.
    let initialFlags: ObjectFlags = ConcurrencyDebug.isOn ? .checked : []

    init(_ layout: EntityLayout) {
        self.layout = layout
        managedObjectClass = ManagedObjectClasses.managedObjectClass(for: layout.entity)
        classOverridesValidateValue = MethodOverride.ofValidateValue.exists(in: managedObjectClass)
        rules = layout.slots.map { ValidationRule.rules(of: $0.property) }
        validatedSlots = layout.slots.filter { [rules] in $0.needsValidation(rules[$0.index]) }.map(\.index)
        var hooks = ObjectHooks.overridden(by: managedObjectClass)
        if !validatedSlots.isEmpty { hooks.insert(.validation) }
        accessorTable = AccessorTable(expectedCount: layout.slots.count, hooks: hooks)
        tableOfOtherClasses = AccessorTable(expectedCount: layout.slots.count, hooks: .all)
        accessorTable.setOwner(layout)
        tableOfOtherClasses.setOwner(layout)
    }

    deinit {
        accessorTable.deallocate()
        tableOfOtherClasses.deallocate()
    }

    /// The table for an object; for other classes one that assumes every hook overridden.
    func accessorTable(for objectClass: NSManagedObject.Type) -> AccessorTable {
        objectClass == managedObjectClass ? accessorTable : tableOfOtherClasses
    }

    /// Whether objects of a class, usually the entity's own, override `validateValue(_:forKey:)`.
    func overridesValidateValue(_ objectClass: NSManagedObject.Type) -> Bool {
        objectClass == managedObjectClass
            ? classOverridesValidateValue : MethodOverride.ofValidateValue.exists(in: objectClass)
    }

    /// The slot of a property named by an accessor's literal; nil if there is none.
    func slot(forLiteral literal: StaticString) -> AccessorTable.Entry? {
        let known = accessorTable.find(literal)
        return known.isFound ? known : resolve(literal)
    }

    @inline(never)
    private func resolve(_ literal: StaticString) -> AccessorTable.Entry? {
        guard let slot = layout.slotByName[literal.description] else { return nil }
        // Without a word in the row, a property must take the general path.
        let kind =
            slot < layout.storedCount || layout.slots[slot].relationship != nil ? layout.slots[slot].kind : .undefined
        let entry = AccessorTable.Entry(literal, slot: slot, kind: kind)
        accessorTable.insert(entry)
        tableOfOtherClasses.insert(entry)
        return entry
    }
}

extension PropertySlot {
    /// Whether an object can be invalid because of this property.
    fileprivate func needsValidation(_ rules: [ValidationRule]) -> Bool {
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

/// The parts of a model's layouts that objects need.
final class ModelObjects: Sendable {
    /// The layout indexes of the entities of each class, for `init(context:)` and `entity()`.
    let layoutsByClass: [ObjectIdentifier: [Int]]

    init(_ layouts: [EntityLayout]) {
        layoutsByClass = Dictionary(grouping: layouts.map(\.index)) {
            ObjectIdentifier(layouts[$0].objects.managedObjectClass)
        }
    }
}

extension EntityLayout {
    /// The part that objects need. Only layouts of objects have it: see `objectLayouts()`.
    @inline(__always)
    var objects: ObjectLayout {
        // Nothing else is ever attached, and every layout of an object has one.
        unsafeDowncast(companion.unsafelyUnwrapped.object, to: ObjectLayout.self)
    }

    /// The class of the entity's objects.
    @inline(__always)
    var managedObjectClass: NSManagedObject.Type { objects.managedObjectClass }
}

extension ModelLayout {
    /// Makes the layouts ready for objects.
    func attachObjects() {
        attach(ofEntity: ObjectLayout.init, ofModel: { ModelObjects(layouts) })
    }

    /// The layout indexes of the entities of each class.
    var layoutsByClass: [ObjectIdentifier: [Int]] {
        // Nothing else is ever attached; nil for layouts with which no object was made.
        companion.map { unsafeDowncast($0, to: ModelObjects.self).layoutsByClass } ?? [:]
    }
}

extension NSManagedObjectModel {
    /// The layouts of all entities, ready for objects; freezes the model.
    func objectLayouts() -> ModelLayout {
        let layout = layout()
        layout.attachObjects()
        return layout
    }
}
