import Foundation

/// An index of several numbers at once, such as the latitude and longitude of a place.
package struct SQLSpatialIndex {
    let entity: SQLEntity
    /// The name of the fetch index, or of the attribute that asks for it.
    let name: String
    /// One column for each dimension.
    let columns: [SQLColumn]
}

extension SQLSchema {
    /// The user info of a transient attribute that names the attributes which make its index.
    private static let componentsKey = "_NSLocationAttributeDerivedComponents"
    /// The most dimensions that an R-tree has.
    private static let mostDimensions = 5

    /// Returns the indexes of fetch indexes whose elements are all of the kind R-tree, and of
    /// attributes whose user info names components.
    func spatialIndexes() -> [SQLSpatialIndex] {
        mapping.tables.flatMap { table in
            table.family.flatMap { entity -> [SQLSpatialIndex] in
                let description = entity.layout.entity
                let listed = description.indexes.filter { index in
                    (index.entity == nil || index.entity === description)
                        && index.elements.allSatisfy { $0.collationType == .rTree }
                }.compactMap { spatialIndex(entity, $0.name, $0.elements.compactMap(\.propertyName)) }
                let derived = description.ownProperties.filter(\.isTransient).compactMap { property in
                    Self.components(of: property).flatMap { spatialIndex(entity, property.name, $0) }
                }
                return listed + derived
            }
        }
    }

    private static func components(of property: NSPropertyDescription) -> [String]? {
        switch property.userInfo?[componentsKey] {
        case let names as [String]: names
        case let list as String: list.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        default: nil
        }
    }

    /// Returns a spatial index; nil where an attribute has no column with numbers.
    private func spatialIndex(_ entity: SQLEntity, _ name: String, _ attributes: [String]) -> SQLSpatialIndex? {
        let columns = attributes.compactMap { name in entity.layout.slotByPath[name].flatMap { entity.columns[$0] } }
        let types: [SQLColumnType] = [.integer, .float, .timestamp, .decimal]
        guard (1...Self.mostDimensions).contains(columns.count), columns.count == attributes.count,
            columns.allSatisfy({ types.contains($0.type) && $0.kind != .toOne })
        else { return nil }
        return SQLSpatialIndex(entity: entity, name: name, columns: columns)
    }
}
