import Foundation

/// The values that rows of an entity must have.
package struct RequiredValues {
    private let layout: EntityLayout
    /// Required attributes without a default value, and those with one, for which only an explicit
    /// null is an error.
    private let withoutDefault: [Int]
    private let withDefault: [Int]
    private let composites: [CompositeLayout]

    init(_ layout: EntityLayout) {
        self.layout = layout
        let required = layout.propertySlots.filter {
            $0.index < layout.storedCount && $0.attribute != nil && !$0.isOptional && !$0.isDerived
        }.map(\.index)
        withoutDefault = required.filter { layout.defaultValue($0).isNull }
        withDefault = required.filter { !layout.defaultValue($0).isNull }
        composites = layout.propertySlots.compactMap(\.composite)
    }

    var isEmpty: Bool { withoutDefault.isEmpty && withDefault.isEmpty && composites.isEmpty }

    /// Returns the name of a required value that a row lacks; elements of composite attributes are
    /// named by their paths.
    func missing(in row: RowValues) -> String? {
        for slot in withoutDefault where !row.hasValue(slot) { return layout.slots[slot].name }
        for slot in withDefault where row.has(slot) && !row.hasValue(slot) { return layout.slots[slot].name }
        for composite in composites {
            if let name = missing(composite, in: row) { return name }
        }
        return nil
    }

    /// Returns the name of a required attribute that a row sets to null.
    func givenNull(in row: RowValues) -> String? {
        for slot in withoutDefault where row.has(slot) && !row.hasValue(slot) { return layout.slots[slot].name }
        for slot in withDefault where row.has(slot) && !row.hasValue(slot) { return layout.slots[slot].name }
        for composite in composites {
            if let name = givenNull(composite, in: row) { return name }
        }
        return nil
    }

    /// - Throws: code 1570 where a new row lacks a value.
    package func requireAll(in row: RowValues) throws {
        if let name = missing(in: row) { throw error(name, "a new row of the batch insertion has no value of it.") }
    }

    func error(_ name: String, _ reason: String) -> NSError {
        CoreDataErrors.make(
            .validationMissingMandatoryProperty, "\(layout.name).\(name) is required, but \(reason)",
            userInfo: [NSValidationKeyErrorKey: name, NSValidationValueErrorKey: NSNull()])
    }

    /// Returns the name of an element that an existing row would lose. A row may give only some of
    /// the elements.
    private func givenNull(_ composite: CompositeLayout, in row: RowValues) -> String? {
        if composite.slots.allSatisfy({ row.has($0) && !row.hasValue($0) }) {
            return composite.isOptional || composite.mayBeEmpty ? nil : composite.path
        }
        for part in composite.parts {
            switch part {
            case .element(_, let slot):
                if !layout.slots[slot].isOptional, row.has(slot), !row.hasValue(slot) { return layout.slots[slot].name }
            case .composite(_, let inner):
                if let name = givenNull(inner, in: row) { return name }
            }
        }
        return nil
    }

    private func missing(_ composite: CompositeLayout, in row: RowValues) -> String? {
        func hasValue(_ slot: Int) -> Bool { row.has(slot) ? row.hasValue(slot) : !layout.defaultValue(slot).isNull }
        guard composite.slots.contains(where: hasValue) else {
            return composite.isOptional || composite.mayBeEmpty ? nil : composite.path
        }
        for part in composite.parts {
            switch part {
            case .element(_, let slot):
                if !layout.slots[slot].isOptional, !hasValue(slot) { return layout.slots[slot].name }
            case .composite(_, let inner):
                if let name = missing(inner, in: row) { return name }
            }
        }
        return nil
    }
}
