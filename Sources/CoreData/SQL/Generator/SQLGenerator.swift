import Foundation

/// Turns predicates, sort descriptors and expressions into SQL for a mapping.
///
/// One generator makes one statement. A part that SQL cannot express is refused with an error that
/// names it; no part is ever left out.
package final class SQLGenerator {
    let mapping: SQLMapping
    let store: AnyObject
    private var aliasCount = 0
    /// Finds a result column by name. It is set while conditions and orders that may name one are
    /// generated.
    var resultColumn: ((String) -> SQLTerm?)?
    /// Whether the current part has so many constants that the database must not collect them,
    /// because it would compare each with all others.
    var isOfManyConstants = false

    var dialect: any SQLDialect { mapping.dialect }

    package init(mapping: SQLMapping, store: AnyObject) {
        self.mapping = mapping
        self.store = store
    }

    func newAlias() -> String {
        defer { aliasCount += 1 }
        return "t\(aliasCount)"
    }

    func newScope(_ entity: SQLEntity) -> SQLScope { SQLScope(alias: newAlias(), entity: entity, dialect) }

    /// Returns a column of a table under an alias.
    func column(_ alias: String, _ name: String) -> String { "\(alias).\(dialect.identifier(name))" }

    /// Returns the key column of an entity's table under an alias.
    func key(_ alias: String, of entity: SQLEntity) -> String { column(alias, entity.table.keyColumn) }

    /// Returns the key column of a scope's rows.
    func key(_ scope: SQLScope) -> String { key(scope.alias, of: scope.entity) }

    /// Returns the mapping of an entity that a request names.
    func entity(_ layout: EntityLayout) throws -> SQLEntity { try mapping.requiredEntity(layout) }

    /// Returns the FROM and WHERE clauses of a scope.
    func source(
        _ scope: SQLScope, where conditions: [SQLText?], includesSubentities: Bool
    ) -> SQLText {
        var all: [SQLText] = []
        if let limit = mapping.entityCondition(
            scope.entity, alias: scope.alias, includesSubentities: includesSubentities)
        {
            all.append(SQLText(limit))
        }
        all += conditions.compactMap { $0 }
        let from = " FROM \(dialect.identifier(scope.entity.table.name)) \(scope.alias)\(scope.joins)"
        if all.isEmpty { return SQLText(from) }
        return from + " WHERE " + SQLText.joined(all, by: " AND ")
    }

    // MARK: Key paths

    /// The target of a key path.
    enum Destination {
        case column(alias: String, column: SQLColumn, slot: PropertySlot)
        /// A composite attribute, or one within it.
        case composite(alias: String, CompositeLayout, entity: SQLEntity)
        /// A row itself: SELF, or an object variable.
        case row(alias: String, entity: SQLEntity)
        /// The entity of a row, or the entity's name.
        case entity(alias: String, entity: SQLEntity, isName: Bool)
        /// `name.length`, where `name` is a text. SQL supports this property of an attribute's
        /// value, and the next one.
        case length(alias: String, column: SQLColumn)
        /// `number.stringValue`.
        case numberText(alias: String, column: SQLColumn, slot: PropertySlot)
        /// A to-many relationship of the row with a given key, and the rest of the path.
        case toMany(ownerKey: String, owner: SQLEntity, slot: PropertySlot, mapping: SQLToMany, rest: [String])
    }

    func resolve(_ path: [String], in scope: SQLScope, _ context: RequestPart) throws -> Destination {
        var alias = scope.alias
        var entity = scope.entity
        var walked = ""
        var index = 0
        while index < path.count {
            let name = path[index]
            if name == "self" || name == "SELF" || name == "objectID" {
                index += 1
                if index == path.count { break }
                continue
            }
            let rest = path[(index + 1)...]
            if name == "entity", entity.layout.slotByName[name] == nil, rest.isEmpty || rest == ["name"] {
                return .entity(alias: alias, entity: entity, isName: !rest.isEmpty)
            }
            // A property of a subentity is found in the same table.
            let found =
                try entity.layout.slotByName[name].map { (slot: $0, entity: entity) }
                ?? subentitySlot(name, of: entity, context)
            guard let (slotIndex, owner) = found else {
                throw refuse(context, "the entity '\(entity.layout.name)' has no property '\(name)'")
            }
            let slot = owner.layout.slots[slotIndex]
            let isLast = index + 1 == path.count
            if let toMany = owner.toMany[slotIndex] {
                return .toMany(
                    ownerKey: key(alias, of: owner), owner: owner, slot: slot, mapping: toMany,
                    rest: Array(path[(index + 1)...]))
            }
            if slot.composite != nil {
                return try element(Array(path[index...]), of: owner, alias: alias, context)
            }
            guard let column = owner.columns[slotIndex] else {
                throw refuse(
                    context,
                    "'\(name)' of entity '\(owner.layout.name)' is "
                        + (slot.isTransient ? "transient" : "not kept in a column")
                        + ", so a \(dialect.storeName) store knows nothing of it")
            }
            if isLast { return .column(alias: alias, column: column, slot: slot) }
            guard slot.kind == .toOne, let destination = mapping.entities[slot.destinationIndex] else {
                if let property = Self.property(path[(index + 1)...], ofValueIn: slot, column, alias) {
                    return property
                }
                throw refuse(
                    context, "'\(name)' of entity '\(owner.layout.name)' is an attribute and has no properties")
            }
            if index + 2 == path.count, ["self", "SELF", "objectID"].contains(path[index + 1]) {
                return .column(alias: alias, column: column, slot: slot)
            }
            walked += "." + name
            guard let next = scope.join(path: walked, from: alias, column: column, to: destination, newAlias: newAlias)
            else {
                throw refuse(
                    context.text.count > 300 ? "\(context.text.prefix(300))…" : context.text,
                    "\(dialect.storeName) joins at most \(dialect.limits.joins + 1) tables, which this many "
                        + "relationships in key paths go beyond"
                )
            }
            (alias, entity) = next
            index += 1
        }
        return .row(alias: alias, entity: entity)
    }

    /// Returns a property of an attribute's value; nil where SQL has none.
    private static func property(
        _ names: ArraySlice<String>, ofValueIn slot: PropertySlot, _ column: SQLColumn, _ alias: String
    ) -> Destination? {
        switch names {
        case ["length"] where slot.kind == .string: .length(alias: alias, column: column)
        case ["stringValue"] where slot.kind.isNumber || slot.kind == .boolean:
            .numberText(alias: alias, column: column, slot: slot)
        default: nil
        }
    }

    /// Returns the composite attribute, or its element, that a list of names refers to.
    private func element(_ names: [String], of owner: SQLEntity, alias: String, _ context: RequestPart) throws
        -> Destination
    {
        let layout = owner.layout
        if let composite = layout.composite(at: names) { return .composite(alias: alias, composite, entity: owner) }
        if let slot = layout.slotByPath[names.joined(separator: ".")], let column = owner.columns[slot] {
            return .column(alias: alias, column: column, slot: layout.slots[slot])
        }
        if let slot = layout.slotByPath[names.dropLast().joined(separator: ".")], let column = owner.columns[slot],
            let property = Self.property(names.suffix(1), ofValueIn: layout.slots[slot], column, alias)
        {
            return property
        }
        throw refuse(
            context,
            "the composite attribute '\(names[0])' has no element '\(names.dropFirst().joined(separator: "."))'")
    }

    /// Returns a property that only subentities have; predicates on the superentity may use it.
    ///
    /// - Throws: when several subentities have properties of this name in different columns.
    private func subentitySlot(
        _ name: String, of entity: SQLEntity, _ context: RequestPart
    ) throws -> (slot: Int, entity: SQLEntity)? {
        var found: (slot: Int, entity: SQLEntity)?
        for index in entity.layout.familyIndexes {
            guard let candidate = mapping.entities[index], let slot = candidate.layout.slotByName[name] else {
                continue
            }
            guard let first = found else {
                found = (slot, candidate)
                continue
            }
            // A property that a subentity redeclares uses the superentity's column.
            let isSameColumn = Self.sharesColumns(candidate, slot, first.entity, first.slot)
            guard
                isSameColumn || first.entity.layout.slots[first.slot].property === candidate.layout.slots[slot].property
            else {
                throw refuse(
                    context,
                    "'\(name)' is a property of '\(first.entity.layout.name)' and another one of "
                        + "'\(candidate.layout.name)': "
                        + "fetch one of them")
            }
        }
        return found
    }

    /// Whether a property of two entities of one table is stored in the same columns.
    private static func sharesColumns(_ first: SQLEntity, _ firstSlot: Int, _ second: SQLEntity, _ secondSlot: Int)
        -> Bool
    {
        func columns(_ entity: SQLEntity, _ slot: Int) -> [SQLColumn] {
            (entity.layout.slots[slot].composite?.slots ?? [slot]).compactMap { entity.columns[$0] }
        }
        let columns = (columns(first, firstSlot), columns(second, secondSlot))
        return !columns.0.isEmpty && columns.0.elementsEqual(columns.1, by: ===)
    }

    // MARK: Errors

    /// Returns the dialect's result for a part of a request; throws its refusal as an error that
    /// names the part.
    func said<Result>(_ context: RequestPart, _ say: () throws(SQLRefusal) -> Result) throws -> Result {
        do {
            return try say()
        } catch {
            throw refuse(context, error.reason)
        }
    }

    func refuse(_ part: RequestPart, _ reason: String) -> NSError { refuse(part.text, reason) }

    func refuse(_ part: String, _ reason: String) -> NSError {
        CoreDataErrors.unanswerable(
            part, by: "\(dialect.storeName) store", reason, advice: "Change the request, or filter and sort in memory.")
    }
}

/// A part of a request, for error messages. Its text is made only for an error, because it may have
/// thousands of elements.
enum RequestPart: ExpressibleByStringInterpolation {
    case words(String)
    case predicate(NSPredicate)

    init(stringLiteral value: String) { self = .words(value) }

    var text: String {
        switch self {
        case .words(let text): text
        case .predicate(let predicate): predicate.predicateFormat
        }
    }
}
