import CoreData
import TestSupport
import Testing

/// Saves that write two stores, of one kind or of two: either both are written or none.
struct TwoStoreSaveTests {
    enum Site: String, CaseIterable {
        case home, office
    }

    struct Place: CustomTestStringConvertible {
        let kinds: [Site: StoreKind]
        /// Whether the store at home is the one whose transaction begins first and is committed
        /// last.
        let homeIsOutside: Bool

        var testDescription: String {
            "\(kinds[.home]?.rawValue ?? "") and \(kinds[.office]?.rawValue ?? ""), "
                + "\(homeIsOutside ? "home" : "office") outside"
        }

        static let all = StoreKind.persistent.flatMap { home in
            StoreKind.persistent.flatMap { office in
                [true, false].map { Place(kinds: [.home: home, .office: office], homeIsOutside: $0) }
            }
        }
    }

    /// A counter in each store, whose name is unique, and a context that has read both.
    private final class Counters {
        let folder: TemporaryFolder
        let place: Place
        let coordinator: NSPersistentStoreCoordinator
        let context: NSManagedObjectContext
        private(set) var counters: [Site: NSManagedObject] = [:]

        static func model() -> NSManagedObjectModel {
            let entities = Site.allCases.map { site in
                let entity = NSEntityDescription(
                    site.rawValue.capitalized, class: "NSManagedObject",
                    [
                        NSAttributeDescription("name", .stringAttributeType),
                        NSAttributeDescription("amount", .integer64AttributeType),
                    ])
                entity.uniquenessConstraints = [["name"]]
                return entity
            }
            let model = NSManagedObjectModel(entities)
            for entity in entities { model.setEntities([entity], forConfigurationName: entity.name ?? "") }
            return model
        }

        init(_ place: Place) throws {
            self.place = place
            while true {
                let folder = try TemporaryFolder()
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
                let identifiers = try Site.allCases.map { site in
                    let store = try coordinator.addPersistentStore(
                        ofType: place.kinds[site]?.type ?? "", configurationName: site.rawValue.capitalized,
                        at: place.kinds[site]?.url(folder.file("\(site).sqlite")))
                    return store.identifier ?? ""
                }
                // Stores are locked in the order of their identifiers, the last one first.
                if (identifiers[0] > identifiers[1]) == place.homeIsOutside {
                    (self.folder, self.coordinator) = (folder, coordinator)
                    break
                }
            }
            context = coordinator.newContext()
            for site in Site.allCases { counters[site] = insert(site, "a", 1) }
            try context.save()
        }

        @discardableResult
        func insert(_ site: Site, _ name: String, _ amount: Int) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: site.rawValue.capitalized, into: context)
            object.setValue(name, forKey: "name")
            object.setValue(amount, forKey: "amount")
            return object
        }

        func tables(_ site: Site) -> StoreTables {
            StoreTables(place.kinds[site] ?? .sqlite, folder.file("\(site).sqlite"))
        }

        /// Name, amount and version of all rows of a store.
        func rows(_ site: Site) -> [String?] {
            tables(site).column("SELECT {name} || ' ' || {amount} || ' ' || {version} FROM {\(site)} ORDER BY {name}")
        }

        /// Another program adds 10 to all amounts.
        func interfere(_ site: Site) {
            #expect(tables(site).execute("UPDATE {\(site)} SET {amount} = {amount} + 10, {version} = {version} + 1"))
        }

        /// Another program makes a counter.
        func insertRow(_ site: Site, _ name: String, _ amount: Int) throws {
            let other = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            _ = try other.addPersistentStore(
                ofType: place.kinds[site]?.type ?? "", configurationName: site.rawValue.capitalized,
                at: place.kinds[site]?.url(folder.file("\(site).sqlite")))
            let theirs = other.newContext()
            let object = NSEntityDescription.insertNewObject(forEntityName: site.rawValue.capitalized, into: theirs)
            object.setValue(name, forKey: "name")
            object.setValue(amount, forKey: "amount")
            try theirs.save()
        }

        /// Changes the counter of each store and makes another.
        func change() {
            for site in Site.allCases {
                counters[site]?.setValue(2, forKey: "amount")
                insert(site, "b", 5)
            }
        }

        func expectBothWritten() throws {
            #expect(!context.hasChanges)
            for site in Site.allCases { #expect(rows(site) == ["a 2 2", "b 5 1"]) }
        }
    }

    @Test(
        "82, 210, 212: A conflict in either store keeps both from being written, until it is settled",
        arguments: Place.all, Site.allCases)
    func aConflictInEitherStore(place: Place, site: Site) throws {
        let counters = try Counters(place)
        counters.change()
        counters.interfere(site)
        let error = #expect(throws: CocoaError.self) { try counters.context.save() }
        #expect(error?.code == .managedObjectMerge)
        #expect(error?.persistentStoreSaveConflicts?.map(\.sourceObject) == [try #require(counters.counters[site])])
        for each in Site.allCases { #expect(counters.rows(each) == (each == site ? ["a 11 2"] : ["a 1 1"])) }
        #expect(counters.context.updatedObjects.count == 2)
        #expect(counters.context.insertedObjects.count == 2)
        counters.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try counters.context.save()
        #expect(!counters.context.hasChanges)
        for each in Site.allCases { #expect(counters.rows(each) == ["a 2 \(each == site ? 3 : 2)", "b 5 1"]) }
    }

    @Test(
        "212 to 214: Conflicts in both stores are settled as the policy says", arguments: Place.all,
        [
            (NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, "a 2 3"),
            (.overwriteMergePolicyType, "a 2 3"),
            (.rollbackMergePolicyType, "a 11 2"),
        ])
    func conflictsInBothStores(place: Place, outcome: (NSMergePolicyType, String)) throws {
        let counters = try Counters(place)
        counters.change()
        for site in Site.allCases { counters.interfere(site) }
        let error = #expect(throws: CocoaError.self) { try counters.context.save() }
        #expect(error?.code == .managedObjectMerge)
        for site in Site.allCases { #expect(counters.rows(site) == ["a 11 2"]) }
        counters.context.mergePolicy = NSMergePolicy(merge: outcome.0)
        try counters.context.save()
        #expect(!counters.context.hasChanges)
        for site in Site.allCases { #expect(counters.rows(site) == [outcome.1, "b 5 1"]) }
    }

    @Test("82, 219, 220: So it is with a unique value that is taken", arguments: Place.all, Site.allCases)
    func aUniqueValueTakenInEitherStore(place: Place, site: Site) throws {
        let counters = try Counters(place)
        counters.change()
        try counters.insertRow(site, "b", 7)
        let error = #expect(throws: CocoaError.self) { try counters.context.save() }
        #expect(error?.code == .managedObjectConstraintMerge)
        for each in Site.allCases { #expect(counters.rows(each) == (each == site ? ["a 1 1", "b 7 1"] : ["a 1 1"])) }
        counters.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try counters.context.save()
        #expect(!counters.context.hasChanges)
        for each in Site.allCases { #expect(counters.rows(each) == ["a 2 2", "b 5 \(each == site ? 2 : 1)"]) }
    }

    @Test("82: What one store refuses to write is written to none", arguments: Place.all, Site.allCases)
    func aRefusalOfEitherStore(place: Place, site: Site) throws {
        let counters = try Counters(place)
        let tables = counters.tables(site)
        if place.kinds[site] == .postgreSQL {
            #expect(
                tables.execute(
                    """
                    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; \
                    END $$; \
                    CREATE TRIGGER refusal BEFORE INSERT ON {\(site)} FOR EACH ROW EXECUTE FUNCTION refuse()
                    """))
        } else {
            #expect(
                tables.execute(
                    "CREATE TRIGGER refusal BEFORE INSERT ON {\(site)} BEGIN SELECT RAISE(ABORT, 'refused'); END"))
        }
        try expectRefusal(counters)
        #expect(
            tables.execute(
                place.kinds[site] == .postgreSQL ? "DROP TRIGGER refusal ON {\(site)}" : "DROP TRIGGER refusal"))
        try counters.context.save()
        try counters.expectBothWritten()
    }

    /// The stores whose servers can refuse what they have written already.
    private static let schemas = Place.all.flatMap { place in
        Site.allCases.filter { place.kinds[$0] == .postgreSQL }.map { (place, $0) }
    }

    @Test("82: So it is with what a store refuses at the end of its transaction", arguments: schemas)
    func aLateRefusalOfEitherStore(place: Place, site: Site) throws {
        let counters = try Counters(place)
        let tables = counters.tables(site)
        #expect(
            tables.execute(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END \
                $$; \
                CREATE CONSTRAINT TRIGGER refusal AFTER INSERT ON {\(site)} DEFERRABLE INITIALLY DEFERRED \
                FOR EACH ROW EXECUTE FUNCTION refuse()
                """))
        try expectRefusal(counters)
        #expect(tables.execute("DROP TRIGGER refusal ON {\(site)}"))
        try counters.context.save()
        try counters.expectBothWritten()
    }

    private func expectRefusal(_ counters: Counters, _ location: SourceLocation = #_sourceLocation) throws {
        counters.change()
        let error = try #require(errorThrown { try counters.context.save() }, sourceLocation: location)
        #expect("\(error)".contains("refused"), sourceLocation: location)
        for site in Site.allCases { #expect(counters.rows(site) == ["a 1 1"], sourceLocation: location) }
        #expect(counters.context.updatedObjects.count == 2, sourceLocation: location)
        #expect(counters.context.insertedObjects.count == 2, sourceLocation: location)
    }
}
