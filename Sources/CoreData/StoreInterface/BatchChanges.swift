import Foundation

/// The context and the author of a change, for persistent history.
package struct ChangeAuthor {
    package var contextName: String?
    package var transactionAuthor: String?

    package init(contextName: String? = nil, transactionAuthor: String? = nil) {
        self.contextName = contextName
        self.transactionAuthor = transactionAuthor
    }
}

/// New rows of one entity.
package struct RowInsertion {
    /// The handling of a row whose unique values another row has.
    package enum UniquenessRule {
        /// No row is inserted at all.
        case refuse
        /// The other row gets the given values.
        case updateGivenValues
        /// The other row gets all values, also those of attributes that were not given.
        case replaceValues
        /// The other row stays as it is.
        case keepExisting
    }

    package let layout: EntityLayout
    package var rule = UniquenessRule.refuse
    /// The constraint to which the rule applies, by the names of its attributes. Other constraints
    /// refuse the row.
    ///
    /// Nil if the rule applies to all constraints.
    package var constraint: [String]?
    /// The slots of an existing row that get new values; nil for the slots that are given.
    package var updatedSlots: Set<Int>?
    package var author = ChangeAuthor()
    /// Whether the result contains references to the rows.
    package var wantsReferences = false
    /// The values without which the store refuses new rows; nil where all rows were checked before.
    package var required: RequiredValues?
    /// Sets the given values of the next row, in the store's form; returns false after the last
    /// one.
    ///
    /// Slots that are not set get the entity's default values.
    package var nextRow: (RowValues) throws -> Bool
}

extension RowInsertion {
    /// Whether existing rows with the same unique values are changed.
    package var changesRows: Bool { rule == .updateGivenValues || rule == .replaceValues }

    /// Whether an existing row gets a new row's value of a slot.
    ///
    /// It keeps a destination unless another one, or nil, is given: the relationship's other end
    /// may stand in a row of its own, which the insertion does not write.
    package func replaces(_ slot: Int, isGiven: Bool) -> Bool {
        if !isGiven, layout.slots[slot].kind == .toOne { return false }
        return updatedSlots?.contains(slot) ?? (isGiven || rule == .replaceValues)
    }

    /// Returns the values of all rows, read from `nextRow`.
    func allRows() throws -> [RowValues] {
        var rows: [RowValues] = []
        let values = RowValues.make(slotCount: layout.slots.count)
        while try nextRow(values) {
            rows.append(values.copy())
            values.removeAll()
        }
        return rows
    }

    /// Returns the same insertion with all values already read.
    func collected() throws -> RowInsertion {
        var remaining = try allRows().makeIterator()
        var insertion = self
        insertion.nextRow = { [slots = layout.slots.indices] values in
            guard let row = remaining.next() else { return false }
            for slot in slots where row.has(slot) { values[slot] = row[slot] }
            return true
        }
        return insertion
    }
}

/// New values for rows of one entity.
package struct RowUpdate {
    package enum Assignment {
        /// A value in the store's form.
        case constant(StoredValue)
        /// An expression, evaluated for each row on its values before the update.
        case expression(NSExpression)
    }

    /// The rows to update: entity, subentities and predicate.
    package let rows: StoreFetch
    package let assignments: [(slot: Int, value: Assignment)]
    package var author = ChangeAuthor()
    /// Whether the result contains references to the rows.
    package var wantsReferences = false
}

/// Rows to delete, and the handling of their relationships by delete rules.
package struct RowDeletion {
    enum Rows {
        case fetched(StoreFetch)
        /// Rows of an entity and its subentities. Keys of rows that no longer exist are skipped.
        case keys([Int64], of: EntityLayout)
    }

    let rows: Rows
    package var author = ChangeAuthor()
    /// Whether the result contains references to the deleted rows.
    package var wantsReferences = false
    /// Whether the result also contains references to the rows that delete rules have deleted or
    /// changed.
    var wantsConsequences = false
    /// Whether a to-many relationship that is not optional counts as mandatory, so that no row may
    /// be removed from it.
    var keepsRequiredToMany = true

    var layout: EntityLayout {
        switch rows {
        case .fetched(let fetch): fetch.entity
        case .keys(_, let layout): layout
        }
    }
}

extension RowDeletion {
    /// Whether no row may be removed from the inverse of a relationship.
    func requiresInverse(of property: PropertySlot) -> Bool {
        keepsRequiredToMany ? property.deletion.inverseIsRequired : property.deletion.inverseHasMinimum
    }

    /// Whether a destination of a relationship that is not deleted too makes the batch fail.
    func refusesDestinations(of property: PropertySlot) -> Bool {
        property.deletion.isDenied || property.deletion.nullifies && requiresInverse(of: property)
    }

    /// Returns the error for a relationship whose delete rule forbids the deletion, in Core Data's
    /// words.
    static func refusal(
        of property: PropertySlot, _ layout: EntityLayout, keeping row: RowReference, _ layouts: [EntityLayout]
    ) -> NSError {
        let place = "\(layout.name)/\(property.name)"
        let reason: String
        if property.deletion.isDenied {
            reason = "deny delete rule on \(place)"
        } else {
            let kind = property.kind == .toOne ? "OTO" : property.inverseIsToMany ? "MTM" : "OTM"
            reason = "mandatory \(kind) nullify inverse on \(place)"
        }
        let message = "Constraint trigger violation: Batch delete failed due to \(reason)"
        return CoreDataErrors.make(
            .persistentStoreSaveConflicts,
            "\(message). It leads to \(layouts[row.layoutIndex].name) p\(row.key), which stays. The store is as "
                + "it was.",
            recovery:
                "Delete the destinations with the objects, delete the objects in a context, or make the inverse "
                + "relationship "
                + "optional.", userInfo: ["error": message])
    }
}

extension EntityLayout {
    /// Returns the values of a new row's stored slots in the store's form.
    package func storedDefaults() throws -> [StoredValue] {
        try (0..<storedCount).map { slot in
            slots[slot].isDerived ? .null : try PropertyConversion.storeValue(defaultsBySlot[slot], slot: slots[slot])
        }
    }
}
