import Foundation

/// Reads a mapping model as Xcode saves it (`xcmapping.xml`), and fills in what its compiler does.
struct MappingSourceReader {
    /// An object of the file: the values of its attributes and the numbers of related objects.
    private struct Row {
        let type: String
        let texts: [String: String]
        let related: [String: [Int64]]

        init(_ object: XMLStoreFile.Object) {
            type = object.type
            texts = Dictionary(object.attributes.map { ($0.name, $0.text) }) { first, _ in first }
            related = Dictionary(object.relationships.map { ($0.name, $0.keys) }) { first, _ in first }
        }

        func data(_ name: String) -> Data? {
            texts[name].flatMap { Data(base64Encoded: $0, options: .ignoreUnknownCharacters) }
        }
    }

    private let rows: [Int64: Row]
    private let source: NSManagedObjectModel
    private let destination: NSManagedObjectModel

    /// - Parameter url: The folder `NAME.xcmappingmodel`.
    /// - Throws: `ModelReadingError` when the file is damaged, or a model that it was made for is
    ///   not found.
    static func mappings(at url: URL) throws -> [NSEntityMapping] {
        let file = url.appendingPathComponent("xcmapping.xml")
        let objects = try XMLStoreFile(Data(contentsOf: file), file: file.path).objects
        let rows = Dictionary(objects.map { ($0.key, Row($0)) }) { first, _ in first }
        guard let root = rows.values.first(where: { $0.type == "XDDEVMAPPINGMODEL" }) else {
            throw ModelReadingError.damagedArchive("The file has no mapping model.")
        }
        return try MappingSourceReader(
            rows: rows, source: model("sourcemodel", of: root, near: url),
            destination: model("destinationmodel", of: root, near: url)
        ).mappings(of: root)
    }

    /// Reads a model that the mapping was made for: its file, or else the copy in the mapping
    /// model, which is as old as the last save of the mapping.
    ///
    /// The file is looked for in the folders above the mapping, the nearest first: there at the
    /// path that it had in the project, or at the end of that path.
    private static func model(_ name: String, of root: Row, near url: URL) throws -> NSManagedObjectModel {
        let path = (root.texts[name + "path"] ?? "").split(separator: "/").map(String.init)
        for depth in 0..<url.pathComponents.count {
            let folder = (0..<depth).reduce(url) { folder, _ in folder.deletingLastPathComponent() }
            for start in path.indices {
                for end in [path[start...].joined(separator: "/"), compiled(path[start...])] {
                    let file = folder.appendingPathComponent(end)
                    if FileManager.default.fileExists(atPath: file.path) {
                        return try NSManagedObjectModel(reading: file)
                    }
                }
            }
        }
        if let copy = root.data(name + "data") { return try EditorModelReader.model(from: copy) }
        throw ModelReadingError.missingModel(path.joined(separator: "/"))
    }

    /// Returns the path of a model's file in its compiled form.
    private static func compiled(_ path: ArraySlice<String>) -> String {
        path.map { part in
            let endings = ["xcdatamodeld": "momd", "xcdatamodel": "mom"]
            let name = URL(fileURLWithPath: part)
            return endings[name.pathExtension].map { "\(name.deletingPathExtension().lastPathComponent).\($0)" } ?? part
        }.joined(separator: "/")
    }

    private func related(_ name: String, of row: Row) -> [Row] { (row.related[name] ?? []).compactMap { rows[$0] } }

    private func mappings(of root: Row) throws -> [NSEntityMapping] {
        let rows = related("entitymappings", of: root).sorted { number(of: $0) < number(of: $1) }
        let mappings = rows.map(mapping)
        for (row, mapping) in zip(rows, mappings) {
            let source = mapping.sourceEntityName.flatMap { self.source.entitiesByName[$0] }
            mapping.attributeMappings = try related("attributemappings", of: row).map { property in
                try self.property(property) { name in
                    source.flatMap { NSPropertyMapping.copiedAttribute(name, of: $0) }
                }
            }
            mapping.relationshipMappings = try related("relationshipmappings", of: row).map { property in
                try self.property(property) { name in relatedInstances(name, of: source, mappings) }
            }
            mapping.attributeMappings?.sort { ($0.name ?? "") < ($1.name ?? "") }
            mapping.relationshipMappings?.sort { ($0.name ?? "") < ($1.name ?? "") }
        }
        return mappings
    }

    private func number(of row: Row) -> Int { row.texts["mappingnumber"].flatMap { Int($0) } ?? 0 }

    private func mapping(_ row: Row) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        let (sourceName, destinationName) = (row.texts["sourcename"], row.texts["destinationname"])
        mapping.name = row.texts["name"] ?? [sourceName, destinationName].compactMap { $0 }.joined(separator: "To")
        mapping.sourceEntityName = sourceName
        mapping.destinationEntityName = destinationName
        mapping.sourceEntityVersionHash = sourceName.flatMap { source.entitiesByName[$0]?.versionHash }
        mapping.destinationEntityVersionHash = destinationName.flatMap { destination.entitiesByName[$0]?.versionHash }
        mapping.entityMigrationPolicyClassName = row.texts["migrationpolicyclassname"]
        mapping.mappingType =
            if mapping.entityMigrationPolicyClassName != nil {
                .customEntityMappingType
            } else if sourceName == nil {
                .addEntityMappingType
            } else if destinationName == nil {
                .removeEntityMappingType
            } else if sourceName == destinationName {
                // Also of an entity that has changed, as a compiled file shows.
                .copyEntityMappingType
            } else {
                .transformEntityMappingType
            }
        mapping.userInfo = row.data("userinfodata").flatMap { Self.userInfo(in: $0) }
        return mapping
    }

    private static func userInfo(in data: Data) -> [AnyHashable: Any]? {
        guard let archive = try? ObjectArchive(data) else { return nil }
        return try? archive.plainValue(archive.root) as? [String: Any]
    }

    private func property(_ row: Row, made make: (String) -> NSExpression?) throws -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = row.texts["name"]
        if let data = row.data("valueexpressiondata") {
            mapping.valueExpression = try MappingArchiveReader.expression(in: data)
        } else if row.texts["autogenerateexpression"] != "0" {
            mapping.valueExpression = mapping.name.flatMap(make)
        }
        mapping.userInfo = row.data("userinfodata").flatMap { Self.userInfo(in: $0) }
        return mapping
    }

    /// Returns the expression that the compiler makes for a relationship: by the name of the only
    /// mapping of its objects, otherwise by all mappings of them.
    private func relatedInstances(
        _ name: String, of source: NSEntityDescription?, _ mappings: [NSEntityMapping]
    ) -> NSExpression? {
        guard let related = source?.relationshipsByName[name]?.destinationEntity else { return nil }
        let makers = mappings.filter { mapping in
            let maker = mapping.sourceEntityName.flatMap { self.source.entitiesByName[$0] }
            return mapping.destinationEntityName != nil && maker?.isKindOf(entity: related) == true
        }
        if makers.count == 1 { return NSPropertyMapping.instances(ofMapping: makers[0].name, relatedBy: name) }
        return NSPropertyMapping.relatedInstances(name)
    }
}
