import CoreData
import TestSupport
import Testing

/// NaN, which no store keeps, and the infinities, which every store keeps.
struct NotANumberTests {
    private static let types: [NSAttributeType] = [
        .doubleAttributeType, .floatAttributeType, .decimalAttributeType, .dateAttributeType,
    ]

    private static func notANumber(_ type: NSAttributeType) -> Any {
        switch type {
        case .floatAttributeType: Float.nan
        case .decimalAttributeType: NSDecimalNumber.notANumber
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: .nan)
        default: Double.nan
        }
    }

    private static func good(_ type: NSAttributeType) -> Any {
        type == .dateAttributeType ? Date(timeIntervalSinceReferenceDate: 1) : NSNumber(value: 1)
    }

    private final class Store {
        let folder: TemporaryFolder
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext

        init(_ kind: StoreKind, _ attribute: NSAttributeDescription) throws {
            folder = try TemporaryFolder()
            let entity = NSEntityDescription("Reading", class: "NSManagedObject", [attribute])
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel([entity]))
            _ = try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: nil,
                at: kind.url(folder.file("store.sqlite")))
            context = coordinator.newContext()
        }

        func insert(_ value: Any?) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Reading", into: context)
            object.setValue(value, forKey: "value")
            return object
        }

        /// The values as a context without objects reads them.
        func values() throws -> [Any?] {
            let context = coordinator.newContext()
            return try withExtendedLifetime(context) {
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Reading")).map {
                    $0.value(forKey: "value")
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases, types) func aRequiredValueThatIsNotANumberIsMissing(
        kind: StoreKind, type: NSAttributeType
    ) throws {
        let notANumber = Self.notANumber(type)
        let store = try Store(kind, NSAttributeDescription("value", type, optional: false))
        let object = store.insert(notANumber)
        let error = #expect(throws: CocoaError.self) { try store.context.save() }
        #expect(error?.code == .validationMissingMandatoryProperty)
        #expect((error as NSError?)?.localizedDescription.contains("Reading.value") == true)
        #expect((error as NSError?)?.localizedDescription.contains("NaN") == true)
        #expect(object.isInserted)
        #expect(try store.values().isEmpty)
    }

    @Test(arguments: StoreKind.allCases, types) func aRequiredValueCannotBecomeNotANumber(
        kind: StoreKind, type: NSAttributeType
    ) throws {
        let notANumber = Self.notANumber(type)
        let store = try Store(kind, NSAttributeDescription("value", type, optional: false))
        let object = store.insert(Self.good(type))
        try store.context.save()
        object.setValue(notANumber, forKey: "value")
        let error = #expect(throws: CocoaError.self) { try store.context.save() }
        #expect(error?.code == .validationMissingMandatoryProperty)
        #expect(try store.values().count == 1)
        #expect(try store.values().first ?? nil != nil)
    }

    @Test(arguments: StoreKind.allCases, types) func anOptionalValueThatIsNotANumberIsSavedAsNil(
        kind: StoreKind, type: NSAttributeType
    )
        throws
    {
        let notANumber = Self.notANumber(type)
        let store = try Store(kind, NSAttributeDescription("value", type))
        let object = store.insert(notANumber)
        try store.context.save()
        #expect(object.value(forKey: "value") == nil)
        #expect(try store.values().count == 1)
        #expect(try store.values().first ?? nil == nil)
    }

    @Test(arguments: StoreKind.allCases, types) func aValueThatBecomesNotANumberIsSavedAsNil(
        kind: StoreKind, type: NSAttributeType
    ) throws {
        let notANumber = Self.notANumber(type)
        let store = try Store(kind, NSAttributeDescription("value", type))
        let object = store.insert(Self.good(type))
        try store.context.save()
        object.setValue(notANumber, forKey: "value")
        try store.context.save()
        #expect(object.value(forKey: "value") == nil)
        #expect(try store.values().count == 1)
        #expect(try store.values().first ?? nil == nil)
    }

    @Test(arguments: StoreKind.allCases, types) func whatIsNotANumberDoesNotChangeNil(
        kind: StoreKind, type: NSAttributeType
    ) throws {
        let notANumber = Self.notANumber(type)
        let store = try Store(kind, NSAttributeDescription("value", type))
        let object = store.insert(nil)
        try store.context.save()
        object.setValue(notANumber, forKey: "value")
        #expect(object.changedValues().isEmpty)
        try store.context.save()
        #expect(object.value(forKey: "value") == nil)
        if kind == .sqlite {
            #expect(SQLiteFile(store.folder.file("store.sqlite")).value("SELECT Z_OPT FROM ZREADING") == "1")
        }
    }

    @Test(arguments: StoreKind.allCases) func limitsDoNotApplyToWhatIsNotANumber(kind: StoreKind) throws {
        let attribute = NSAttributeDescription("value", .doubleAttributeType)
        attribute.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["negative"])
        let store = try Store(kind, attribute)
        _ = store.insert(Double.nan)
        try store.context.save()
        #expect(try store.values().first ?? nil == nil)
    }

    @Test(arguments: StoreKind.allCases, [NSAttributeType.doubleAttributeType, .floatAttributeType])
    func infinitiesComeBackAndAreSortedAtTheEnds(kind: StoreKind, type: NSAttributeType) throws {
        let store = try Store(kind, NSAttributeDescription("value", type, optional: false))
        for value in [Double.infinity, 0, -Double.infinity] { _ = store.insert(NSNumber(value: value)) }
        try store.context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Reading")
        request.sortDescriptors = [NSSortDescriptor(key: "value", ascending: true)]
        let context = store.coordinator.newContext()
        let values = try context.fetch(request).map { ($0.value(forKey: "value") as? NSNumber)?.doubleValue }
        #expect(values == [-Double.infinity, 0, .infinity])
    }
}
