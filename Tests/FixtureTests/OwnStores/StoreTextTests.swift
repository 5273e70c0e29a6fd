import CoreData
import TestSupport
import Testing

/// The engine writes stores that equal the texts, which were written by hand from the rules of the
/// file format.
struct StoreTextTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let neverMigrated = OwnStore.all.filter { !$0.isMigrated }

    /// A store of the text, and one that the engine has made of the same model.
    private func both(_ store: OwnStore) throws -> (text: SQLiteFile, made: SQLiteFile) {
        let text = SQLiteFile(try store.make(in: folder))
        let url = folder.file("new.sqlite")
        let hasHistory = text.integer("SELECT 1 FROM sqlite_master WHERE name = 'ACHANGE'") == 1
        try Stack(store.model(), url, options: hasHistory ? [NSPersistentHistoryTrackingKey: true] : nil).close()
        return (text, SQLiteFile(url))
    }

    private func list(_ file: SQLiteFile) throws -> [String: Any] {
        let data = try #require(try file.cells("SELECT Z_PLIST FROM Z_METADATA").first?.first?.blob)
        return try #require(
            try PropertyListSerialization.propertyList(from: data, options: [], format: nil) as? [String: Any])
    }

    @Test(arguments: neverMigrated) func aNewStoreIsMadeWithTheStatementsOfTheText(store: OwnStore) throws {
        let (text, made) = try both(store)
        func statements(_ file: SQLiteFile) -> [String?] {
            // The framework of that time kept neither a copy of the model nor the history's texts
            // apart.
            let without = store.framework <= 519 ? "Z_MODELCACHE" : ""
            return file.column(
                "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name <> '\(without)' "
                    + (store.framework == 849 ? "AND tbl_name NOT LIKE 'A%' " : "") + "ORDER BY rowid")
        }
        #expect(statements(text).count > 5)
        #expect(statements(made) == statements(text))
    }

    @Test(arguments: neverMigrated) func entitiesOfANewStoreHaveTheNumbersOfTheText(store: OwnStore) throws {
        let (text, made) = try both(store)
        let numbers = "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY rowid"
        #expect(made.rows(numbers) == text.rows(numbers))
        #expect(made.column("SELECT Z_MAX FROM Z_PRIMARYKEY").allSatisfy { $0 == "0" })
    }

    @Test(arguments: OwnStore.all) func theMetadataOfANewStoreSayOfTheModelWhatTheTextSays(store: OwnStore) throws {
        let (text, made) = try both(store)
        let (expected, found) = (try list(text), try list(made))
        for key in [
            NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, NSStoreTypeKey,
            "NSStoreModelVersionHashesVersion",
        ] {
            #expect(found[key] as? NSObject == expected[key] as? NSObject, "\(key)")
        }
        // Later frameworks write these two as well.
        for key in ["NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey"] where expected[key] != nil {
            #expect(found[key] as? String == expected[key] as? String, "\(key)")
        }
        #expect(found["_NSAutoVacuumLevel"] as? String == "2")
        #expect(made.value("PRAGMA auto_vacuum") == "2")
    }

    @Test(arguments: OwnStore.all) func theModelsHashesAreThoseOfTheText(store: OwnStore) throws {
        let expected = try list(SQLiteFile(try store.make(in: folder)))
        let model = store.model()
        #expect(model.entityVersionHashesByName == expected[NSStoreModelVersionHashesKey] as? [String: Data])
        if let checksum = expected["NSStoreModelVersionChecksumKey"] as? String {
            #expect(model.versionChecksum == checksum)
        }
    }

    @Test(arguments: OwnStore.all) func theModelThatAStoreKeepsIsTheProgramsModel(store: OwnStore) throws {
        let url = try store.make(in: folder)
        guard store.hasModel else {
            let error = errorThrown { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) }
            #expect(error?.code == NSMigrationMissingSourceModelError)
            return
        }
        let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        let model = store.model()
        #expect(cached.entityVersionHashesByName == model.entityVersionHashesByName)
        #expect(cached.versionIdentifiers == model.versionIdentifiers)
        #expect(cached.configurations == model.configurations)
        for entity in model.entities {
            let read = try #require(cached.entitiesByName[entity.name ?? ""])
            #expect(read.isAbstract == entity.isAbstract)
            #expect(read.superentity?.name == entity.superentity?.name)
            #expect(Set(read.propertiesByName.keys) == Set(entity.propertiesByName.keys))
            #expect(read.indexes.map(\.name) == entity.indexes.map(\.name))
        }
    }

    @Test(arguments: OwnStore.all) func metadataAreReadWithoutOpeningTheStore(store: OwnStore) throws {
        let url = try store.make(in: folder)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        #expect(metadata[NSStoreUUIDKey] as? String == SQLiteFile(url).value("SELECT Z_UUID FROM Z_METADATA"))
        #expect(metadata["org.example.note"] as? String == "kept & untouched")
        #expect((metadata["NSPersistenceFrameworkVersion"] as? NSNumber)?.intValue == store.framework)
        #expect(store.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }
}
