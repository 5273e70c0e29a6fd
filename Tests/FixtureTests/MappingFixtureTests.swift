import CoreData
import TestSupport
import Testing

extension FixtureTests {
    /// Mapping models that Xcode saved and compiled, and a store that goes through them.
    struct MappingFixtureTests {
        private static let sample = "CoreDataPlus/SampleModel/"
        private static let compiled = Fixtures.url(sample + "Fixtures/V2toV3.cdm")
        private static let saved = Fixtures.url(sample + "MappingModels/V2toV3.xcmappingmodel")

        private static var automatic: [AnyHashable: Any] {
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
        }

        private func version(_ name: String) throws -> NSManagedObjectModel {
            try FixtureModel(path: Self.sample + "SampleModel.xcdatamodeld/\(name).xcdatamodel").read()
        }

        /// The parts of a mapping that the compiler keeps, as text.
        private func text(_ mapping: NSEntityMapping) -> [String] {
            let properties = (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])
            let names: [String?] = [
                mapping.name, mapping.sourceEntityName, mapping.destinationEntityName,
                mapping.entityMigrationPolicyClassName, mapping.sourceEntityVersionHash?.base64EncodedString(),
                mapping.destinationEntityVersionHash?.base64EncodedString(), "\(mapping.mappingType)",
            ]
            return names.map { $0 ?? "" } + properties.map(text)
        }

        private func text(_ property: NSPropertyMapping) -> String {
            "\(property.name ?? "") = \(property.valueExpression?.description ?? "")"
        }

        @Test func whatXcodeSavedIsReadAsItsCompilerCompiledIt() throws {
            let saved = try NSMappingModel(reading: Self.saved)
            let compiled = try NSMappingModel(reading: Self.compiled)
            #expect(saved.entityMappings.map(text) == compiled.entityMappings.map(text))
        }

        private static let paths = Fixtures.paths.filter { $0.hasSuffix(".xcmappingmodel") }

        @Test(arguments: paths)
        func everySavedMappingModelIsReadAndFitsItsModels(path: String) throws {
            let mapping = try NSMappingModel(reading: Fixtures.url(path))
            #expect(!mapping.entityMappings.isEmpty)
            #expect(mapping.entityMappings.allSatisfy { !$0.name.isEmpty })
            #expect(
                mapping.entityMappings.allSatisfy {
                    ($0.sourceEntityName == nil) == ($0.sourceEntityVersionHash == nil)
                })
        }

        @Test(arguments: paths) func withoutTheFilesOfItsModelsAMappingModelUsesItsCopies(path: String) throws {
            let folder = try TemporaryFolder()
            let alone = folder.file("Alone.xcmappingmodel")
            try FileManager.default.copyItem(at: Fixtures.url(path), to: alone)
            let beside: [NSEntityMapping] = try NSMappingModel(reading: Fixtures.url(path)).entityMappings
            let within: [NSEntityMapping] = try NSMappingModel(reading: alone).entityMappings
            #expect(within.map(text) == beside.map(text))
        }

        /// A byte of the copies is another one, anywhere.
        @Test func damagedCopiesOfModelsAreErrors() throws {
            let folder = try TemporaryFolder()
            let alone = folder.file("Alone.xcmappingmodel")
            try FileManager.default.copyItem(at: Self.saved, to: alone)
            let file = alone.appendingPathComponent("xcmapping.xml")
            let whole = try Data(contentsOf: file)
            let text = try #require(String(data: whole, encoding: .utf8))
            let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
            var generator = SeededGenerator(seed: 1)
            let count = LongTests.areEnabled ? 150 : 30
            var failures = 0
            for name in ["sourcemodeldata", "destinationmodeldata"] {
                let start = try #require(text.range(of: "name=\"\(name)\" type=\"binary\">")).upperBound
                let end = try #require(text.range(of: "</attribute>", range: start..<text.endIndex)).lowerBound
                let bytes =
                    text.utf8.distance(
                        from: text.startIndex, to: start)..<text.utf8.distance(
                        from: text.startIndex, to: end)
                for _ in 0..<count {
                    var damaged = whole
                    let index = Int.random(in: bytes, using: &generator)
                    guard letters.contains(damaged[index]), let other = letters.randomElement(using: &generator)
                    else { continue }
                    damaged[index] = other
                    try damaged.write(to: file)
                    do { _ = try NSMappingModel(reading: alone) } catch let error as ModelReadingError {
                        #expect(error.file == alone.path)
                        failures += 1
                    }
                }
            }
            #expect(failures > 2 * count / 15)
        }

        /// The store of the first version becomes one of the second by inference, and of the third
        /// by the mapping model and its policy.
        @Test(arguments: [compiled, saved]) func aChainOfVersionsIsMigrated(file: URL) throws {
            let folder = try TemporaryFolder()
            let store = try #require(FixtureStore.all.first { $0.path.hasSuffix("SampleModel_V1.sqlite") })
            let url = try store.copy(to: folder)
            try Stack(version("SampleModel2"), url, options: Self.automatic).close()
            let target = folder.file("V3.sqlite")
            let manager = NSMigrationManager(
                sourceModel: try version("SampleModel2"), destinationModel: try version("SampleModel3"))
            try manager.migrateStore(
                from: url, type: .sqlite, mapping: NSMappingModel(reading: file), to: target, type: .sqlite)

            let (before, after) = (SQLiteFile(url), SQLiteFile(target))
            let cars = "c.ZNUMBERPLATE, c.ZMODEL, c.ZMARKEDFORDELETIONASOF, c.ZISLIMITEDEDITION, n.Z_NAME"
            let owners = "LEFT JOIN ZPERSON p ON p.Z_PK = c.ZOWNER JOIN Z_PRIMARYKEY n ON n.Z_ENT = c.Z_ENT"
            #expect(
                after.rows(
                    "SELECT \(cars), p.ZFIRSTNAME, p.ZLASTNAME, m.ZNAME FROM ZCAR c \(owners) "
                        + "LEFT JOIN ZMAKER m ON m.Z_PK = c.ZCREATEDBY ORDER BY 1")
                    == before.rows(
                        "SELECT \(cars), p.ZFIRSTNAME, p.ZLASTNAME, c.ZMAKER FROM ZCAR c \(owners) ORDER BY 1"))
            #expect(
                after.column("SELECT ZNAME FROM ZMAKER ORDER BY 1")
                    == before.column("SELECT DISTINCT ZMAKER FROM ZCAR WHERE ZMAKER IS NOT NULL ORDER BY 1"))
            let people = "SELECT ZFIRSTNAME, ZLASTNAME, ZUPDATEDAT FROM ZPERSON ORDER BY 1, 2"
            #expect(after.rows(people) == before.rows(people))
            #expect(after.value("PRAGMA integrity_check") == "ok")
        }
    }
}

/// Makes the maker of each car an object, which cars of one maker share.
final class V2to3MakerPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let name = sInstance.value(forKey: "maker") as? String else { return }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Maker")
        request.predicate = NSPredicate(format: "name == %@", name)
        let maker: NSManagedObject
        if let known = try manager.destinationContext.fetch(request).first {
            maker = known
        } else {
            maker = NSEntityDescription.insertNewObject(forEntityName: "Maker", into: manager.destinationContext)
            maker.setValue(name, forKey: "name")
        }
        let car = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        car?.setValue(maker, forKey: "createdBy")
    }
}
