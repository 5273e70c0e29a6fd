import Foundation

/// Who makes a change, for persistent history.
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
    /// What becomes of a row whose unique values another row has.
    package enum UniquenessRule {
        /// Nothing is inserted at all.
        case refuse
        /// The other row gets the given values.
        case updateGivenValues
        /// The other row gets all values, also those that were not given.
        case replaceValues
        /// The other row stays as it is.
        case keepExisting
    }

    package let layout: EntityLayout
    package var rule = UniquenessRule.refuse
    /// The constraint that the rule is for, by the names of its attributes, when it is not for all of them: the others refuse.
    package var constraint: [String]?
    /// The slots that a row which is there already gets new values in; nil for those that are given.
    package var updatedSlots: Set<Int>?
    package var author = ChangeAuthor()
    /// Whether the outcome names the rows.
    package var wantsReferences = false
    /// What the store refuses new rows without; nil where all rows were looked at before.
    package var required: RequiredValues?
    /// Sets the given values of the next row, in the store's form; false after the last one. Slots that are not set get the entity's
    /// default values.
    package var nextRow: (RowValues) throws -> Bool
}

extension RowInsertion {
    /// Asks for the values of all rows.
    func allRows() throws -> [RowValues] {
        var rows: [RowValues] = []
        let values = RowValues.make(slotCount: layout.slots.count)
        while try nextRow(values) {
            rows.append(values.copy())
            values.removeAll()
        }
        return rows
    }

    /// The same insertion, for which nobody is asked for values any more.
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
        /// Evaluated for each row as it was before.
        case expression(NSExpression)
    }

    /// Which rows: entity, subentities and predicate.
    package let rows: StoreFetch
    package let assignments: [(slot: Int, value: Assignment)]
    package var author = ChangeAuthor()
    /// Whether the outcome names the rows.
    package var wantsReferences = false
}

/// Rows to delete, and what delete rules make of their relationships.
package struct RowDeletion {
    enum Rows {
        case fetched(StoreFetch)
        /// Rows of an entity and its subentities; those that are gone are passed over.
        case keys([Int64], of: EntityLayout)
    }

    let rows: Rows
    package var author = ChangeAuthor()
    /// Whether the outcome names the deleted rows.
    package var wantsReferences = false
    /// Whether the outcome names the rows too that delete rules have deleted or changed.
    var wantsConsequences = false
    /// Whether a to-many relationship that is not optional counts as mandatory: then nothing may be taken out of it.
    var keepsRequiredToMany = true

    var layout: EntityLayout {
        switch rows {
        case .fetched(let fetch): fetch.entity
        case .keys(_, let layout): layout
        }
    }
}

extension RowDeletion {
    /// Whether nothing may be taken out of the inverse of a relationship.
    func requiresInverse(of property: PropertySlot) -> Bool {
        guard let inverse = property.relationship?.inverseRelationship, !inverse.isOptional else { return false }
        return !inverse.isToMany || keepsRequiredToMany || inverse.minCount > 0
    }

    /// The error for a relationship whose delete rule forbids the deletion, with the words that Core Data has for it.
    static func refusal(
        of property: PropertySlot, _ layout: EntityLayout, keeping row: RowReference, _ layouts: [EntityLayout]
    ) -> NSError {
        let place = "\(layout.name)/\(property.name)"
        let reason: String
        if property.deleteRule == .denyDeleteRule {
            reason = "deny delete rule on \(place)"
        } else {
            let kind = property.kind == .toOne ? "OTO" : property.inverseIsToMany ? "MTM" : "OTM"
            reason = "mandatory \(kind) nullify inverse on \(place)"
        }
        let message = "Constraint trigger violation: Batch delete failed due to \(reason)"
        return CoreDataErrors.make(
            .persistentStoreSaveConflicts,
            "\(message). It leads to \(layouts[row.layoutIndex].name) p\(row.key), which stays. The store is as it was.",
            recovery: "Delete the destinations with the objects, delete the objects in a context, or make the inverse relationship "
                + "optional.", userInfo: ["error": message])
    }
}

extension EntityLayout {
    /// The values of a new row's stored slots in the store's form.
    package func storedDefaults() throws -> [StoredValue] {
        try (0..<storedCount).map { slot in
            slots[slot].isDerived ? .null : try PropertyConversion.storeValue(defaultsBySlot[slot], slot: slots[slot])
        }
    }
}
