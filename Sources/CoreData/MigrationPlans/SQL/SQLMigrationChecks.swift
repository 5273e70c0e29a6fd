import Foundation

/// Checks whether the objects of a store fit the new model.
///
/// The checks are statements and errors; the code that carries the migration out runs them in the
/// database.
package struct SQLMigrationChecks {
    let plan: SQLMigrationPlan
    /// The description of the store in errors, for example `at /folder/file`.
    let store: String
    let userInfo: [String: Any]

    package init(plan: SQLMigrationPlan, store: String, userInfo: [String: Any]) {
        self.plan = plan
        self.store = store
        self.userInfo = userInfo
    }

    private var dialect: any SQLDialect { plan.dialect }
    private var naming: any TableNaming { plan.naming }

    /// A count that must be 0.
    struct Count {
        let statement: SQLStatement
        /// Returns the error for any other count.
        let error: (Int64) -> NSError
    }

    /// Values that several objects share although they must be unique.
    struct Uniqueness {
        /// A query whose rows have, for some of the values, the number of objects and then the
        /// values.
        let statement: String
        let columnCount: Int
        /// Returns the error for a list of examples.
        let error: (String) -> NSError
    }

    // MARK: Before

    /// Returns the checks for rows with unknown entity numbers, which would be lost.
    func unknownEntities() -> [Count] {
        plan.source.tables.filter { $0.family.count > 1 && !plan.keptTables.contains($0.name) }.map { table in
            let numbers = SQLMigrationPlan.list(table.family.map(\.number))
            let entity = dialect.identifier(naming.entity)
            return Count(
                statement: SQLStatement(
                    sql:
                        "SELECT count(*) FROM \(dialect.identifier(table.name)) WHERE \(entity) IS NULL OR \(entity) "
                        + "NOT IN (\(numbers))",
                    arguments: [])
            ) { unknown in
                CoreDataErrors.make(
                    .migrationManagerSourceStore,
                    "The store \(store) cannot be migrated: \(unknown) rows of \(table.name) are of no entity of its "
                        + "model.",
                    recovery: "The store is damaged: restore it from a copy.", userInfo: userInfo)
            }
        }
    }

    /// Returns the checks for objects of entities that cannot have any now, and for objects without
    /// a value that a new attribute requires.
    func unfittingObjects() -> [Count] {
        plan.members.values.sorted(by: { $0.target.number < $1.target.number }).filter { !$0.source.layout.isAbstract }
            .flatMap { member in
                let rows = SQLText("SELECT count(*) FROM \(dialect.identifier(member.source.table.name))")
                let statement = (own(member.source, alias: nil).map { rows + " WHERE " + $0 } ?? rows).statement(
                    dialect)
                let (layout, source) = (member.target.layout, member.source.layout)
                if layout.isAbstract {
                    let reason = "The entity is abstract now, and has objects of its own"
                    return [
                        Count(statement: statement) { count in
                            invalid(
                                layout.name, nil, count, reason,
                                "Leave it concrete, or move its objects to subentities first.")
                        }
                    ]
                }
                let unset = attributesWithoutValues(of: member)
                // One attribute represents all, so objects that lack several values are counted
                // once.
                guard
                    let slot = layout.slots.first(where: { Self.needsValue($0) && member.sourceNames[$0.name] == nil })
                else { return unset }
                // An inherited attribute is reported at the entity that declares it.
                let owner = slot.property.owningEntity?.name ?? layout.name
                return [
                    Count(statement: statement) { count in
                        invalid(
                            owner, slot.name, count,
                            "It is new and required, and has no default value for the objects of '\(source.name)'",
                            "Give it a default value, or make it optional.")
                    }
                ] + unset
            }
    }

    /// Returns the checks for objects without a value of an attribute that was optional and is
    /// required now.
    private func attributesWithoutValues(of member: SQLMigrationPlan.Member) -> [Count] {
        let (layout, source) = (member.target.layout, member.source.layout)
        return layout.slots.compactMap { slot in
            guard Self.needsValue(slot), let former = member.sourceNames[slot.name].flatMap({ source.slotByPath[$0] }),
                source.slots[former].isOptional, let column = member.source.columns[former]
            else { return nil }
            var condition = SQLText("\(dialect.identifier(column.name)) IS NULL")
            if let own = own(member.source, alias: nil) { condition = own + " AND " + condition }
            let rows = "SELECT count(*) FROM \(dialect.identifier(member.source.table.name)) WHERE " + condition
            return Count(statement: rows.statement(dialect)) { count in
                invalid(
                    slot.property.owningEntity?.name ?? layout.name, slot.name, count,
                    "It was optional and is required now, and has no default value for the objects of "
                        + "'\(source.name)' without a value",
                    "Give it a default value, or set it in all objects with the former version of the model first.")
            }
        }
    }

    /// Whether an attribute requires a value that rows without it do not get. The inference checks
    /// elements of composite attributes.
    private static func needsValue(_ slot: PropertySlot) -> Bool {
        guard let attribute = slot.attribute, slot.isStored, !slot.isOptional, !slot.isElement, !slot.isDerived else {
            return false
        }
        return attribute.defaultValue == nil && attribute.valueForExistingRows == nil
    }

    // MARK: Constraints

    func uniqueness() -> [Uniqueness] {
        let schema = SQLSchema(mapping: plan.target)
        var checks: [Uniqueness] = []
        for table in plan.target.tables {
            for entity in table.family {
                for constraint in entity.layout.entity.uniquenessConstraintNames {
                    guard let columns = schema.columnNames(of: constraint, in: entity) else { continue }
                    let list = columns.map(dialect.identifier).joined(separator: ", ")
                    let present = columns.map { dialect.identifier($0) + " IS NOT NULL" }.joined(separator: " AND ")
                    checks.append(
                        Uniqueness(
                            statement:
                                "SELECT count(*), \(list) FROM \(dialect.identifier(table.name)) WHERE \(present) "
                                + "GROUP BY \(list) HAVING count(*) > 1 LIMIT 5", columnCount: columns.count
                        ) { examples in
                            CoreDataErrors.make(
                                .migrationConstraintViolation,
                                "The store \(store) cannot be migrated: objects of '\(entity.layout.name)' share "
                                    + "values of "
                                    + "\(constraint.joined(separator: ", ")), which must be unique now: " + examples,
                                recovery:
                                    "Make the values different with the former version of the model, or leave the "
                                    + "constraint out.",
                                userInfo: userInfo.merging(["entity": entity.layout.name, "constraint": constraint]) {
                                    $1
                                })
                        })
                }
            }
        }
        return checks
    }

    // MARK: Objects

    /// Returns the check for objects with several owners; nil where the copy may remove all owners
    /// but one.
    ///
    /// A to-many relationship without an inverse is stored as one key in each destination's row.
    func owners(_ copy: SQLHiddenKeyCopy) -> Count? {
        if copy.mayLoseOwners { return nil }
        return Count(statement: copy.sharedRows) { count in
            let names = copy.relationship.split(separator: ".", maxSplits: 1).map(String.init)
            return invalid(
                names.first ?? "", names.last, count,
                "The to-many relationship has no inverse now, so that an object can be in it for one owner only, and "
                    + "objects have several",
                "Give the relationship a to-many inverse.")
        }
    }

    /// Returns the checks for objects without the objects that a relationship requires now.
    func requiredRelationships() -> [Count] {
        let key = dialect.identifier(naming.key)
        var checks: [Count] = []
        for case let entity? in plan.target.entities where !entity.layout.isAbstract {
            for slot in entity.layout.slots {
                guard let relationship = slot.relationship, !slot.isOptional, !slot.isTransient else { continue }
                // A save also accepts an empty to-many relationship without a minimum count.
                if slot.kind.isToMany, relationship.minCount == 0 { continue }
                if keepsObjects(relationship, of: entity) { continue }
                let missing: String
                if let column = entity.columns[slot.index] {
                    missing = "t.\(dialect.identifier(column.name)) IS NULL"
                } else if case .inverse(let column, let destination, _)? = entity.toMany[slot.index] {
                    missing =
                        "NOT EXISTS (SELECT 1 FROM \(dialect.identifier(destination.table.name)) d "
                        + "WHERE d.\(dialect.identifier(column.name)) = t.\(key))"
                } else if case .join(let join, let isFirst)? = entity.toMany[slot.index] {
                    missing =
                        "NOT EXISTS (SELECT 1 FROM \(dialect.identifier(join.name)) d "
                        + "WHERE d.\(dialect.identifier(join.ownerColumn(isFirst: isFirst))) = t.\(key))"
                } else {
                    continue
                }
                var condition = SQLText(missing)
                if let own = own(entity, alias: "t") { condition = own + " AND " + condition }
                let rows = "SELECT count(*) FROM \(dialect.identifier(entity.table.name)) t WHERE " + condition
                checks.append(required(relationship, of: entity, missing: rows.statement(dialect)))
            }
        }
        return checks
    }

    /// Returns the check that objects keep a relationship that they require; nil where they may
    /// lose it.
    func required(_ links: SQLMigrationPlan.OneWayLinks) -> Count? {
        if plan.isPart || links.relationship.isOptional { return nil }
        return required(links.relationship, of: links.entity, missing: links.count)
    }

    private func required(
        _ relationship: NSRelationshipDescription, of entity: SQLEntity, missing: SQLStatement
    ) -> Count {
        Count(statement: missing) { count in
            invalid(
                entity.layout.name, relationship.name, count,
                "The relationship is required, and objects would lack it",
                "Make it optional, or set it with the former version of the model first.")
        }
    }

    /// Whether a relationship was already required of an entity's objects, and loses none of its
    /// destinations.
    private func keepsObjects(_ relationship: NSRelationshipDescription, of entity: SQLEntity) -> Bool {
        guard case .relationship(let former)? = plan.inference.links[ObjectIdentifier(relationship)],
            !former.isOptional,
            !former.isToMany || former.minCount > 0, let source = plan.members[entity.layout.index]?.source,
            let slot = source.layout.slotByName[former.name], source.layout.slots[slot].relationship === former,
            let destination = former.destinationEntity, let newDestination = relationship.destinationEntity
        else { return false }
        return !SQLMigrationPlan.Ends(destination, newDestination, plan).losesObjects
    }

    /// Returns the condition of an entity's own rows; nil where its table has no other rows.
    private func own(_ entity: SQLEntity, alias: String?) -> SQLText? {
        guard let column = entity.table.entityColumn else { return nil }
        return SQLText((alias.map { $0 + "." } ?? "") + dialect.identifier(column) + " = ")
            + SQLText(value: .integer(Int64(entity.number)), kind: .int64)
    }

    private func invalid(_ entity: String, _ property: String?, _ count: Int64, _ reason: String, _ advice: String)
        -> NSError
    {
        var entries = userInfo.merging(["entity": entity, "reason": reason]) { $1 }
        entries["property"] = property
        return CoreDataErrors.make(
            .migration,
            "The store \(store) cannot be migrated: \(property.map { "\(entity).\($0)" } ?? entity): \(reason) "
                + "(\(count == 1 ? "1 object" : "\(count) objects")).", recovery: advice, userInfo: entries)
    }
}
