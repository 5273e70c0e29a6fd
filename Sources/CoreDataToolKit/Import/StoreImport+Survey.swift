import CoreData

// The first pass: each row by itself, and the object of the store that it belongs to.
extension StoreImport {
    private static let chunkSize = 500

    /// A row whose values could be read.
    private struct CheckedRow {
        let number: Int
        let entity: ImportSchema.Entity
        /// The values of attributes that are in the row; NSNull for null.
        let values: [String: Any]
    }

    func survey() throws {
        var chunk: [ImportRow] = []
        try forEachRow("checking") { row in
            chunk.append(row)
            if chunk.count == Self.chunkSize {
                try check(chunk)
                chunk = []
            }
        }
        try check(chunk)
    }

    private func check(_ chunk: [ImportRow]) throws {
        var rows = chunk.compactMap(checked)
        for row in rows { matching.note(row.number, row.entity, row.values, plan.rows[row.number].key) }
        let matched = try matching.objects(in: store)
        for (number, match) in matched { take(match, of: number) }
        rows.removeAll { plan.rows[$0.number].state == .refused }
        for row in rows { validate(row) }
        reset()
    }

    /// Reads the values of a row; nil for a row that is refused.
    private func checked(_ row: ImportRow) -> CheckedRow? {
        let earlier = plan.add(row)
        let content: ImportRow.Content
        switch row.content {
        case .success(let success): content = success
        case .failure(let mistake):
            refuse(row.number, mistake)
            return nil
        }
        if let earlier {
            refuse(row.number, RowMistake(reason: "the same object is in \(place(of: earlier)) already"))
            return nil
        }
        if content.entity.description.isAbstract {
            refuse(row.number, RowMistake(reason: "'\(content.entity.name)' is abstract and has no objects of its own"))
            return nil
        }
        var values: [String: Any] = [:]
        for member in content.members {
            do {
                switch try schema.property(member.key, of: content.entity) {
                case .attribute(let attribute):
                    values[member.key] = try self.values.value(member.value, of: attribute) ?? NSNull()
                case .relationship(let relationship):
                    try checkForm(of: member.value, relationship)
                case .computed: break
                }
            } catch {
                refuse(row.number, error)
            }
        }
        if plan.rows[row.number].state == .refused { return nil }
        return CheckedRow(number: row.number, entity: content.entity, values: values)
    }

    private func checkForm(of value: JSONValue, _ relationship: NSRelationshipDescription) throws(RowMistake) {
        var seen: Set<String> = []
        for text in try schema.references(value, relationship) {
            let (entity, _): (ImportSchema.Entity, Int64)
            do {
                (entity, _) = try schema.row(text)
            } catch {
                throw RowMistake(property: relationship.name, reason: error.reason)
            }
            let wanted = relationship.destinationEntity
            guard
                wanted.map({ entity.description.isKindOf(entity: $0) || $0.isKindOf(entity: entity.description) })
                    ?? false
            else {
                throw RowMistake(
                    property: relationship.name, reason: "'\(text)' is not an object of '\(wanted?.name ?? "")'")
            }
            guard seen.insert(text).inserted else {
                throw RowMistake(property: relationship.name, reason: "'\(text)' is there twice")
            }
        }
    }

    private func take(_ match: RowMatching.Match, of number: Int) {
        guard plan.rows[number].state != .refused else { return }
        switch match {
        case .object(let objectID):
            guard objectID.entity.isKindOf(entity: entity(of: number).description) else {
                let found = CellValue(objectID).plainText
                return refuse(number, RowMistake(reason: "the values belong to \(found), an object of another entity"))
            }
            guard let key = ObjectName(objectID).key else { return }
            let root = entity(of: number).root
            let first = progress.firstKeys[schema.entities[root].name]
            // An import that was stopped has inserted it.
            if isResumed, let first, first == 0 || key >= first { return }
            if let other = updated.updateValue(number, forKey: .init(root: root, key: key)) {
                let found = CellValue(objectID).plainText
                return refuse(number, RowMistake(reason: "the row in \(place(of: other)) belongs to \(found) already"))
            }
            plan.setTarget(key, of: number, isNew: false)
        case .several(let names):
            refuse(number, RowMistake(reason: "the values belong to several objects: \(names)"))
        case .sameAs(let first, let keys):
            let what = keys.joined(separator: ", ")
            refuse(number, RowMistake(reason: "\(what): the row in \(place(of: first)) has the same"))
        }
    }

    /// Validates the values of a row in an object that is never saved.
    private func validate(_ row: CheckedRow) {
        let object = NSManagedObject(entity: row.entity.description, insertInto: context)
        for (key, value) in row.values { object.setValue(value is NSNull ? nil : value, forKey: key) }
        let isNew = plan.rows[row.number].isNew
        for mistake in mistakes({ try object.validateForInsert() }) {
            guard let key = mistake.property, row.entity.attributes.contains(key) else { continue }
            // An object that is there has the value already.
            if !isNew, row.values[key] == nil { continue }
            refuse(row.number, mistake)
        }
    }

    /// Returns the errors of a validation.
    func mistakes(_ validate: () throws -> Void) -> [RowMistake] {
        do {
            try validate()
            return []
        } catch {
            let error = error as NSError
            let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
            return details.map { detail in
                RowMistake(
                    property: detail.userInfo[NSValidationKeyErrorKey] as? String,
                    reason: detail.localizedFailureReason ?? detail.localizedDescription)
            }
        }
    }
}
