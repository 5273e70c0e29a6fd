import CoreData

/// The differences between two versions of a model.
struct ModelDifferences {
    /// The way from a store of the old version to one of the new version.
    enum Migration: Equatable {
        /// The version hashes are the same.
        case none
        /// A mapping can be inferred. The lines say what it does to each entity.
        case light([String])
        /// No mapping can be inferred, for these reasons.
        case custom([String])
    }

    let oldName: String
    let newName: String
    let changes: [ModelChange]
    let migration: Migration

    var isEmpty: Bool { changes.isEmpty && migration == .none }

    init(from old: NamedModel, to new: NamedModel) throws {
        (oldName, newName) = (old.name, new.name)
        let (before, after) = (try ModelSchema(old), try ModelSchema(new))
        changes = Self.entities(from: before.entities, to: after.entities) + Self.rest(from: before, to: after)
        migration = Self.migration(from: old.model, to: new.model)
    }

    // MARK: Changes

    private static func entities(from old: [EntitySchema], to new: [EntitySchema]) -> [ModelChange] {
        let pairs = ModelChange.pairs(
            from: old.map { ($0.name, $0.renamingIdentifier) }, to: new.map { ($0.name, $0.renamingIdentifier) })
        let kept = Set(pairs.compactMap { $0 })
        let removed = old.indices.filter { !kept.contains($0) }
        return removed.map { whole(.removed, old[$0]) }
            + zip(new, pairs).compactMap { entity, pair in
                guard let pair else { return whole(.added, entity) }
                return change(from: old[pair], to: entity)
            }
    }

    private static func whole(_ kind: ModelChange.Kind, _ entity: EntitySchema) -> ModelChange {
        let names = entity.properties.map(\.name).joined(separator: ", ")
        let details = entity.facts.map(\.phrase) + (names.isEmpty ? [] : ["with \(names)"])
        return ModelChange(kind: kind, part: "entity", name: entity.name, details: details)
    }

    private static func change(from old: EntitySchema, to new: EntitySchema) -> ModelChange? {
        let members =
            properties(from: old.properties, to: new.properties)
            + ModelChange.differences(
                in: "index", from: old.indexes.map { ($0.name, $0.text) }, to: new.indexes.map { ($0.name, $0.text) })
            + ModelChange.differences(
                in: "uniqueness constraint", from: constraints(of: old), to: constraints(of: new))
        return change(
            "entity", old.name, new.name, SchemaFact.differences(from: old.facts, to: new.facts), members)
    }

    private static func constraints(of entity: EntitySchema) -> [(name: String, text: String)] {
        entity.uniquenessConstraints.map { ($0.joined(separator: ", "), "") }
    }

    private static func change(
        _ part: String, _ oldName: String, _ name: String, _ details: [String], _ members: [ModelChange] = []
    ) -> ModelChange? {
        let isRenamed = oldName != name
        if !isRenamed, details.isEmpty, members.isEmpty { return nil }
        return ModelChange(
            kind: isRenamed ? .renamed : .changed, part: part, name: name, oldName: isRenamed ? oldName : nil,
            details: details, members: members)
    }

    private static func properties(from old: [PropertySchema], to new: [PropertySchema]) -> [ModelChange] {
        let pairs = ModelChange.pairs(
            from: old.map { ($0.name, $0.renamingIdentifier) }, to: new.map { ($0.name, $0.renamingIdentifier) })
        let kept = Set(pairs.compactMap { $0 })
        let removed = old.indices.filter { !kept.contains($0) }
        func whole(_ kind: ModelChange.Kind, _ property: PropertySchema) -> ModelChange {
            let phrases = ([property.type.text] + property.facts.map(\.phrase)).filter { !$0.isEmpty }
            return ModelChange(
                kind: kind, part: property.kind.rawValue, name: property.name,
                details: [phrases.joined(separator: ", ")])
        }
        return removed.map { whole(.removed, old[$0]) }
            + zip(new, pairs).compactMap { property, pair in
                guard let pair else { return whole(.added, property) }
                let before = old[pair]
                let kinds = before.kind == property.kind ? [] : ["was \(before.kind.rawValue)"]
                let facts = SchemaFact.differences(
                    from: [before.type] + before.facts, to: [property.type] + property.facts)
                return change(
                    property.kind.rawValue, before.name, property.name, kinds + facts,
                    properties(from: before.elements, to: property.elements))
            }
    }

    /// Differences of the model itself.
    private static func rest(from old: ModelSchema, to new: ModelSchema) -> [ModelChange] {
        func configurations(_ model: ModelSchema) -> [(name: String, text: String)] {
            model.configurations.map { ($0.name, $0.entities.joined(separator: ", ")) }
        }
        func requests(_ model: ModelSchema) -> [(name: String, text: String)] {
            model.fetchRequests.map { ($0.name, $0.entity + ($0.predicate.map { " where \($0)" } ?? "")) }
        }
        func identifiers(_ model: ModelSchema) -> [(name: String, text: String)] {
            model.versionIdentifiers.map { ($0, "") }
        }
        return ModelChange.differences(in: "configuration", from: configurations(old), to: configurations(new))
            + ModelChange.differences(in: "fetch request", from: requests(old), to: requests(new))
            + ModelChange.differences(in: "version identifier", from: identifiers(old), to: identifiers(new))
    }

    // MARK: Migration

    private static func migration(from old: NSManagedObjectModel, to new: NSManagedObjectModel) -> Migration {
        if old.entityVersionHashesByName == new.entityVersionHashesByName { return .none }
        do {
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
            let changes = StoreMigrationPlan.EntityChange.changes(
                by: mapping.entityMappings ?? [], areInferred: true)
            return .light(changes.map(\.description))
        } catch {
            let details = (error as NSError).userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
            return .custom(details.isEmpty ? [ErrorText.line(error)] : details.map(ErrorText.line))
        }
    }

    // MARK: Writing

    func lines(_ style: TextStyle) -> [String] {
        let title = style.heading(DisplayWidth.printable("\(oldName) → \(newName)"))
        if isEmpty { return [title, "The models are equal."] }
        let list = changes.flatMap { $0.lines(style) }
        return [title] + list + migrationLines
    }

    private var migrationLines: [String] {
        switch migration {
        case .none: ["A store of the old version needs no migration: the version hashes are the same."]
        case .light(let changes):
            ["A store of the old version can be migrated lightly: the mapping can be inferred."]
                + changes.map { "    " + DisplayWidth.printable($0) }
        case .custom(let reasons):
            ["A store of the old version cannot be migrated lightly:"]
                + reasons.map { "    " + DisplayWidth.printable($0) }
        }
    }

    var json: JSONValue {
        let (kind, entities, reasons): (String, [String], [String]) =
            switch migration {
            case .none: ("none", [], [])
            case .light(let entities): ("light", entities, [])
            case .custom(let reasons): ("custom", [], reasons)
            }
        return .object([
            .init("old", .string(oldName)), .init("new", .string(newName)), .init("isEqual", .bool(isEmpty)),
            .init("changes", .array(changes.map(\.json))), .init("migration", .string(kind)),
            .init("entities", .array(entities.map { .string($0) })),
            .init("reasons", .array(reasons.map { .string($0) })),
        ])
    }
}
