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

        /// The models of one of them are not among the files.
        @Test(arguments: Fixtures.paths.filter { $0.hasSuffix(".xcmappingmodel") })
        func everySavedMappingModelIsReadAndFitsItsModels(path: String) throws {
            let mapping = try NSMappingModel(reading: Fixtures.url(path))
            #expect(!mapping.entityMappings.isEmpty)
            #expect(mapping.entityMappings.allSatisfy { !$0.name.isEmpty })
            #expect(
                mapping.entityMappings.allSatisfy {
                    ($0.sourceEntityName == nil) == ($0.sourceEntityVersionHash == nil)
                })
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
