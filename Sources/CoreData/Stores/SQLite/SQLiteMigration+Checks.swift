import Foundation

// What only the objects can tell: whether they fit the new model.
extension SQLiteMigration {
    /// The error that names the entity and the values that several rows share; nil when there are none.
    func constraintViolation() throws -> NSError? {
        let schema = SQLSchema(mapping: plan.target)
        for table in plan.target.tables {
            for entity in table.family {
                for constraint in entity.layout.entity.uniquenessConstraintNames {
                    guard let columns = schema.columnNames(of: constraint, in: entity) else { continue }
                    let list = columns.map(SQLSchema.identifier).joined(separator: ", ")
                    let present = columns.map { SQLSchema.identifier($0) + " IS NOT NULL" }.joined(separator: " AND ")
                    var examples: [String] = []
                    try connection.query(
                        "SELECT count(*), \(list) FROM \(SQLSchema.identifier(table.name)) WHERE \(present) "
                            + "GROUP BY \(list) HAVING count(*) > 1 LIMIT 5"
                    ) { row in
                        let values = columns.indices.map { "'\(row.string(Int32($0 + 1)) ?? "")'" }
                        examples.append("\(values.joined(separator: ", ")) (\(row.int64(0)) objects)")
                    }
                    guard !examples.isEmpty else { continue }
                    return CoreDataErrors.make(
                        .migrationConstraintViolation,
                        "The store at \(connection.path) cannot be migrated: objects of '\(entity.layout.name)' share values of "
                            + "\(constraint.joined(separator: ", ")), which must be unique now: " + examples.joined(separator: "; "),
                        recovery: "Make the values different with the former version of the model, or leave the constraint out.",
                        userInfo: [
                            "NSFilePath": connection.path, "entity": entity.layout.name, "constraint": constraint,
                        ])
                }
            }
        }
        return nil
    }

    /// A to-many relationship without an inverse is kept as one key in each destination's row.
    ///
    /// - Throws: when destinations have several owners, all but one of which would be lost.
    func requireOneOwner(_ copy: SQLHiddenKeyCopy) throws {
        if copy.mayLoseOwners { return }
        let count = try connection.integer(copy.sharedRows.sql, copy.sharedRows.values)
        guard let count, count > 0 else { return }
        let names = copy.relationship.split(separator: ".", maxSplits: 1).map(String.init)
        throw invalid(
            names.first ?? "", names.last, count,
            "The to-many relationship has no inverse now, so that an object can be in it for one owner only, and objects have several",
            "Give the relationship a to-many inverse.")
    }

    func requireNoAbstractObjects() throws {
        for member in plan.members.values.sorted(by: { $0.target.number < $1.target.number })
        where member.target.layout.isAbstract && !member.source.layout.isAbstract {
            let count = try connection.integer(
                "SELECT count(*) FROM \(SQLSchema.identifier(member.target.table.name)) WHERE Z_ENT = ?",
                [.integer(Int64(member.target.number))])
            guard let count, count > 0 else { continue }
            throw invalid(
                member.target.layout.name, nil, count, "The entity is abstract now, and has objects of its own",
                "Leave it concrete, or move its objects to subentities first.")
        }
    }

    /// Objects that lack what a relationship requires now.
    func requireRelationships() throws {
        for case let entity? in plan.target.entities where !entity.layout.isAbstract {
            for slot in entity.layout.slots {
                guard let relationship = slot.relationship, !slot.isOptional, !slot.isTransient else { continue }
                // A save takes an empty to-many relationship too that asks for no objects.
                if slot.kind.isToMany, relationship.minCount == 0 { continue }
                if case .relationship(let former)? = plan.inference.links[ObjectIdentifier(relationship)], !former.isOptional {
                    continue
                }
                let missing: String
                if let column = entity.columns[slot.index] {
                    missing = "t.\(SQLSchema.identifier(column.name)) IS NULL"
                } else if case .inverse(let column, let destination, _)? = entity.toMany[slot.index] {
                    missing =
                        "NOT EXISTS (SELECT 1 FROM \(SQLSchema.identifier(destination.table.name)) d "
                        + "WHERE d.\(SQLSchema.identifier(column.name)) = t.Z_PK)"
                } else if case .join(let join, let isFirst)? = entity.toMany[slot.index] {
                    missing =
                        "NOT EXISTS (SELECT 1 FROM \(SQLSchema.identifier(join.name)) d "
                        + "WHERE d.\(SQLSchema.identifier(join.ownerColumn(isFirst: isFirst))) = t.Z_PK)"
                } else {
                    continue
                }
                let count = try connection.integer(
                    "SELECT count(*) FROM \(SQLSchema.identifier(entity.table.name)) t WHERE t.Z_ENT = ? AND \(missing)",
                    [.integer(Int64(entity.number))])
                guard let count, count > 0 else { continue }
                throw invalid(
                    entity.layout.name, slot.name, count, "The relationship is required now, and objects lack it",
                    "Make it optional, or set it with the former version of the model first.")
            }
        }
    }

    private func invalid(
        _ entity: String, _ property: String?, _ count: Int64, _ reason: String, _ advice: String
    ) -> NSError {
        var userInfo: [String: Any] = ["NSFilePath": connection.path, "entity": entity, "reason": reason]
        userInfo["property"] = property
        return CoreDataErrors.make(
            .migration,
            "The store at \(connection.path) cannot be migrated: \(property.map { "\(entity).\($0)" } ?? entity): \(reason) "
                + "(\(count == 1 ? "1 object" : "\(count) objects")).", recovery: advice, userInfo: userInfo)
    }
}
