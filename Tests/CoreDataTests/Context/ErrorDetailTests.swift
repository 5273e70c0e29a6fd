import CoreData
import TestSupport
import Testing

/// Refuses itself with errors of Swift types.
final class RefusingParcel: NSManagedObject {
    enum Refusal: Error, Equatable {
        case tooHeavy(Int)
        case isKept
    }

    @Managed var weight: Int32
    @Managed var label: String?

    override func validateForInsert() throws {
        try super.validateForInsert()
        if weight > 10 { throw Refusal.tooHeavy(Int(weight)) }
    }

    override func validateForDelete() throws { throw Refusal.isKept }

    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try super.validateValue(value, forKey: key)
        if key == "label", (value.pointee as? String) == "?" { throw Refusal.tooHeavy(0) }
    }
}

/// Details of errors that programs read.
struct ErrorDetailTests {
    @Test("336: a deletion that is denied names what denies it") func aDeniedDeletionNamesWhatDeniesIt() throws {
        let part = NSEntityDescription("Part", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        let box = NSEntityDescription("Box", class: "NSManagedObject", [.init("name", .stringAttributeType)])
        relate(
            box, "parts", toMany: true, deleteRule: .denyDeleteRule, part, inverse: "box",
            inverseDeleteRule: .denyDeleteRule)
        let stack = try TestStack([box, part])
        let (full, inside) = (stack.context.new("Box", ["name": "full"]), stack.context.new("Part", ["name": "inside"]))
        inside.setValue(full, forKey: "box")
        try stack.context.save()
        stack.context.delete(full)
        let error = errorThrown { try stack.context.save() } as NSError?
        #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
        #expect(error?.userInfo[NSValidationValueErrorKey] as? Set<NSManagedObject> == [inside])
        stack.context.rollback()
        stack.context.delete(inside)
        let other = errorThrown { try stack.context.save() } as NSError?
        #expect(other?.userInfo[NSValidationValueErrorKey] as? NSManagedObject === full)
    }

    @Test("336: an object of another coordinator's store is named") func anObjectOfAnotherStoreIsNamed() throws {
        let (mine, theirs) = (try Library(), try Library())
        let ada = theirs.context.author("Ada")
        try theirs.context.save()
        let error = errorThrown { _ = try mine.context.existingObject(with: ada.objectID) } as NSError?
        #expect(error?.code == NSManagedObjectReferentialIntegrityError)
        #expect(error?.userInfo["objectID"] as? NSManagedObjectID == ada.objectID)
    }

    @Test("336: errors of a program's own arrive as what they are") func errorsOfSwiftTypesArrive() throws {
        let stack = try TestStack([
            NSEntityDescription(
                "Parcel", class: "RefusingParcel",
                [.init("weight", .integer32AttributeType), .init("label", .stringAttributeType)])
        ])
        let context = stack.context
        let parcel = RefusingParcel(context: context)
        parcel.weight = 11
        #expect(throws: RefusingParcel.Refusal.tooHeavy(11)) { try context.save() }
        parcel.label = "?"
        parcel.weight = 1
        #expect(throws: RefusingParcel.Refusal.tooHeavy(0)) { try context.save() }
        parcel.label = nil
        try context.save()
        context.delete(parcel)
        #expect(throws: RefusingParcel.Refusal.isKept) { try context.save() }
        let second = RefusingParcel(context: context)
        second.weight = 12
        let error = errorThrown { try context.save() }
        #expect(error?.code == NSValidationMultipleErrorsError)
        let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        #expect(
            details.map { $0.userInfo[NSUnderlyingErrorKey] as? RefusingParcel.Refusal } == [.isKept, .tooHeavy(12)])
        let refusal = RefusingParcel.Refusal.tooHeavy(12) as NSError
        #expect(details.last?.domain == refusal.domain)
        #expect(details.last?.code == refusal.code)
    }

    @Test("339: a store that is to be read only is not made") func aStoreThatIsToBeReadOnlyIsNotMade() throws {
        let folder = try TemporaryFolder()
        let url = folder.file("none.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error =
            errorThrown {
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: url,
                    options: [NSReadOnlyPersistentStoreOption: true])
            } as NSError?
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == CocoaError.Code.fileReadNoSuchFile.rawValue)
        #expect(error?.localizedDescription.contains(url.path) == true)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(coordinator.persistentStores.isEmpty)
    }

    @Test(
        "300: what a read-only store refuses is refused with code 513",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func aReadOnlyStoreRefusesWithItsCode(type: String) throws {
        let folder = try TemporaryFolder()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.file("a.sqlite"))
        let context = coordinator.newContext()
        let ada = context.author("Ada")
        try context.save()
        store.isReadOnly = true
        func refusal(_ body: () throws -> Void) {
            let error = errorThrown(by: body)
            #expect(error?.domain == NSCocoaErrorDomain)
            #expect(error?.code == CocoaError.Code.fileWriteNoPermission.rawValue)
            #expect(error?.localizedDescription.contains("read-only") == true)
            #expect(error?.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] ?? [] == [store])
            context.rollback()
        }
        refusal {
            ada.name = "Eve"
            try context.save()
        }
        refusal {
            context.author("Bob")
            try context.save()
        }
        refusal {
            context.assign(context.author("Bob"), to: store)
            try context.save()
        }
        refusal {
            context.delete(ada)
            try context.save()
        }
        refusal { try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Author"))) }
        #expect(try context.names() == ["Ada"])
    }

    @Test(
        "A program's numbers stay numbers among the version identifiers of metadata",
        arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func versionIdentifiersKeepTheirTypes(type: String) throws {
        let folder = try TemporaryFolder()
        let model = Library.model()
        model.versionIdentifiers = [1, 2]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: folder.file("a.sqlite"))
        #expect(coordinator.metadata(for: store)[NSStoreModelVersionIdentifiersKey] as? [Int] == [1, 2])
    }
}
