import CoreData

/// Makes JSON objects of managed objects and what is behind their relationships.
///
/// An object that contains itself ends there with its identity.
struct ObjectTree {
    private let model: StoreModel
    private let counts: ToManyCounts

    init(_ model: StoreModel, in context: NSManagedObjectContext) {
        self.model = model
        counts = ToManyCounts(in: context)
    }

    /// Returns what a relationship of an object leads to: an array, or for a to-one relationship an
    /// object or null.
    func json(_ expansion: Expansion, of object: NSManagedObject) throws -> JSONValue {
        try json(
            expansion.relationship, of: object, levels: expansion.depth, open: [object.objectID],
            chosen: expansion.chosen)
    }

    private func json(
        _ relationship: NSRelationshipDescription, of object: NSManagedObject, levels: Int,
        open: Set<NSManagedObjectID>, chosen: [QueryColumn]? = nil
    ) throws -> JSONValue {
        let objects = Expansion.members(of: object, relationship.name)
        // The last level shows counts; those before it show the members.
        if levels == 1 { try counts.load(objects) }
        let members = try objects.map { member -> JSONValue in
            // A reference to a row that is not there stays a reference.
            guard !open.contains(member.objectID), Self.exists(member) else { return CellValue(member.objectID).json }
            return try json(of: member, levels: levels, open: open.union([member.objectID]), chosen: chosen)
        }
        return relationship.isToMany ? .array(members) : members.first ?? .null
    }

    private func json(
        of object: NSManagedObject, levels: Int, open: Set<NSManagedObjectID>, chosen: [QueryColumn]?
    ) throws -> JSONValue {
        let columns = chosen ?? QueryColumn.all(of: object.entity, model: model)
        return .object(
            try columns.map { column in
                guard levels > 1, let relationship = object.entity.relationshipsByName[column.name] else {
                    return JSONValue.Member(column.name, column.value(of: object, counts: counts).json)
                }
                return JSONValue.Member(
                    column.name, try json(relationship, of: object, levels: levels - 1, open: open))
            })
    }

    /// Whether the row of an object is there.
    static func exists(_ object: NSManagedObject) -> Bool {
        guard object.isFault else { return true }
        return (try? object.managedObjectContext?.existingObject(with: object.objectID)) != nil
    }
}

/// Rows of a query whose relationships are shown as nested JSON.
struct NestedRows: ResultRows {
    private let rows: QueryRows
    private let expansions: [Expansion]
    private let tree: ObjectTree
    let columns: [QueryColumn]

    init(_ rows: QueryRows, _ expansions: [Expansion], _ model: StoreModel) {
        self.rows = rows.loading(expansions)
        self.expansions = expansions
        tree = ObjectTree(model, in: rows.context)
        columns = rows.columns + expansions.map { QueryColumn(name: $0.name, source: .toMany) }
    }

    func forEach(_ body: ([CellValue]) throws -> Void) throws -> ResultOutcome {
        try rows.forEachObject { object, row in
            try body(row + expansions.map { .structure(try tree.json($0, of: object)) })
        }
    }
}

/// Rows of a query that are repeated for each member of its relationships, as a join does.
///
/// Members of different relationships stand in different rows: nothing says that they belong
/// together.
struct MemberRows: ResultRows {
    private let rows: QueryRows
    private let expansions: [Expansion]
    /// The columns of the members of each relationship.
    private let memberColumns: [[QueryColumn]]
    private let counts: ToManyCounts
    let columns: [QueryColumn]

    init(_ rows: QueryRows, _ expansions: [Expansion], _ model: StoreModel) {
        self.rows = rows.loading(expansions)
        self.expansions = expansions
        let memberColumns = expansions.map { $0.chosen ?? Self.columns(behind: $0, model) }
        self.memberColumns = memberColumns
        counts = ToManyCounts(in: rows.context)
        columns =
            rows.columns
            + zip(expansions, memberColumns).flatMap { expansion, columns in
                columns.map { QueryColumn(name: "\(expansion.name).\($0.name)", source: $0.source) }
            }
    }

    /// Returns all columns of the members but the one that leads back.
    private static func columns(behind expansion: Expansion, _ model: StoreModel) -> [QueryColumn] {
        guard let destination = expansion.relationship.destinationEntity else { return [] }
        return QueryColumn.all(of: destination, model: model).filter {
            $0.name != expansion.relationship.inverseRelationship?.name
        }
    }

    func forEach(_ body: ([CellValue]) throws -> Void) throws -> ResultOutcome {
        var count = 0
        var outcome = try rows.forEachObject { object, row in
            for members in try memberRows(of: object) {
                try body(row + members)
                count += 1
            }
        }
        outcome.count = count
        return outcome
    }

    /// Returns the cells behind those of the object itself: a row for each member of a to-many
    /// relationship, with the objects of to-one relationships in all of them.
    private func memberRows(of object: NSManagedObject) throws -> [[CellValue]] {
        var shared = memberColumns.map { columns in columns.map { _ in CellValue.null } }
        for (index, expansion) in expansions.enumerated() where !expansion.relationship.isToMany {
            for member in try countedMembers(expansion, of: object) { shared[index] = cells(of: member, index) }
        }
        var rows: [[CellValue]] = []
        for (index, expansion) in expansions.enumerated() where expansion.relationship.isToMany {
            for member in try countedMembers(expansion, of: object) {
                var row = shared
                row[index] = cells(of: member, index)
                rows.append(Array(row.joined()))
            }
        }
        return rows.isEmpty ? [Array(shared.joined())] : rows
    }

    private func countedMembers(_ expansion: Expansion, of object: NSManagedObject) throws -> [NSManagedObject] {
        let members = expansion.members(of: object)
        try counts.load(members)
        return members
    }

    private func cells(of member: NSManagedObject, _ index: Int) -> [CellValue] {
        let isThere = ObjectTree.exists(member)
        return memberColumns[index].map { column in
            if case .object = column.source { return CellValue(member.objectID) }
            return isThere ? column.value(of: member, counts: counts) : .null
        }
    }
}

extension QueryRows {
    /// The number of objects in memory at a time, if each brings others with it.
    private static let chunkSizeOfTrees = 100

    /// Returns the query with its objects' relationships loaded.
    fileprivate func loading(_ expansions: [Expansion]) -> QueryRows {
        var rows = self
        rows.prefetched = expansions.map(\.name)
        rows.chunkSize = Self.chunkSizeOfTrees
        return rows
    }
}
