import TestSupport
import Testing

@testable import CoreData

/// Options that are about files, given to stores of all kinds: those that files have, and those
/// that have none.
struct FileOptionTests {
    /// Whether a sentence was said that has all of some parts. Each is said once by a process.
    private static func isSaid(_ parts: String...) -> Bool {
        Warnings.all.contains { text in parts.allSatisfy { text.contains($0) } }
    }

    /// Core Data's options for files, which have no meaning here.
    private static var options: [AnyHashable: Any] {
        [
            NSPersistentStoreFileProtectionKey: FileProtectionType.complete, NSValidateXMLStoreOption: true,
            NSBinaryStoreSecureDecodingClasses: Set(["Tag"]), NSBinaryStoreInsecureDecodingCompatibilityOption: true,
            NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
            NSSQLitePragmasOption: ["synchronous": "FULL"],
            NSSQLiteAnalyzeOption: true, NSSQLiteManualVacuumOption: true, NSPersistentStoreForceDestroyOption: true,
        ]
    }

    @Test(
        arguments: StoreKind.allCases,
        ["NSFileProtectionComplete", "NSFileProtectionCompleteUnlessOpen", "NSFileProtectionNone"])
    func aStoreWorksThoughNothingProtectsItsFiles(kind: StoreKind, protection: String) throws {
        let library = try Library(kind, options: [NSPersistentStoreFileProtectionKey: protection])
        library.context.author("Ada")
        try library.context.save()
        #expect(library.store.options?[NSPersistentStoreFileProtectionKey] as? String == protection)
        #expect(protection == "NSFileProtectionNone" || Self.isSaid(NSPersistentStoreFileProtectionKey, "no effect"))
        let context = kind == .inMemory ? library.newContext() : try library.newStackContext()
        #expect(try context.names() == ["Ada"])
    }

    /// All are said to have no effect, or have none.
    @Test(arguments: StoreKind.allCases) func aStoreWorksWithEveryOptionOfFilesAtOnce(kind: StoreKind) throws {
        let library = try Library(kind, options: Self.options)
        let coordinator = library.coordinator
        library.context.author("Ada")
        try library.context.save()
        library.context.author("Bob")
        try library.context.save()
        #expect(try library.newContext().names() == ["Ada", "Bob"])
        #expect(library.storedCount(of: "Author") == 2)
        for option in [
            NSPersistentStoreFileProtectionKey, NSValidateXMLStoreOption, NSBinaryStoreSecureDecodingClasses,
        ] {
            #expect(Self.isSaid(option, "no effect"), "\(option)")
        }
        // And it is added with them again.
        try coordinator.remove(library.store)
        try coordinator.addPersistentStore(
            ofType: kind.type, configurationName: nil, at: kind.url(library.url), options: Self.options)
        #expect(try library.newContext().names() == (kind == .inMemory ? [] : ["Ada", "Bob"]))
    }

    /// Other stores ignore options for SQLite, whatever their values.
    @Test(arguments: StoreKind.allCases.filter { $0 != .sqlite }) func pragmasThatMeanNothingDisturbNoOtherStore(
        kind: StoreKind
    ) throws {
        let library = try Library(
            kind, options: [NSSQLitePragmasOption: ["no such; DROP": [7]], NSSQLiteAnalyzeOption: "many"])
        library.context.author("Ada")
        try library.context.save()
        #expect(try library.newContext().names() == ["Ada"])
        #expect(throws: NSError.self) { try Library(.sqlite, options: [NSSQLitePragmasOption: ["no such; DROP": [7]]]) }
    }

    /// Stores in memory pass over the three options of SQLite files without a line.
    @Test func ofOptionsOfSQLiteAStoreInMemorySaysNothing() throws {
        _ = try Library(.inMemory, options: Self.options)
        for option in [NSSQLitePragmasOption, NSSQLiteAnalyzeOption, NSSQLiteManualVacuumOption] {
            let said = Warnings.all.filter { $0.contains(option) && !$0.contains("PostgreSQL") }
            #expect(said.isEmpty, "\(said)")
        }
    }

    // MARK: Stores of the program's own

    private func custom(_ type: NSPersistentStore.StoreType, _ options: [AnyHashable: Any]?) throws -> any RecordKeeping
    {
        NSPersistentStoreCoordinator.registerStoreClass(RecordStore.self, type: RecordStore.storeType)
        NSPersistentStoreCoordinator.registerStoreClass(NodeStore.self, type: NodeStore.storeType)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleStacks.company())
        let added = try coordinator.addPersistentStore(
            type: type, at: URL(fileURLWithPath: "/custom/\(UUID().uuidString)"), options: options)
        let context = coordinator.newContext()
        try context.performAndWait {
            _ = try SampleStacks.insert("Tag", ["name": "new"], into: context)
            try context.save()
        }
        let reader = coordinator.newContext()
        let names = try reader.performAndWait {
            try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag")).map {
                $0.value(forKey: "name") as? String
            }
        }
        #expect(names == ["new"])
        return try #require(added as? any RecordKeeping)
    }

    /// Custom stores get all options, and read those that they understand; the line about ignored
    /// options is printed for them, too.
    @Test(arguments: [true, false]) func aStoreOfTheProgramsOwnGetsTheOptions(isIncremental: Bool) throws {
        let store = try custom(isIncremental ? RecordStore.storeType : NodeStore.storeType, Self.options)
        #expect(store.lines == ["Tag new"])
        #expect(store.saves == 1)
        let protection = store.options?[NSPersistentStoreFileProtectionKey] as? FileProtectionType
        #expect(protection?.rawValue == FileProtectionType.complete.rawValue)
        #expect(store.options?[NSSQLitePragmasOption] as? [String: String] == ["synchronous": "FULL"])
        #expect(Set((store.options ?? [:]).keys) == Set(Self.options.keys))
        #expect(Self.isSaid(NSPersistentStoreFileProtectionKey, "no effect"))
    }
}
