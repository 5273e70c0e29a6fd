import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import OpenCoreDataModel

/// Models in the forms in which Apple's framework archives them, made by hand.
struct CachedModelFormTests {
    /// A store with rows whose own model is of an archive; the last rows read of it.
    private func titles(inStoreWith archive: Data) throws -> [String] {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let model = try ModelArchiveReader.model(from: archive)
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let context = coordinator.newContext()
        let memo = NSEntityDescription.insertNewObject(forEntityName: "Memo", into: context)
        memo.setValue("Buy milk", forKey: "title")
        memo.setValue(true, forKey: "urgent")
        try context.save()
        try coordinator.remove(store)
        let cache = try RawDeflate.deflate(archive).hexadecimal
        #expect(SQLiteFile(url).execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'\(cache)'"))
        let own = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
        let second = NSPersistentStoreCoordinator(managedObjectModel: own)
        _ = try second.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        let reading = second.newContext()
        return try reading.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note")).compactMap {
            $0.value(forKey: "title") as? String
        }
    }

    // MARK: Stand-ins for inherited properties

    @Test func standInsAreTheInheritedProperties() throws {
        let model = try ModelArchiveReader.model(from: StandInModel.archive())
        let (note, memo) = (try #require(model.entitiesByName["Note"]), try #require(model.entitiesByName["Memo"]))
        #expect(memo.ownProperties.map(\.name) == ["urgent"])
        #expect(memo.propertiesByName["title"] === note.propertiesByName["title"])
        #expect(memo.propertiesByName["owner"] === note.propertiesByName["owner"])
        #expect(memo.uniquenessConstraintNames == [["title"]])
        let notes = try #require(model.entitiesByName["Owner"]?.relationshipsByName["notes"])
        #expect(notes.inverseRelationship === note.relationshipsByName["owner"])
        #expect(model.consistencyProblems() == [])
    }

    @Test func aStoreWhoseModelHasStandInsIsReadWithIt() throws {
        #expect(try titles(inStoreWith: StandInModel.archive()) == ["Buy milk"])
    }

    @Test func aStandInForNothingInheritedIsTheEntitysOwnProperty() throws {
        let data = KeyedArchiveBuilder.data { builder in
            let title = builder.object(
                "NSAttributeDescription", ["NSPropertyName": builder.add(.text("title")), "NSAttributeType": .int(700)])
            let standIn = builder.object("_NSPropertyDescriptionProxy", ["NSUnderlyingProperty": title])
            let entity = builder.object(
                "NSEntityDescription",
                ["NSEntityName": builder.add(.text("A")), "NSProperties": builder.dictionary([("title", standIn)])])
            return builder.object("NSManagedObjectModel", ["NSEntities": builder.dictionary([("A", entity)])])
        }
        let model = try ModelArchiveReader.model(from: data)
        #expect(model.entitiesByName["A"]?.attributesByName["title"]?.attributeType == .stringAttributeType)
    }

    @Test func aStandInForItselfIsDamage() throws {
        let data = KeyedArchiveBuilder.data { builder in
            let standIn = builder.object("_NSPropertyDescriptionProxy", ["NSUnderlyingProperty": .uid(2)])
            #expect(standIn == .uid(2))
            let entity = builder.object(
                "NSEntityDescription",
                ["NSEntityName": builder.add(.text("A")), "NSProperties": builder.dictionary([("title", standIn)])])
            return builder.object("NSManagedObjectModel", ["NSEntities": builder.dictionary([("A", entity)])])
        }
        let error = #expect(throws: ModelReadingError.self) { try ModelArchiveReader.model(from: data) }
        #expect(error?.problem.contains("_NSPropertyDescriptionProxy") == true)
    }

    // MARK: Indexes

    @Test func anIndexThatIsListedTwiceIsThereOnce() throws {
        let archive = StandInModel.archive { builder in
            let byTitle = StandInModel.index(&builder, "byTitle", ["title"])
            return [byTitle, StandInModel.index(&builder, "byTitle", ["title"]), byTitle]
        }
        let model = try ModelArchiveReader.model(from: archive)
        #expect(model.entitiesByName["Note"]?.indexes.map(\.name) == ["byTitle"])
        #expect(model.consistencyProblems() == [])
        #expect(try titles(inStoreWith: archive) == ["Buy milk"])
    }

    @Test func indexesThatCannotBeMadeArePassedOver() throws {
        let archive = StandInModel.archive { builder in
            [
                StandInModel.index(&builder, "none", []), StandInModel.index(&builder, "gone", ["title", "gone"]),
                StandInModel.index(&builder, "good", ["title"]),
                StandInModel.index(&builder, "mixed", ["title", "title"], rTree: [true, false]),
            ]
        }
        #expect(try ModelArchiveReader.model(from: archive).entitiesByName["Note"]?.indexes.map(\.name) == ["good"])
        #expect(try titles(inStoreWith: archive) == ["Buy milk"])
    }

    // MARK: What is not known

    @Test func anUnknownClassOfPropertyIsNamed() throws {
        let archive = StandInModel.archive(propertyClass: "NSHologramDescription")
        let error = #expect(throws: ModelReadingError.self) { try ModelArchiveReader.model(from: archive) }
        #expect(error?.description.contains("'Note.title'") == true)
        #expect(error?.description.contains("'NSHologramDescription'") == true)
    }

    @Test func whyAStoresOwnModelCannotBeReadIsSaid() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let model = NSManagedObjectModel([
            NSEntityDescription("A", class: "NSManagedObject", [.init("x", .stringAttributeType)])
        ])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.remove(
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url))
        let cache = try RawDeflate.deflate(StandInModel.archive(propertyClass: "NSHologramDescription")).hexadecimal
        #expect(SQLiteFile(url).execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'\(cache)'"))
        let error = try #require(
            errorThrown { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) })
        #expect(error.localizedDescription.contains("'NSHologramDescription'"))
        #expect(error.localizedDescription.contains(url.path))
        #expect(error.code == NSFileReadCorruptFileError)

        let other = NSManagedObjectModel([
            NSEntityDescription(
                "A", class: "NSManagedObject", [.init("x", .stringAttributeType), .init("y", .stringAttributeType)])
        ])
        let options = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let refusal = try #require(
            errorThrown {
                _ = try NSPersistentStoreCoordinator(managedObjectModel: other)
                    .addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
            })
        #expect(refusal.code == NSMigrationMissingSourceModelError)
        #expect(refusal.localizedDescription.contains("'NSHologramDescription'"))
    }

    @Test func aStoreWithoutAModelSaysSo() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("store.sqlite")
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: NSManagedObjectModel([
                NSEntityDescription("A", class: "NSManagedObject", [.init("x", .stringAttributeType)])
            ]))
        try coordinator.remove(
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url))
        #expect(SQLiteFile(url).execute("DROP TABLE Z_MODELCACHE"))
        let error = errorThrown { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url) }
        #expect(error?.code == NSMigrationMissingSourceModelError)
    }

    @Test func templatesForEntitiesThatAreNotThereArePassedOver() throws {
        let data = KeyedArchiveBuilder.data { builder in
            let entity = builder.object("NSEntityDescription", ["NSEntityName": builder.add(.text("A"))])
            let request = builder.object("NSFetchRequest", ["NSEntityName": builder.add(.text("Gone"))])
            return builder.object(
                "NSManagedObjectModel",
                [
                    "NSEntities": builder.dictionary([("A", entity)]),
                    "NSFetchRequestTemplates": builder.dictionary([("all", request)]),
                ])
        }
        let model = try ModelArchiveReader.model(from: data)
        #expect(model.fetchRequestTemplatesByName.isEmpty)
        #expect(model.consistencyProblems() == [])
    }

    @Test func userInformationWithOtherKeysThanTextsIsPassedOver() throws {
        let data = KeyedArchiveBuilder.data { builder in
            let info = builder.object(
                "NSDictionary",
                [
                    "NS.keys": .array([builder.add(.int(1)), builder.add(.text("a"))]),
                    "NS.objects": .array([builder.add(.int(2)), builder.add(.int(3))]),
                ])
            let entity = builder.object(
                "NSEntityDescription", ["NSEntityName": builder.add(.text("A")), "NSUserInfo": info])
            return builder.object("NSManagedObjectModel", ["NSEntities": builder.dictionary([("A", entity)])])
        }
        #expect(try ModelArchiveReader.model(from: data).entitiesByName["A"]?.userInfo as? [String: Int] == ["a": 3])
    }
}
