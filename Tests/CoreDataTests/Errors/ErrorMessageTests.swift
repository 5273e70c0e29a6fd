import CoreData
import TestSupport
import Testing

/// Errors: their domain, codes, userInfo, and whether a person can act on what they say.
struct ErrorMessageTests {
    let folder: TemporaryFolder
    let url: URL
    let context: NSManagedObjectContext

    init() throws {
        folder = try TemporaryFolder()
        url = folder.file("store.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model(requiredNames: true))
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
        context = coordinator.newContext()
    }

    @Test func aRequiredPropertyLeftNilIsNamedWithEntityAndObject() throws {  // 72, 74, 335
        let author = context.author(nil)
        let other = context.book("kept")
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .validationMissingMandatoryProperty)
        #expect((error as NSError?)?.domain == NSCocoaErrorDomain)
        let message = (error as NSError?)?.localizedDescription ?? ""
        #expect(message.contains("Author"), "\(message)")
        #expect(message.contains("name"), "\(message)")
        #expect(error?.validationObject as? NSManagedObject === author)
        #expect(error?.validationKey == "name")
        #expect(context.insertedObjects == [author, other])
        #expect(SQLiteFile(url).value("SELECT count(*) FROM ZBOOK") == "0")
        author.name = "Ada"
        try context.save()
        #expect(SQLiteFile(url).column("SELECT ZNAME FROM ZAUTHOR") == ["Ada"])
    }

    @Test func severalInvalidObjectsAreReportedTogether() throws {  // 75, 76
        let authors = [context.author(nil), context.author(nil)]
        let error = #expect(throws: CocoaError.self) { try context.save() }
        #expect(error?.code == .validationMultipleErrors)
        let details = try #require(error?.userInfo[NSDetailedErrorsKey] as? [NSError])
        #expect(details.count == 2)
        #expect(Set(details.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }) == Set(authors))
        let message = (error as NSError?)?.localizedDescription ?? ""
        #expect(message.contains("Author"), "\(message)")
        #expect(message.contains("name"), "\(message)")
    }

    @Test(arguments: [
        ("pages", "seven" as any Sendable), ("title", 7), ("published", "today"), ("rating", Date()),
        ("author", "Ada"),
    ])
    func aValueOfTheWrongTypeIsRefusedByValidation(key: String, value: any Sendable) throws {  // 70
        let book = context.book("kept")
        var candidate: AnyObject? =
            switch value {
            case let text as String: text as NSString
            case let number as Int: number as NSNumber
            case let date as Date: date as NSDate
            default: nil
            }
        let error = #expect(throws: (any Error).self) { try book.validateValue(&candidate, forKey: key) } as NSError?
        #expect(error?.domain == NSCocoaErrorDomain)
        let message = error?.localizedDescription ?? ""
        #expect(message.contains("Book"), "\(message)")
        #expect(message.contains(key), "\(message)")
        #expect(book.title == "kept")
    }

    @Test func aValueOfTheWrongTypeSetByKeyStopsTheProgram() async {  // 340
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            library.context.book("A").setValue("seven", forKey: "pages")
        }
        #expect(Complaint(result?.standardErrorContent).lacks("Book", "pages", "seven") == [])
    }

    @Test func anUnknownKeyStopsTheProgram() async {  // 340, 49
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            library.context.book("A").setValue("x", forKey: "titel")
        }
        #expect(Complaint(result?.standardErrorContent).lacks("The entity Book has no property named \"titel\"") == [])
    }

    @Test func anObjectOfAnotherContextStopsTheProgram() async {  // 340
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            let author = library.newContext().author("Ada")
            library.context.book("A").author = author
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks("Book.author", "between objects in different contexts") == [])
    }

    @Test func changingAModelInUseStopsTheProgram() async {  // 340, 1
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let library = try Library()
            library.coordinator.managedObjectModel.entities = []
        }
        #expect(
            Complaint(result?.standardErrorContent).lacks(
                "NSManagedObjectModel.entities", "in use by a persistent store coordinator") == []
        )
    }

    @Test func userInfoIsReadThroughCocoaError() throws {  // 336
        let library = try Library()
        let ada = library.context.author("Ada")
        let values: [String: Any] = [
            NSValidationObjectErrorKey: ada, NSValidationKeyErrorKey: "name", NSValidationValueErrorKey: "Ada",
            NSValidationPredicateErrorKey: NSPredicate(format: "length > 3"), NSAffectedObjectsErrorKey: [ada],
            NSAffectedStoresErrorKey: [library.store],
            NSPersistentStoreSaveConflictsErrorKey: [
                NSMergeConflict(source: ada, newVersion: 2, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
            ],
        ]
        let error = CocoaError(.managedObjectMerge, userInfo: values)
        #expect(error.validationObject as? NSManagedObject === ada)
        #expect(error.validationKey == "name")
        #expect(error.validationValue as? String == "Ada")
        #expect(error.validationPredicate == NSPredicate(format: "length > 3"))
        #expect(error.affectedObjects?.first as? NSManagedObject == ada)
        #expect(error.affectedStores?.first as? NSPersistentStore == library.store)
        #expect(error.persistentStoreSaveConflicts?.first?.newVersionNumber == 2)
    }

    @Test func errorsOfTheLibraryAreInTheCocoaDomain() throws {  // 335
        let library = try Library()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Nothing")
        let errors: [NSError?] = [
            #expect(throws: (any Error).self) { try library.context.fetch(request) } as NSError?,
            #expect(throws: (any Error).self) {
                try library.coordinator.addPersistentStore(ofType: "Clay", configurationName: nil, at: library.url)
            } as NSError?,
            #expect(throws: (any Error).self) {
                try NSPersistentStoreCoordinator.metadataForPersistentStore(
                    type: .sqlite, at: library.folder.file("missing"))
            } as NSError?,
        ]
        for error in errors {
            #expect(error?.domain == NSCocoaErrorDomain)
            #expect(error?.localizedDescription.isEmpty == false)
        }
    }
}
