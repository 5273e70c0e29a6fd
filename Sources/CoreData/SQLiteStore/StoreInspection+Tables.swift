import Foundation

extension StoreInspection {
    /// A table with the rows of an entity and its subentities.
    package struct EntityTable: Sendable {
        package struct Entity: Sendable {
            package let name: String
            /// The `Z_ENT` of its rows.
            package let number: Int
            package let superNumber: Int
            package let isAbstract: Bool
        }

        package let name: String
        /// The entities of the table, the root first.
        package let entities: [Entity]
        package let cells: [Cell]
        /// All columns that reading needs, in order.
        package let columns: [String]
    }

    /// A column with the values of one property.
    package struct Cell: Sendable {
        package enum Content: Sendable {
            case integer(bits: Int)
            case boolean
            case number
            case date
            case decimal
            case text
            case uuid
            case bytes(isExternal: Bool)
            /// A key of a row in the named table.
            case key(table: String?)
        }

        package let column: String
        /// The entity that declares the property.
        package let entity: String
        package let property: String
        package let content: Content
    }

    /// A join table of a many-to-many relationship.
    package struct JoinTable: Sendable {
        package let name: String
        package let entity: String
        package let relationship: String
        package let columns: [String]
    }

    /// The rows that hold the pairs of a to-many relationship.
    package struct ToManyLink: Sendable {
        package let entity: String
        package let relationship: String
        /// The table of the destination with a key of the owner, or a join table.
        package let table: String
        package let ownerColumn: String
        package let memberColumn: String
        /// The position of a member, of an ordered relationship.
        package let orderColumn: String?
        /// The table of the destination.
        package let memberTable: String
    }

    /// Returns the tables in which a store of this model keeps its rows. The model cannot be
    /// changed afterwards.
    ///
    /// - Parameters:
    ///   - columns: the existing tables, each with its columns.
    ///   - numbers: the entity numbers in `Z_PRIMARYKEY`.
    ///   - configuration: the configuration whose entities the store holds; nil for all.
    /// - Throws: an error that names a property without a column.
    package static func tables(
        of model: NSManagedObjectModel, columns: [String: [String]], numbers: [String: Int],
        configuration: String? = nil
    ) throws -> (entities: [EntityTable], joins: [JoinTable], links: [ToManyLink]) {
        let names = Set((model.heldEntities(forConfigurationName: configuration)?.entities ?? []).compactMap(\.name))
        let mapping = try SQLMapping(layouts: model.layout(), SQLiteDialect(), CoreDataNaming(), numbers: numbers) {
            names.contains($0.name)
        }
        mapping.adjust(to: columns)
        let entities = mapping.tables.map { table in
            EntityTable(
                name: table.name, entities: table.family.map { entity($0, in: mapping) },
                cells: table.columns.map { cell($0, of: table, in: mapping) }, columns: table.allColumnNames)
        }
        let joins = mapping.joinTables.map { join in
            JoinTable(
                name: join.name, entity: join.firstRelationship.owningEntity?.name ?? "",
                relationship: join.firstRelationship.name,
                columns: join.columnNames)
        }
        return (entities, joins, mapping.entities.compactMap { $0 }.flatMap(links))
    }

    private static func links(of entity: SQLEntity) -> [ToManyLink] {
        entity.layout.slots.compactMap { slot in
            switch entity.toMany[slot.index] {
            case .inverse(let column, of: let destination, let isOrdered):
                return ToManyLink(
                    entity: entity.layout.name, relationship: slot.name, table: destination.table.name,
                    ownerColumn: column.name, memberColumn: destination.table.keyColumn,
                    orderColumn: isOrdered ? column.orderColumn : nil, memberTable: destination.table.name)
            case .join(let join, let isFirst):
                return ToManyLink(
                    entity: entity.layout.name, relationship: slot.name, table: join.name,
                    ownerColumn: join.ownerColumn(isFirst: isFirst),
                    memberColumn: join.destinationColumn(isFirst: isFirst),
                    orderColumn: join.orderColumn(isFirst: isFirst),
                    memberTable: isFirst ? join.destination.table.name : join.owner.table.name)
            case nil: return nil
            }
        }
    }

    private static func entity(_ entity: SQLEntity, in mapping: SQLMapping) -> EntityTable.Entity {
        let parent = entity.layout.superIndex >= 0 ? mapping.entities[entity.layout.superIndex]?.number : nil
        return EntityTable.Entity(
            name: entity.layout.name, number: entity.number, superNumber: parent ?? 0,
            isAbstract: entity.layout.entity.isAbstract)
    }

    private static func cell(_ column: SQLColumn, of table: SQLTable, in mapping: SQLMapping) -> Cell {
        Cell(
            column: column.name, entity: column.property.owningEntity?.name ?? table.root.name,
            property: column.propertyName,
            content: content(of: column, in: mapping))
    }

    private static func content(of column: SQLColumn, in mapping: SQLMapping) -> Cell.Content {
        switch column.kind {
        case .int16: return .integer(bits: 16)
        case .int32: return .integer(bits: 32)
        case .int64: return .integer(bits: 64)
        case .boolean: return .boolean
        case .double, .float: return .number
        case .date: return .date
        case .decimal: return .decimal
        case .string, .uri: return .text
        case .uuid: return .uuid
        case .toOne:
            let relationship = column.property as? NSRelationshipDescription
            // A hidden key leads to the owner of the relationship.
            let target = column.isHiddenKey ? relationship?.owningEntity : relationship?.destinationEntity
            let entity = target?.name.flatMap { mapping.layouts.layoutByName[$0] }.flatMap { mapping.entity($0) }
            return .key(table: entity?.table.name)
        case .data, .json, .transformable, .composite, .toMany, .orderedToMany, .fetched, .undefined:
            return .bytes(isExternal: column.allowsExternalStorage)
        }
    }
}
