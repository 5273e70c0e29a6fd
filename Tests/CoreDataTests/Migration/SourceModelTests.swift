import CoreData
import TestSupport
import Testing

/// Which of several models that fit a store its migration starts from.
struct SourceModelTests {
    let store: MigratedStore

    init() throws { store = try MigratedStore() }

    private func contents(_ attribute: String) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Item" syncable="YES">\(attribute)</entity>
        </model>
        """
    }

    /// Two versions in one folder: `title` and `name` have one renaming identifier, which hashes do
    /// not tell.
    private func writeVersions() throws -> NSManagedObjectModel {
        let versions = store.folder.file("Model.xcdatamodeld")
        for (name, attribute) in [
            ("One", #"<attribute name="title" optional="YES" attributeType="String" elementID="heading"/>"#),
            ("Two", #"<attribute name="name" optional="YES" attributeType="String" elementID="heading"/>"#),
        ] {
            let folder = versions.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(contents(attribute).utf8).write(to: folder.appendingPathComponent("contents"))
        }
        return try #require(NSManagedObjectModel(contentsOf: versions.appendingPathComponent("Two.xcdatamodel")))
    }

    /// A copy of the model, and one merged of it alone, have the same versions beside them.
    @Test(arguments: ["read", "copied", "merged"]) func aRenamingThatOnlyTheVersionInTheFileKnowsKeepsTheValues(
        _ origin: String
    ) throws {
        // The copy in the store does not know the identifier.
        try store.open(model(entity("Item", text("title")))) { $0.insert("Item", ["title": "kept"]) }
        let cached = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.url)
        #expect(cached.entitiesByName["Item"]?.attributesByName["title"]?.renamingIdentifier == "title")
        var model: NSManagedObjectModel? = try writeVersions()
        if origin == "copied" { model = model?.copy() as? NSManagedObjectModel }
        if origin == "merged" { model = NSManagedObjectModel(byMerging: [model].compactMap { $0 }) }
        try store.migrate(to: try #require(model))
        #expect(store.file.rows("SELECT ZNAME FROM ZITEM") == [["kept"]])
    }

    @Test func withoutAVersionThatFitsTheModelInTheStoreCounts() throws {
        try store.open(model(entity("Item", text("title"), text("note")))) {
            $0.insert("Item", ["title": "lost", "note": "n"])
        }
        // No version has a note.
        try store.migrate(to: try writeVersions())
        #expect(store.file.rows("SELECT ZNAME FROM ZITEM") == [[nil]])
    }

    private func writeVersions(_ versions: [String: String]) throws -> URL {
        let place = store.folder.file("Shop.xcdatamodeld")
        for (name, elements) in versions {
            let folder = place.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let contents = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(elements)</model>
                """
            try Data(contents.utf8).write(to: folder.appendingPathComponent("contents"))
        }
        return place
    }

    private let item = #"""
        <entity name="Item" syncable="YES"><attribute name="title" optional="YES" attributeType="String"/></entity>
        """#

    /// The hashes of entities do not tell their subentities: a store of the former version fits a
    /// part of the new one.
    @Test(arguments: [true, false]) func aVersionThatAddsASubentityIsNotTakenForTheFormerOne(hasModel: Bool) throws {
        let special = #"""
            <entity name="Special" parentEntity="Item" syncable="YES"><attribute name="price" optional="YES" \#
            attributeType="Double"/></entity>
            """#
        let versions = try writeVersions(["Shop 9": item, "Shop 10": item + special])
        try store.open(model(entity("Item", text("title")))) { $0.insert("Item", ["title": "kept"]) }
        if !hasModel { #expect(store.file.execute("DELETE FROM Z_MODELCACHE")) }
        let new = try NSManagedObjectModel(reading: versions, version: "Shop 10")
        for entity in new.entities { entity.managedObjectClassName = "NSManagedObject" }
        try store.migrate(to: new)
        #expect(store.file.rows("SELECT ZTITLE, ZPRICE FROM ZITEM") == [["kept", nil]])
    }

    /// The former version is nowhere but in the store.
    @Test func theNewVersionAloneIsNotTakenForTheFormerOne() throws {
        let special = #"""
            <entity name="Special" parentEntity="Item" syncable="YES"><attribute name="price" optional="YES" \#
            attributeType="Double"/></entity>
            """#
        let versions = try writeVersions(["Shop": item + special])
        try store.open(model(entity("Item", text("title")))) { $0.insert("Item", ["title": "kept"]) }
        let new = try NSManagedObjectModel(reading: versions)
        for entity in new.entities { entity.managedObjectClassName = "NSManagedObject" }
        try store.migrate(to: new)
        #expect(store.file.rows("SELECT ZTITLE, ZPRICE FROM ZITEM") == [["kept", nil]])
    }

    @Test func aStoreOfAConfigurationIsMigratedFromTheVersionWithThatConfiguration() throws {
        let rest = #"""
            <entity name="Tag" syncable="YES"><attribute name="label" optional="YES" attributeType="String"/></entity>
            <configuration name="Stock"><memberEntity name="Item"/></configuration>
            """#
        let noted = #"""
            <entity name="Item" syncable="YES"><attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="note" optional="YES" attributeType="String"/></entity>
            """#
        let versions = try writeVersions(["One": item + rest, "Two": noted + rest])
        func version(_ name: String) throws -> NSManagedObjectModel {
            let model = try NSManagedObjectModel(reading: versions, version: name)
            for entity in model.entities { entity.managedObjectClassName = "NSManagedObject" }
            return model
        }
        try store.open(version("One"), configuration: "Stock") { $0.insert("Item", ["title": "kept"]) }
        #expect(store.file.execute("DELETE FROM Z_MODELCACHE"))
        try store.open(version("Two"), configuration: "Stock") { _ in }
        #expect(store.file.rows("SELECT ZTITLE, ZNOTE FROM ZITEM") == [["kept", nil]])
    }

    // MARK: - Versions that cannot be read

    /// A former version that nothing but its index, which is of a property that it does not have,
    /// keeps from being read.
    private func writeUnreadable(besides noted: String) throws -> (model: NSManagedObjectModel, unreadable: String) {
        let damaged = #"""
            <entity name="Item" syncable="YES"><attribute name="title" optional="YES" attributeType="String"/>
            <fetchIndex name="byGone"><fetchIndexElement property="gone" type="Binary" \#
            order="ascending"/></fetchIndex></entity>
            """#
        let versions = try writeVersions(["Shop": damaged, "Shop 2": noted])
        let new = try NSManagedObjectModel(reading: versions, version: "Shop 2")
        for entity in new.entities { entity.managedObjectClassName = "NSManagedObject" }
        return (new, versions.appendingPathComponent("Shop.xcdatamodel/contents").path)
    }

    private let noted = #"""
        <entity name="Item" syncable="YES"><attribute name="title" optional="YES" attributeType="String"/>
        <attribute name="note" optional="YES" attributeType="String"/></entity>
        """#

    @Test(arguments: StoreKind.persistent)
    func aVersionThatCannotBeReadIsNamedWithTheReason(kind: StoreKind) throws {  // 277
        let store = try MigratedStore(kind)
        let (new, unreadable) = try writeUnreadable(besides: noted)
        try store.open(model(entity("Item", text("title")))) { $0.insert("Item", ["title": "kept"]) }
        #expect(
            kind == .sqlite
                ? store.file.execute("DELETE FROM Z_MODELCACHE")
                : PostgreSQLTables(store.url).execute("DELETE FROM ocd_model"))
        let error = try store.refusal(new)
        #expect(error.code == NSMigrationMissingSourceModelError)
        #expect(error.localizedDescription.contains(unreadable), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains("gone"), "\(error.localizedDescription)")
        #expect(error.localizedRecoverySuggestion?.contains("Keep all versions") == false)
        #expect((error.userInfo[NSUnderlyingErrorKey] as? NSError)?.localizedDescription.contains("gone") == true)
    }

    @Test func thatAnotherSourceIsTakenForAVersionThatCannotBeReadIsSaidOnce() throws {
        let (new, unreadable) = try writeUnreadable(besides: noted)
        for _ in 0..<2 {
            let store = try MigratedStore()
            try store.open(model(entity("Item", text("title")))) { $0.insert("Item", ["title": "kept"]) }
            try store.migrate(to: new)
            #expect(store.file.rows("SELECT ZTITLE, ZNOTE FROM ZITEM") == [["kept", nil]])
        }
        let sentences = Warnings.all.filter { $0.contains(unreadable) }
        #expect(sentences.count == 1, "\(sentences)")
        #expect(sentences.allSatisfy { $0.contains("gone") }, "\(sentences)")
    }

    /// A store that takes over the hashes of a model takes over the model too.
    @Test(arguments: StoreKind.persistent) func aStoreWhoseVersionWasIgnoredCarriesItsNewModel(kind: StoreKind) throws
    {  // 276
        let store = try MigratedStore(kind)
        let (first, second) = (model(entity("Item", text("title"), text("note"))), model(entity("Item", text("title"))))
        try store.open(first) { $0.insert("Item", ["title": "one", "note": "n"]) }
        func cached() throws -> [String: Data] {
            try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: store.url).entityVersionHashesByName
        }
        let options: [AnyHashable: Any] = [NSIgnorePersistentStoreVersioningOption: true]
        // Without a save nothing is written.
        try store.open(second, options) { _ in }
        #expect(try cached() == first.entityVersionHashesByName)
        try store.open(second, options) { $0.insert("Item", ["title": "two"]) }
        #expect(try cached() == second.entityVersionHashesByName)
        // The model that the next version starts from.
        let third = model(entity("Item", text("title"), number("count")))
        #expect(try store.open(third) { try $0.values("Item", "title") } == ["one", "two"])
        #expect(try cached() == third.entityVersionHashesByName)
    }
}
