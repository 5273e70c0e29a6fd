import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

@Suite("Model archives")
struct ArchiveTests {
    @Test func aModelSurvivesWritingAndReading() throws {
        let model = try SampleModels.inventory()
        let again = try NSManagedObjectModel.decode(modelCache: model.encodedModelCache())
        let (first, second) = (ModelText.lines(of: model), ModelText.lines(of: again))
        #expect(second.filter { !first.contains($0) } == [])
        #expect(first.filter { !second.contains($0) } == [])
        #expect(again.versionChecksum == model.versionChecksum)
        #expect(again.consistencyProblems() == [])
    }

    @Test func marksAndTextsWithoutEffectSurvive() throws {
        let model = try SampleModels.inventory()
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        let entity = try #require(copy.entities.first { !$0.attributesByName.isEmpty })
        let attribute = try #require(entity.attributesByName.values.min { $0.name < $1.name })
        attribute.isIndexedBySpotlight = true
        attribute.allowsCloudEncryption = true
        copy.localizationDictionary = ["Entity/\(entity.name ?? "")": "Entität"]
        let cached = try NSManagedObjectModel.decode(modelCache: copy.encodedModelCache())
        let data = try NSKeyedArchiver.archivedData(withRootObject: copy, requiringSecureCoding: true)
        let coded = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data))
        for again in [cached, coded] {
            #expect(again.localizationDictionary == copy.localizationDictionary)
            let attributes = again.entities.flatMap {
                $0.attributesByName.values.filter { $0.entity.name == entity.name }
            }
            #expect(Set(attributes.filter(\.isIndexedBySpotlight).map(\.name)) == [attribute.name])
            #expect(Set(attributes.filter(\.allowsCloudEncryption).map(\.name)) == [attribute.name])
            #expect(again.versionChecksum == model.versionChecksum)
        }
        #expect(try NSManagedObjectModel.decode(modelCache: model.encodedModelCache()).localizationDictionary == nil)
    }

    @Test func writingIsStable() throws {
        let model = try SampleModels.inventory()
        let first = try model.archivedModel()
        let second = try ModelArchiveReader.model(from: first).archivedModel()
        #expect(ModelText.lines(of: try ModelArchiveReader.model(from: second)) == ModelText.lines(of: model))
    }

    /// Foundation's reader of property lists, a second path, takes the archive for what it should
    /// be.
    @Test func theArchiveIsABinaryPropertyListOfAKeyedArchive() throws {
        let data = try SampleModels.inventory().archivedModel()
        let list = try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any]
        #expect(list?["$archiver"] as? String == "NSKeyedArchiver")
        #expect((list?["$version"] as? NSNumber)?.intValue == 100_000)
        #expect((list?["$objects"] as? [Any])?.first as? String == "$null")
    }

    @Test func truthValuesStayTruthValues() throws {
        let data = try SampleModels.inventory().archivedModel()
        let archive = try BinaryPropertyListReader.read(data)
        guard case .dictionary(let top) = archive, case .array(let objects)? = top["$objects"] else {
            Issue.record("The archive has no object table.")
            return
        }
        #expect(objects.contains(.boolean(false)))
        #expect(objects.contains(.real(0.5)))
        #expect(objects.contains(.integer(7)))
    }

    @Test func aDanglingDestinationIsReportedByName() throws {
        let outside = SampleModels.entity("Outside")
        let model = NSManagedObjectModel()
        model.entities = [SampleModels.entity("A", [SampleModels.relationship("away", to: outside)])]
        let error = #expect(throws: ModelReadingError.self) {
            try ModelArchiveReader.model(from: model.archivedModel())
        }
        #expect(error?.entity == "A")
        #expect(error?.property == "away")
        #expect(error?.problem.contains("'Outside'") == true)
    }

    @Test func aDanglingInverseIsReportedByName() throws {
        let here = SampleModels.entity("A")
        let outside = SampleModels.relationship("back", to: here)
        let away = SampleModels.relationship("away", to: here)
        away.inverseRelationship = outside
        here.properties = [away]
        let model = NSManagedObjectModel()
        model.entities = [here]
        let error = #expect(throws: ModelReadingError.self) {
            try ModelArchiveReader.model(from: model.archivedModel())
        }
        #expect(error?.entity == "A")
        #expect(error?.property == "away")
        #expect(error?.problem.contains("'back'") == true)
    }

    @Test func aModelCanBePartOfAnApplicationsArchive() throws {
        let model = try SampleModels.inventory()
        let data = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data)
        #expect(again?.versionChecksum == model.versionChecksum)
    }

    // Long, as fewer entities would have room on the stack.
    @Test(.long) func aDeepHierarchyCanBeWritten() throws {
        let entities = (0..<3000).map { SampleModels.entity("E\($0)") }
        for (index, entity) in entities.enumerated().dropLast() {
            let next = SampleModels.relationship("next", to: entities[index + 1])
            let back = SampleModels.relationship("back", to: entity)
            SampleModels.connect(next, back)
            entity.properties += [next]
            entities[index + 1].properties += [back]
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        let again = try NSManagedObjectModel.decode(modelCache: model.encodedModelCache())
        #expect(again.versionChecksum == model.versionChecksum)
    }

    /// No change of any byte, and no cut, may do worse than an error.
    @Test func damagedArchivesAreRefusedOrReadButNeverCrash() throws {
        let archive = [UInt8](try SampleModels.inventory().archivedModel())
        var generator = SeededGenerator(seed: 20_240_613)
        var refused = 0
        for round in 0..<(LongTests.areEnabled ? 4000 : 800) {
            var bytes = archive
            switch round % 4 {
            case 0: bytes.removeLast(Int.random(in: 1..<bytes.count, using: &generator))
            case 1:
                for _ in 0..<3 {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                        1 << UInt8.random(in: 0..<8, using: &generator)
                }
            case 2:
                let position = bytes.count - 1 - Int.random(in: 0..<900, using: &generator)
                bytes[position] = UInt8.random(in: 0...255, using: &generator)
            default:
                for _ in 0..<20 {
                    bytes[Int.random(in: 8..<bytes.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
            }
            do {
                let model = try ModelArchiveReader.model(from: Data(bytes))
                _ = model.entityVersionHashesByName
                _ = model.consistencyProblems()
            } catch is ModelReadingError {
                refused += 1
            }
        }
        #expect(refused > (LongTests.areEnabled ? 1500 : 200))
    }

    @Test func damagedCachesAreRefused() throws {
        let cache = [UInt8](try SampleModels.inventory().encodedModelCache())
        for length in stride(from: 0, to: cache.count - 1, by: 7) {
            #expect(throws: ModelReadingError.self) {
                try NSManagedObjectModel.decode(modelCache: Data(cache.prefix(length)))
            }
        }
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<(LongTests.areEnabled ? 500 : 100) {
            var bytes = cache
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            _ = try? NSManagedObjectModel.decode(modelCache: Data(bytes))
        }
    }

    @Test func dataThatUnfoldsWithoutEndIsRefused() throws {
        let bomb = try RawDeflate.deflate(Data(count: RawDeflate.sizeLimit + (1 << 20)))
        #expect(bomb.count < 1 << 20)
        #expect(throws: ModelReadingError.self) { try RawDeflate.inflate(bomb) }
    }

    @Test(arguments: [
        "0", "1", "-1", "12.345", "-0.00001", "79228162514264337593543950335", "1e100",
        "340282366920938463463374607431768211455",
    ])
    func decimalsSurviveWritingAndReading(text: String) throws {
        let attribute = SampleModels.attribute("x", .decimalAttributeType)
        attribute.defaultValue = NSDecimalNumber(string: text)
        let model = NSManagedObjectModel()
        model.entities = [SampleModels.entity("A", [attribute])]
        let again = try NSManagedObjectModel.decode(modelCache: model.encodedModelCache())
        #expect(
            again.entities.first?.attributesByName["x"]?.defaultValue as? NSDecimalNumber
                == NSDecimalNumber(string: text))
    }
}
