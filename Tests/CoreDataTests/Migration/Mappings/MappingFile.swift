import CoreData
import TestSupport

/// A mapping model as Xcode saves it, and within it the models that it was made for, compiled.
struct MappingFile {
    /// What one entity mapping says; the rest is left to the compiler.
    struct Mapping {
        var source: String?
        var destination: String?
        var policy: String?
        var name: String?
        var attributes: [String] = []
        var relationships: [String] = []
    }

    let url: URL

    /// Makes `NAME.xcmappingmodel` in a folder.
    init(
        _ mappings: [Mapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        in folder: URL, named name: String = "Mapping"
    ) throws {
        url = folder.appendingPathComponent("\(name).xcmappingmodel")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try source.archivedModel().write(to: url.appendingPathComponent("Former.mom"))
        try destination.archivedModel().write(to: url.appendingPathComponent("New.mom"))
        let text = Self.text(mappings)
        try Data(text.utf8).write(to: url.appendingPathComponent("xcmapping.xml"))
    }

    private static func text(_ mappings: [Mapping]) -> String {
        var objects: [String] = []
        func add(_ type: String, _ attributes: [String: String?], _ relationships: [String: [Int]] = [:]) -> Int {
            let id = 102 + objects.count
            let texts = attributes.compactMapValues { $0 }.map { name, value in
                "<attribute name=\"\(name)\" type=\"string\">\(value)</attribute>"
            }
            let related = relationships.map { name, ids in
                let list = ids.map { "z\($0)" }.joined(separator: " ")
                return
                    "<relationship name=\"\(name)\" type=\"0/0\" destination=\"X\" idrefs=\"\(list)\"></relationship>"
            }
            objects.append(
                "<object type=\"\(type)\" id=\"z\(id)\">\((texts + related).joined(separator: "\n"))</object>")
            return id
        }
        let ids = mappings.enumerated().map { number, mapping in
            let attributes = mapping.attributes.map { add("XDDEVATTRIBUTEMAPPING", ["name": $0]) }
            let relationships = mapping.relationships.map {
                add("XDDEVRELATIONSHIPMAPPING", ["name": $0, "autogenerateexpression": "1"])
            }
            return add(
                "XDDEVENTITYMAPPING",
                [
                    "sourcename": mapping.source, "destinationname": mapping.destination,
                    "migrationpolicyclassname": mapping.policy, "name": mapping.name,
                    "mappingnumber": "\(number + 1)", "mappingtypename": "Undefined",
                ], ["attributemappings": attributes, "relationshipmappings": relationships])
        }
        _ = add(
            "XDDEVMAPPINGMODEL",
            [
                "sourcemodelpath": "Project/Former.xcdatamodel",
                "destinationmodelpath": "Project/New.xcdatamodel",
            ], ["entitymappings": ids.reversed()])
        return "<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">\n\n"
            + "<database>\n\(objects.joined(separator: "\n"))\n</database>\n"
    }
}

/// A folder beside the program in which it looks for resources, removed when the test lets go of
/// it.
final class ResourceFolder {
    let url: URL

    init() throws {
        let program = Bundle.main.executableURL?.deletingLastPathComponent() ?? Bundle.main.bundleURL
        url = program.appendingPathComponent("Mappings-\(UUID().uuidString).resources")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}
