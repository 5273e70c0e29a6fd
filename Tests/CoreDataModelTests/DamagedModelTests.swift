import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

/// Models in every form with random damage: an error or another model, never the end of the
/// program.
struct DamagedModelTests {
    private static let rounds = LongTests.areEnabled ? 2000 : 40

    /// Does what a program does with a model.
    private func use(_ model: NSManagedObjectModel) throws {
        _ = model.entityVersionHashesByName
        _ = model.consistencyProblems()
        _ = try? model.archivedModel()
        if let coordinator = try? NSPersistentStoreCoordinator(validating: model) {
            _ = try? coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
    }

    @Test(arguments: 1...(LongTests.areEnabled ? 4 : 1)) func aDamagedSourceModelIsRefusedOrRead(_ seed: Int) throws {
        let text = try SampleModels.inventory().xcdatamodelContents().text
        var generator = SeededGenerator(seed: UInt64(seed))
        var refused = 0
        for _ in 0..<Self.rounds {
            let damaged = Damage.some(to: Data(text.utf8), &generator)
            do {
                let root = try ModelElementParser.parse(damaged, file: "contents")
                try use(try ModelElementReader.model(from: root, file: "contents"))
            } catch is ModelReadingError {
                refused += 1
            }
        }
        #expect(refused > Self.rounds / 10)
    }

    @Test(arguments: 1...(LongTests.areEnabled ? 4 : 1)) func aDamagedCompiledModelIsRefusedOrRead(_ seed: Int) throws {
        let archive = try SampleModels.inventory().archivedModel()
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<Self.rounds {
            do {
                try use(try ModelArchiveReader.model(from: Damage.some(to: archive, &generator)))
            } catch is ModelReadingError {}
        }
    }

    /// Damage that keeps the list sound and changes what it says: objects take each other's places.
    @Test(arguments: 1...(LongTests.areEnabled ? 4 : 1)) func aModelWhoseObjectsAreMixedUpIsRefusedOrRead(_ seed: Int)
        throws
    {
        let archive = try SampleModels.inventory().archivedModel()
        guard case .dictionary(var top) = try BinaryPropertyListReader.read(archive),
            case .array(let objects)? = top["$objects"]
        else {
            Issue.record("The archive has no objects.")
            return
        }
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<Self.rounds {
            var mixed = objects
            for _ in 0..<Int.random(in: 1...5, using: &generator) {
                let first = Int.random(in: 1..<mixed.count, using: &generator)
                let second = Int.random(in: 1..<mixed.count, using: &generator)
                if Bool.random(using: &generator) { mixed[first] = mixed[second] } else { mixed.swapAt(first, second) }
            }
            top["$objects"] = .array(mixed)
            do {
                try use(try ModelArchiveReader.model(from: BinaryPropertyListWriter.data(of: .dictionary(top))))
            } catch is ModelReadingError {}
        }
    }

    @Test(arguments: 1...(LongTests.areEnabled ? 4 : 1)) func aDamagedCacheIsRefusedOrRead(_ seed: Int) throws {
        let cache = try SampleModels.inventory().encodedModelCache()
        var generator = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<Self.rounds {
            do {
                try use(try NSManagedObjectModel.decode(modelCache: Damage.some(to: cache, &generator)))
            } catch is ModelReadingError {}
        }
    }

    /// Predicates and user information may refer to one object many times over.
    @Test func aModelThatUnfoldsWithoutEndIsRefused() throws {
        let data = KeyedArchiveBuilder.data { builder in
            var info = builder.add(.text("x"))
            for _ in 0..<14 { info = builder.array(Array(repeating: info, count: 1000)) }
            let userInfo = builder.dictionary([("bomb", info)])
            let entity = builder.object(
                "NSEntityDescription", ["NSEntityName": builder.add(.text("A")), "NSUserInfo": userInfo])
            return builder.object("NSManagedObjectModel", ["NSEntities": builder.dictionary([("A", entity)])])
        }
        #expect(throws: ModelReadingError.self) { try ModelArchiveReader.model(from: data) }
    }

    @Test func aPredicateThatUnfoldsWithoutEndIsRefused() throws {
        let data = KeyedArchiveBuilder.data { builder in
            var predicate = builder.object("NSTruePredicate")
            for _ in 0..<60 {
                let parts = builder.array([predicate, predicate])
                predicate = builder.object(
                    "NSCompoundPredicate", ["NSCompoundPredicateType": .int(1), "NSSubpredicates": parts])
            }
            let attribute = builder.object(
                "NSAttributeDescription",
                [
                    "NSPropertyName": builder.add(.text("a")), "NSAttributeType": .int(700),
                    "NSValidationPredicates": builder.array([predicate]),
                ])
            let entity = builder.object(
                "NSEntityDescription",
                ["NSEntityName": builder.add(.text("A")), "NSProperties": builder.dictionary([("a", attribute)])])
            return builder.object("NSManagedObjectModel", ["NSEntities": builder.dictionary([("A", entity)])])
        }
        #expect(throws: ModelReadingError.self) { try ModelArchiveReader.model(from: data) }
    }
}

/// Models of sizes that no person makes: read in time in proportion to their size, or refused.
struct HugeModelTests {
    private func model(_ text: String) throws -> NSManagedObjectModel {
        let root = try ModelElementParser.parse(Data("<model>\(text)</model>".utf8), file: "contents")
        return try ModelElementReader.model(from: root, file: "contents")
    }

    @Test func aChainOfManySuperentitiesIsRefused() throws {
        let text = (1..<5000).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 - 1)\"/>" }.joined()
        let error = #expect(throws: ModelReadingError.self) { try model("<entity name=\"E0\"/>" + text) }
        #expect(error?.problem.contains("superentities") == true)
    }

    @Test func aChainOfSomeSuperentitiesIsRead() throws {
        let text = (1...100).map { "<entity name=\"E\($0)\" parentEntity=\"E\($0 - 1)\"/>" }.joined()
        let model = try model("<entity name=\"E0\"/>" + text)
        let again = try ModelArchiveReader.model(from: model.archivedModel())
        let root = try #require(again.entitiesByName["E0"])
        #expect(again.entitiesByName["E100"]?.isKindOf(entity: root) == true)
    }

    @Test func anArchivedChainOfManySuperentitiesIsRefused() throws {
        let entities = (0..<400).map { SampleModels.entity("E\($0)") }
        for (parent, child) in zip(entities, entities.dropFirst()) { parent.subentities = [child] }
        let model = NSManagedObjectModel()
        model.entities = entities
        let archive = try model.archivedModel()
        #expect(throws: ModelReadingError.self) { try ModelArchiveReader.model(from: archive) }
    }

    @Test func manyPropertiesAreRead() throws {
        let attributes = (0..<4000).map { "<attribute name=\"a\($0)\" attributeType=\"String\"/>" }.joined()
        let relationships = (0..<2000).map {
            "<relationship name=\"r\($0)\" destinationEntity=\"E\" inverseName=\"r\($0)\" inverseEntity=\"E\"/>"
        }.joined()
        let model = try model("<entity name=\"E\">\(attributes)\(relationships)</entity>")
        #expect(model.entitiesByName["E"]?.properties.count == 6000)
    }
}
