import CoreData
import TestSupport
import Testing

/// Configurations that list an entity without its subentities, whose objects a store of theirs
/// holds all the same.
struct UnlistedSubentityTests {
    /// The entity that has another attribute in the second version.
    enum Change: CaseIterable {
        case inTheEntity, inTheSubentity, elsewhere
    }

    /// Books, novels among them, have pages. "Part1" has books and pages, "Part2" the notes, with
    /// `novels` also the novels.
    static func library(_ change: Change? = nil, withNovels: Bool = true, listing novels: Bool = false)
        -> NSManagedObjectModel
    {
        let book = entity("Book", text("title")), novel = entity("GraphicNovel", text("artist")),
            page = entity("Page", number("number"))
        let note = entity("Note", text("text"))
        if withNovels { book.subentities = [novel] }
        relate(page, "book", optional: false, book, inverse: "pages", inverseToMany: true)
        switch change {
        case .inTheEntity: book.properties += [text("subtitle")]
        case .inTheSubentity: novel.properties += [text("inker")]
        case .elsewhere: page.properties += [text("layout")]
        case nil: break
        }
        let model = NSManagedObjectModel([book, page, note] + (withNovels ? [novel] : []))
        model.setEntities([book, page], forConfigurationName: "Part1")
        model.setEntities(novels ? [note, novel] : [note], forConfigurationName: "Part2")
        model.setEntities([book, page, note], forConfigurationName: "Books and notes")
        return model
    }

    static func fill(_ context: NSManagedObjectContext, _ names: [String] = ["Book", "Book", "GraphicNovel"]) {
        for (index, name) in names.enumerated() {
            let book = context.insert(name, ["title": "\(name) \(index)"])
            for number in 1...2 { context.insert("Page", ["number": number, "book": book]) }
        }
    }

    /// Each page with its book.
    static func pages(_ context: NSManagedObjectContext) throws -> [String] {
        try context.objects("Page").map { page in
            let book = page.value(forKey: "book") as? NSManagedObject
            let title = book?.value(forKey: "title") as? String
            return "\(page.value(forKey: "number") ?? "-") of \(title ?? "-"), a \(book?.entity.name ?? "-")"
        }.sorted()
    }

    static let allPages = ["Book 0, a Book", "Book 1, a Book", "GraphicNovel 2, a GraphicNovel"]
        .flatMap { ["1 of \($0)", "2 of \($0)"] }.sorted()

    private static func expectAll(_ context: NSManagedObjectContext, location: SourceLocation = #_sourceLocation) throws
    {
        #expect(try pages(context) == allPages, sourceLocation: location)
        #expect(
            try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 3, sourceLocation: location)
        let alone = NSFetchRequest<NSManagedObject>(entityName: "Book")
        alone.includesSubentities = false
        #expect(try context.count(for: alone) == 2, sourceLocation: location)
        #expect(try context.objects("GraphicNovel").count == 1, sourceLocation: location)
    }

    private func metadata(_ store: MigratedStore) throws -> [String: Any] {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: store.kind.type, at: store.url)
    }

    private func hashes(_ store: MigratedStore) throws -> [String: Data] {
        try #require(try metadata(store)[NSStoreModelVersionHashesKey] as? [String: Data])
    }

    private func hashes(_ model: NSManagedObjectModel, _ names: String...) -> [String: Data] {
        model.entityVersionHashesByName.filter { names.contains($0.key) }
    }

    /// Makes the store one of a former release, which wrote the hashes of listed entities alone.
    private func forgetNovels(_ store: MigratedStore) throws {
        var metadata = try metadata(store)
        metadata[NSStoreModelVersionHashesKey] = try hashes(store).filter { $0.key != "GraphicNovel" }
        try NSPersistentStoreCoordinator.setMetadata(metadata, forPersistentStoreOfType: store.kind.type, at: store.url)
        try #require(try hashes(store)["GraphicNovel"] == nil)
    }

    // MARK: - Opening

    @Test(arguments: StoreKind.persistent, ["Part1", "Books and notes"])
    func aNewStoreHasTheHashesOfWhatItHolds(kind: StoreKind, configuration: String) throws {
        let store = try MigratedStore(kind)
        try store.open(Self.library(), [:], configuration: configuration) { Self.fill($0) }
        let model = Self.library()
        #expect(
            try hashes(store) == hashes(model, "Book", "GraphicNovel", "Page", configuration == "Part1" ? "" : "Note"))
        #expect(model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: try metadata(store)))
        #expect(
            model.isConfiguration(withName: nil, compatibleWithStoreMetadata: try metadata(store))
                == (configuration != "Part1"))
        #expect(!model.isConfiguration(withName: "Part2", compatibleWithStoreMetadata: try metadata(store)))
        try store.open(model, [:], configuration: configuration) { try Self.expectAll($0) }
        let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.url)
        try store.open(cached, [:], configuration: configuration) { try Self.expectAll($0) }
    }

    @Test(arguments: StoreKind.persistent) func aStoreOfTheWholeModelOpensUnderTheConfiguration(kind: StoreKind) throws
    {
        let store = try MigratedStore(kind)
        try store.open(Self.library(), [:]) { Self.fill($0) }
        try store.open(Self.library(), [:], configuration: "Books and notes") { try Self.expectAll($0) }
        #expect(
            Self.library().isConfiguration(
                withName: "Books and notes", compatibleWithStoreMetadata: try metadata(store)))
        try store.open(Self.library(), [:]) { try Self.expectAll($0) }
    }

    @Test func aStoreInMemoryTakesThemToo() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.library())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: "Part1", at: nil)
        let context = coordinator.newContext()
        Self.fill(context)
        try context.save()
        context.reset()
        try Self.expectAll(context)
    }

    // MARK: - Stores of former releases

    @Test(arguments: StoreKind.persistent, [true, false])
    func aStoreWithoutTheirHashesOpens(kind: StoreKind, automatically: Bool) throws {
        let store = try MigratedStore(kind)
        try store.open(Self.library(), [:], configuration: "Part1") { Self.fill($0, ["Book", "Book"]) }
        try forgetNovels(store)
        let before = store.content
        #expect(Self.library().isConfiguration(withName: "Part1", compatibleWithStoreMetadata: try metadata(store)))
        let options = automatically ? MigratedStore.automatic : [:]
        let books = try store.open(Self.library(), options, configuration: "Part1") { try $0.objects("Book").count }
        #expect(books == 2)
        #expect(store.content == before)
        try store.open(Self.library(), options, configuration: "Part1") { context in
            // Another schema makes an open store look whether it is still the same.
            if kind == .sqlite { #expect(store.file.execute("CREATE INDEX ANY_INDEX ON ZBOOK (ZTITLE)")) }
            let novel = context.insert("GraphicNovel", ["title": "GraphicNovel 2"])
            for number in 1...2 { context.insert("Page", ["number": number, "book": novel]) }
        }
        try store.open(Self.library(), options, configuration: "Part1") { try Self.expectAll($0) }
    }

    @Test(arguments: StoreKind.persistent, Change.allCases)
    func aStoreWithoutTheirHashesIsMigrated(kind: StoreKind, change: Change) throws {
        let store = try MigratedStore(kind)
        try store.open(Self.library(), [:], configuration: "Part1") { Self.fill($0) }
        try forgetNovels(store)
        try store.open(Self.library(change), configuration: "Part1") { try Self.expectAll($0) }
        #expect(try hashes(store) == hashes(Self.library(change), "Book", "GraphicNovel", "Page"))
    }

    @Test(arguments: StoreKind.persistent, [true, false])
    func aSubentityThatIsNewIsAdded(kind: StoreKind, changed: Bool) throws {
        let store = try MigratedStore(kind)
        try store.open(Self.library(withNovels: false), [:], configuration: "Part1") {
            Self.fill($0, ["Book", "Book"])
        }
        try store.open(Self.library(changed ? .inTheEntity : nil), configuration: "Part1") { context in
            let novel = context.insert("GraphicNovel", ["title": "GraphicNovel 2", "artist": "a"])
            for number in 1...2 { context.insert("Page", ["number": number, "book": novel]) }
        }
        try store.open(Self.library(changed ? .inTheEntity : nil), [:], configuration: "Part1") {
            try Self.expectAll($0)
        }
    }

    // MARK: - Migrating

    @Test(arguments: StoreKind.persistent, Change.allCases)
    func aMigrationKeepsTheirObjects(kind: StoreKind, change: Change) throws {
        for configuration in [nil, "Books and notes"] {
            let store = try MigratedStore(kind)
            try store.open(Self.library(), [:], configuration: configuration) { Self.fill($0) }
            let new = Self.library(change)
            #expect(!new.isConfiguration(withName: "Books and notes", compatibleWithStoreMetadata: try metadata(store)))
            let error = try store.refusal(new, [:], configuration: "Books and notes")
            #expect(error.code == NSPersistentStoreIncompatibleVersionHashError, "\(error)")
            try store.open(new, configuration: "Books and notes") { try Self.expectAll($0) }
            try store.open(Self.library(change), [:]) { try Self.expectAll($0) }
        }
    }

    @Test(arguments: StoreKind.persistent, ["Part1", "Books and notes"])
    func aMigrationWithoutTheSubentityIsRefusedWherePagesNeedItsObjects(kind: StoreKind, configuration: String) throws {
        let store = try MigratedStore(kind)
        try store.open(Self.library(), [:], configuration: configuration) { Self.fill($0) }
        let error = try store.refusal(Self.library(withNovels: false), configuration: configuration)
        #expect(error.code == NSMigrationError)
        #expect(error.localizedDescription.contains("Page.book"), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("2 objects)"), "\(error.localizedDescription)")
        try store.open(Self.library(), [:], configuration: configuration) { try Self.expectAll($0) }
    }

    // MARK: - Several stores

    private func stack(_ kind: StoreKind, _ folder: TemporaryFolder, listing novels: Bool, _ configurations: [String])
        throws
        -> (coordinator: NSPersistentStoreCoordinator, stores: [NSPersistentStore])
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.library(listing: novels))
        let stores = try configurations.map {
            try coordinator.addPersistentStore(
                ofType: kind.type, configurationName: $0, at: kind.url(folder.file("\($0).sqlite")))
        }
        return (coordinator, stores)
    }

    @Test(arguments: StoreKind.allCases, [["Part1", "Part2"], ["Part2", "Part1"]])
    func aNewObjectGoesToTheStoreThatHoldsItsSuperentity(kind: StoreKind, configurations: [String]) throws {
        let folder = try TemporaryFolder()
        let (coordinator, stores) = try stack(kind, folder, listing: false, configurations)
        let holder = try #require(stores.first { $0.configurationName == "Part1" })
        let other = try #require(stores.first { $0 !== holder })
        let context = coordinator.newContext()
        Self.fill(context)
        context.insert("Note", ["text": "n"])
        try context.save()
        #expect(try context.objects("GraphicNovel").allSatisfy { $0.objectID.persistentStore === holder })
        #expect(try context.objects("Note").allSatisfy { $0.objectID.persistentStore === other })
        try Self.expectAll(context)
        let insert = NSBatchInsertRequest(entityName: "GraphicNovel", objects: [["title": "batch"]])
        try context.execute(insert)
        let inserted = try context.objects("GraphicNovel").filter { $0.value(forKey: "title") as? String == "batch" }
        #expect(inserted.map { $0.objectID.persistentStore === holder } == [true])
        let assigned = context.insert("GraphicNovel", ["title": "assigned"])
        context.assign(assigned, to: other)
        #expect(
            errorThrown { try context.save() }?.singleErrors.first?.code == NSPersistentStoreIncompatibleSchemaError)
    }

    /// A family whose parts are in two configurations: the store that lists an entity comes first,
    /// and both can have it.
    @Test(arguments: StoreKind.allCases, [["Part1", "Part2"], ["Part2", "Part1"]])
    func aNewObjectGoesToTheStoreThatListsIt(kind: StoreKind, configurations: [String]) throws {
        let folder = try TemporaryFolder()
        let (coordinator, stores) = try stack(kind, folder, listing: true, configurations)
        let listing = try #require(stores.first { $0.configurationName == "Part2" })
        let books = try #require(stores.first { $0 !== listing })
        let context = coordinator.newContext()
        context.insert("GraphicNovel", ["title": "listed"])
        context.insert("Book", ["title": "book"])
        let assigned = context.insert("GraphicNovel", ["title": "assigned"])
        context.assign(assigned, to: books)
        try context.save()
        let insert = NSBatchInsertRequest(entityName: "GraphicNovel", objects: [["title": "batch"]])
        insert.affectedStores = stores
        try context.execute(insert)
        func titles(_ stores: [NSPersistentStore]?) throws -> [String?] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            request.affectedStores = stores
            return try context.fetch(request).map { $0.value(forKey: "title") as? String }
        }
        #expect(try titles(nil) == ["assigned", "batch", "book", "listed"])
        #expect(try titles([books]) == ["assigned", "book"])
        #expect(try titles([listing]) == ["batch", "listed"])
    }

    @Test(arguments: StoreKind.allCases, StoreKind.allCases)
    func aStoreIsCopiedWithThem(kind: StoreKind, other: StoreKind) throws {
        let folder = try TemporaryFolder()
        let (coordinator, stores) = try stack(kind, folder, listing: false, ["Part1"])
        let context = coordinator.newContext()
        Self.fill(context)
        try context.save()
        let url = other.url(folder.file("copy.sqlite")) ?? folder.file("memory")
        let copy = try coordinator.migratePersistentStore(stores[0], to: url, options: nil, withType: other.type)
        #expect(copy.configurationName == "Part1")
        try Self.expectAll(coordinator.newContext())
        let copied = try #require(copy.metadata[NSStoreModelVersionHashesKey] as? [String: Data])
        #expect(copied == hashes(Self.library(), "Book", "GraphicNovel", "Page"))
    }
}
