import CoreData
import TestSupport
import Testing

/// Mapping models in files, and how they are found.
struct MappingFileTests {
    let folder: TemporaryFolder
    private let former = Self.version(entity("Gone", text("name")))
    private let new = Self.version(entity("Added", text("name")), text("note"))

    init() throws { folder = try TemporaryFolder() }

    /// Teams of people, of whom some are managers; tags that stay as they are.
    private static func version(_ other: NSEntityDescription, _ extra: NSAttributeDescription...)
        -> NSManagedObjectModel
    {
        let (person, manager) = (entity("Person", text("name")), entity("Manager", number("level")))
        person.subentities = [manager]
        person.properties += extra
        let team = entity("Team", text("name"))
        relate(team, "members", toMany: true, person, inverse: "team")
        return model(team, person, manager, other, entity("Tag", text("name")))
    }

    private func file() throws -> MappingFile {
        try MappingFile(
            [
                MappingFile.Mapping(
                    source: "Person", destination: "Person", attributes: ["name", "note"], relationships: ["team"]),
                MappingFile.Mapping(
                    source: "Manager", destination: "Manager", policy: "SomePolicy",
                    attributes: ["level", "name", "note"],
                    relationships: ["team"]),
                MappingFile.Mapping(
                    source: "Team", destination: "Team", name: "T &amp; \\u3c00T", attributes: ["name"],
                    relationships: ["members"]),
                MappingFile.Mapping(source: "Gone"), MappingFile.Mapping(destination: "Added", attributes: ["name"]),
                MappingFile.Mapping(source: "Tag", destination: "Tag", attributes: ["name"]),
            ], from: former, to: new, in: folder.url)
    }

    @Test func theTypesAndNamesOfMappingsAreThoseOfTheCompiler() throws {
        let mapping = try NSMappingModel(reading: try file().url)
        #expect(
            mapping.entityMappings.map(\.name) == [
                "PersonToPerson", "ManagerToManager", "T & <T", "Gone", "Added", "TagToTag",
            ])
        #expect(
            mapping.entityMappings.map(\.mappingType) == [
                .copyEntityMappingType, .customEntityMappingType, .copyEntityMappingType,
                .removeEntityMappingType, .addEntityMappingType, .copyEntityMappingType,
            ])
        #expect(mapping.entityMappings[1].entityMigrationPolicyClassName == "SomePolicy")
        let person = mapping.entityMappings[0]
        #expect(person.sourceEntityVersionHash == former.entityVersionHashesByName["Person"])
        #expect(person.destinationEntityVersionHash == new.entityVersionHashesByName["Person"])
    }

    @Test func theExpressionsThatXcodeLeavesOutAreFilledIn() throws {
        let mappings = try NSMappingModel(reading: try file().url).entityMappingsByName
        func expression(_ mapping: String, _ name: String) -> String? {
            let all = (mappings[mapping]?.attributeMappings ?? []) + (mappings[mapping]?.relationshipMappings ?? [])
            return all.first { $0.name == name }?.valueExpression.map { "\($0)" }
        }
        #expect(expression("PersonToPerson", "name") == "$source.name")
        #expect(expression("PersonToPerson", "note") == nil)
        #expect(expression("Added", "name") == nil)
        #expect(
            expression("PersonToPerson", "team")
                == NSExpression(format: instances("T & <T", "team")).description)
        #expect(expression("T & <T", "members")?.contains("destinationInstancesForSourceRelationshipNamed") == true)
    }

    @Test func aMappingModelIsFoundByTheHashesOfBothModels() throws {
        _ = try file()
        _ = try MappingFile(
            [MappingFile.Mapping(source: "Gone"), MappingFile.Mapping(source: "Tag", destination: "Tag")], from: former,
            to: new, in: folder.url, named: "A")
        let bundle = try #require(Bundle(path: folder.url.path))
        let found = NSMappingModel(from: [bundle], forSourceModel: former, destinationModel: new)
        #expect(found?.entityMappings.count == 6)
        #expect(NSMappingModel(from: [bundle], forSourceModel: new, destinationModel: former) == nil)
    }

    @Test func aFileThatCannotBeReadIsNamed() throws {
        let url = folder.file("Bad.cdm")
        try Data("no archive".utf8).write(to: url)
        let error = #expect(throws: ModelReadingError.self) { try NSMappingModel(reading: url) }
        #expect(error?.file == url.path)
        #expect(NSMappingModel(contentsOf: url) == nil)
        #expect(NSMappingModel(contentsOf: nil) == nil)
    }

    @Test func everyCutOfAFileIsAnError() throws {
        let url = try file().url.appendingPathComponent("xcmapping.xml")
        let data = try Data(contentsOf: url)
        for length in stride(from: 0, to: data.count - 20, by: max(1, data.count / 40)) {
            try data.prefix(length).write(to: url)
            #expect(NSMappingModel(contentsOf: url.deletingLastPathComponent()) == nil, "\(length)")
        }
    }
}
