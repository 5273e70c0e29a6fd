import Foundation

/// Turns the values of batch requests into those of a store's rows.
struct BatchValues {
    private let layout: EntityLayout
    private let store: NSPersistentStore

    init(_ layout: EntityLayout, _ store: NSPersistentStore) {
        self.layout = layout
        self.store = store
    }

    // MARK: Rows to insert

    /// Sets a value of a new row by the name of its property.
    @inline(__always)
    func set(_ value: Any, for name: String, in row: RowValues) throws {
        guard let slot = layout.slotByPath[name] else { throw unknown(name) }
        let property = layout.slots[slot]
        if let attribute = Self.plain(value, property) {
            row[slot] = attribute
        } else {
            for (slot, value) in try values(value, property) { row[slot] = value }
        }
    }

    /// The value of an attribute where it is of the attribute's own type; nil for anything else.
    @inline(__always)
    private static func plain(_ value: Any, _ property: PropertySlot) -> StoredValue? {
        if property.isDerived || !property.isStored { return nil }
        switch property.kind {
        case .string: return (value as? String).map(StoredValue.string)
        case .int64: return (value as? Int).map { .integer(Int64($0)) }
        case .double: return (value as? Double).map(StoredValue.double)
        case .date: return (value as? Date).map { .double($0.timeIntervalSinceReferenceDate) }
        default: return nil
        }
    }

    /// Sets the values of a row to those of an object that belongs to no context.
    func fill(_ row: RowValues, from object: NSManagedObject) throws {
        for property in layout.slots.prefix(layout.storedCount) where !property.isDerived {
            let value = object.currentValue(property.index)
            guard property.kind == .toOne else {
                row[property.index] = try value.stored(property)
                continue
            }
            if let destination = value.destination {
                row[property.index] = try reference(destination, property)
            } else if !property.inverseIsToOne {
                row[property.index] = .null
            }
        }
        for slot in layout.relationshipSlots where layout.slots[slot].kind.isToMany {
            guard let members = object.extras?.toMany(slot), !members.added.isEmpty else { continue }
            throw refused(layout.slots[slot], "it is a to-many relationship")
        }
    }

    /// Returns an insertion that refuses rows without values of required attributes: code 1570.
    ///
    /// A row that updates an existing row, or gives way to one, may lack values. Only the store
    /// finds out which of these rows are new, so it makes the check.
    func requiringValues(_ insertion: RowInsertion) -> RowInsertion {
        let required = RequiredValues(layout)
        if required.isEmpty { return insertion }
        var insertion = insertion
        let nextRow = insertion.nextRow
        var count = 0
        func checking(_ missing: @escaping (RowValues) -> String?) -> (RowValues) throws -> Bool {
            return { row in
                guard try nextRow(row) else { return false }
                count += 1
                if let name = missing(row) {
                    throw required.error(name, "row \(count) of the batch insertion has no value of it.")
                }
                return true
            }
        }
        switch insertion.rule {
        case .keepExisting where !layout.uniquenessConstraints.isEmpty: insertion.required = required
        case .updateGivenValues where !layout.uniquenessConstraints.isEmpty:
            insertion.required = required
            insertion.nextRow = checking(required.givenNull)
        default: insertion.nextRow = checking(required.missing)
        }
        return insertion
    }

    // MARK: Rows to update

    /// The assignments of the new values that an update request lists.
    func assignments(_ properties: [AnyHashable: Any]) throws -> [(slot: Int, value: RowUpdate.Assignment)] {
        var result: [(slot: Int, value: RowUpdate.Assignment)] = []
        for (key, value) in properties {
            guard let name = key.base as? String ?? (key.base as? NSPropertyDescription)?.name else {
                throw CoreDataErrors.noNameOfProperty(key.base)
            }
            guard let property = layout.slotByPath[name].map({ layout.slots[$0] }) else {
                guard let composite = layout.composite(at: name.pathNames) else { throw unknown(name) }
                for (slot, value) in try elements(of: value, composite) { result.append((slot, .constant(value))) }
                continue
            }
            if let expression = PropertyConversion.unwrapped(value) as? NSExpression,
                expression.expressionType != .constantValue
            {
                try requireWritable(property)
                if property.composite != nil {
                    throw refused(property, "a composite attribute takes a dictionary; name its elements")
                }
                if property.kind == .toOne { try requireFreeInverse(property) }
                result.append((property.index, .expression(expression)))
                continue
            }
            let constant = (value as? NSExpression)?.constantValue ?? value
            for (slot, value) in try values(constant is NSExpression ? NSNull() : constant, property) {
                result.append((slot, .constant(value)))
            }
        }
        // Sorted, so that the same request makes the same statement.
        return result.sorted { $0.slot < $1.slot }
    }

    /// The assignments that give a property the values of an object that belongs to no context.
    func assignments(of name: String, from object: NSManagedObject) throws -> [(slot: Int, value: RowUpdate.Assignment)]
    {
        try slots(of: name).map { slot in
            try requireWritable(layout.slots[slot])
            return (slot, .constant(try object.currentValue(slot).stored(layout.slots[slot])))
        }
    }

    func slots(of name: String) throws -> [Int] {
        if let composite = layout.composite(at: name.pathNames) { return composite.slots }
        guard let slot = layout.slotByPath[name] else { throw unknown(name) }
        return [slot]
    }

    // MARK: Values

    private func values(_ value: Any, _ property: PropertySlot) throws -> [(slot: Int, value: StoredValue)] {
        try requireWritable(property)
        if let composite = property.composite { return try elements(of: value, composite) }
        let unwrapped = PropertyConversion.unwrapped(value)
        if property.kind == .toOne {
            guard let unwrapped, !(unwrapped is NSNull) else {
                if property.inverseIsToOne { try requireFreeInverse(property) }
                return [(property.index, .null)]
            }
            return [(property.index, try reference(unwrapped, property))]
        }
        guard let converted = PropertyConversion.value(from: unwrapped, kind: property.kind) else {
            throw CoreDataErrors.make(
                .managedObjectValidation,
                "Unacceptable type of value for \(layout.name).\(property.name): expected "
                    + "\(property.attribute?.attributeValueClassName ?? "another type"), given "
                    + "\(unwrapped.map { "\(type(of: $0)) (\($0))" } ?? "nil")."
            )
        }
        return [(property.index, try PropertyConversion.storeValue(converted, slot: property))]
    }

    private func elements(of value: Any, _ composite: CompositeLayout) throws -> [(slot: Int, value: StoredValue)] {
        do {
            return try layout.elementValues(of: value, composite).map { slot, value in
                (slot, try PropertyConversion.storeValue(value, slot: layout.slots[slot]))
            }
        } catch let problem as CompositeProblem {
            throw CoreDataErrors.make(
                .managedObjectValidation, "Unacceptable value for \(layout.name).\(composite.path): \(problem.reason).")
        }
    }

    private func reference(_ value: Any, _ property: PropertySlot) throws -> StoredValue {
        try requireFreeInverse(property)
        guard let identity = value as? any RowIdentity else {
            throw refused(property, "it takes the ID of a saved object, not a \(type(of: value))")
        }
        guard let reference = identity.rowReference(in: store) else {
            throw refused(property, "\(value) is of no row of the store: save it there first")
        }
        let destination = layout.model.layouts[property.destinationIndex]
        guard layout.model.layouts[reference.layoutIndex].isKind(of: destination) else {
            throw refused(
                property,
                "it takes objects of '\(destination.name)', not of "
                    + "'\(layout.model.layouts[reference.layoutIndex].name)'"
            )
        }
        return .reference(reference)
    }

    // MARK: Refusals

    private func requireWritable(_ property: PropertySlot) throws {
        if property.isDerived { throw refused(property, "its value is derived from others") }
        if property.isTransient { throw refused(property, "it is transient: no store has its values") }
        if property.kind.isToMany {
            throw refused(
                property,
                "it is a to-many relationship; change its inverse if that is to-one, or the objects in a context")
        }
        if property.kind == .fetched { throw refused(property, "it is a fetched property") }
    }

    /// - Throws: when the other side of a to-one relationship would have to change with it.
    private func requireFreeInverse(_ property: PropertySlot) throws {
        guard property.inverseSlot >= 0 else { return }
        if !property.inverseIsToMany {
            throw refused(property, "its inverse is to-one too, and stands in a row of its own")
        }
        let inverse = layout.model.layouts[property.destinationIndex].slots[property.inverseSlot]
        if inverse.kind == .orderedToMany {
            throw refused(property, "its inverse is ordered, and the object would have no place there")
        }
    }

    private func refused(_ property: PropertySlot, _ reason: String) -> NSError {
        CoreDataErrors.unsettable(property.name, of: layout.name, reason)
    }

    private func unknown(_ name: String) -> NSError {
        CoreDataErrors.unknownProperty(name, of: layout.name, among: layout.propertySlots.map(\.name))
    }
}
