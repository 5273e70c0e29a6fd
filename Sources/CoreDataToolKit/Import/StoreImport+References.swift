import CoreData

// The destinations of relationships, and the pass that checks them.
extension StoreImport {
    /// The object that an identity in a file stands for.
    enum Reference {
        case row(Int)
        case stored(NSManagedObjectID)
        case wrong(String)
    }

    /// Checks all references, again and again while rows are refused because of theirs.
    func checkReferences() throws {
        var isFirst = true
        while true {
            let before = problems.count
            var mayRefuse = false
            var count = 0
            try forEachKnownRow("checking references") { row in
                guard case .success(let content) = row.content, plan.rows[row.number].state != .refused else { return }
                if checkReferences(of: content, row.number, isFirst: isFirst) { mayRefuse = true }
                count += 1
                // Objects that were looked for in the store are not kept.
                if count % 1000 == 0 { context.reset() }
            }
            context.reset()
            isFirst = false
            if problems.count == before || !mayRefuse { return }
        }
    }

    /// - Returns: whether the row was refused.
    private func checkReferences(of content: ImportRow.Content, _ number: Int, isFirst: Bool) -> Bool {
        for member in content.members {
            guard case .relationship(let relationship)? = content.entity.properties[member.key],
                let texts = try? schema.references(member.value, relationship)
            else { continue }
            let wrong = texts.compactMap { text -> String? in
                if case .wrong(let reason) = reference(text, relationship) { return reason }
                return nil
            }
            // What is left out of a row that stays is named once.
            let isEmpty = wrong.count == texts.count
            if isEmpty, relationship.needsObjects {
                refuse(
                    number,
                    RowMistake(property: member.key, reason: wrong.first ?? "the relationship must have an object"))
                return true
            }
            for reason in wrong where isFirst || reason.hasSuffix(Self.refusedEnd) {
                note(once: RowMistake(property: member.key, reason: reason), of: number)
            }
        }
        return false
    }

    private static let refusedEnd = " is refused"

    func note(once mistake: RowMistake, of number: Int) {
        guard left.insert(LeftReference(number: number, property: mistake.property, reason: mistake.reason)).inserted
        else { return }
        note(mistake, of: number)
    }

    /// A reference that is left out.
    struct LeftReference: Hashable {
        let number: Int
        let property: String?
        let reason: String
    }

    /// Returns the object that an identity in a relationship stands for: that of a row, or else one
    /// of the store.
    func reference(_ text: String, _ relationship: NSRelationshipDescription) -> Reference {
        guard let (named, key) = try? schema.row(text), let wanted = relationship.destinationEntity else {
            return .wrong("'\(text)' names no object")
        }
        let name = ImportSchema.RowName(root: named.root, key: key)
        if let number = plan.number(of: name) {
            if plan.rows[number].state == .refused {
                return .wrong("the row of \(text) in \(place(of: number))" + Self.refusedEnd)
            }
            return entity(of: number).description.isKindOf(entity: wanted)
                ? .row(number) : .wrong("'\(text)' is not an object of '\(wanted.name ?? "")'")
        }
        guard let objectID = storedID(name, named) else {
            return .wrong("\(text) is neither in the file nor in the store")
        }
        return objectID.entity.isKindOf(entity: wanted)
            ? .stored(objectID) : .wrong("'\(text)' is not an object of '\(wanted.name ?? "")'")
    }

    /// Returns the ID of an object of the store; nil if there is none.
    private func storedID(_ name: ImportSchema.RowName, _ entity: ImportSchema.Entity) -> NSManagedObjectID? {
        if let known = stored[name] { return known }
        if stored.count > 100_000 { stored = [:] }
        // A table that was empty has only objects of rows.
        let isThere =
            !keepsKeys(name.root)
            && store.model.objectID(entity: entity.name, key: name.key).map {
                (try? context.existingObject(with: $0)) != nil
            } ?? false
        let objectID = isThere ? store.model.objectID(entity: entity.name, key: name.key) : nil
        stored[name] = .some(objectID)
        return objectID
    }
}

extension NSRelationshipDescription {
    /// Whether an object without a destination is invalid.
    var needsObjects: Bool { !isOptional && (!isToMany || minCount > 0) }
}
